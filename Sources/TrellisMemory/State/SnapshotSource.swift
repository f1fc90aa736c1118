package import TrellisStorage

/// A store that has all of its rows in memory, whether or not they lie in a file as well.
package protocol SnapshotSource: AnyObject, Sendable {
  var layout: Layout { get }
  /// The store as it is now. It stays so whatever is saved meanwhile.
  ///
  /// - Throws: ``StoreError`` when the store has to be opened again.
  func snapshot() throws -> Snapshot
  func save(_ request: SaveRequest) throws -> SaveOutcome
}
