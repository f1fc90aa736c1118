package import TrellisStorage

/// A store that has all of its rows in memory. It may have a file as well.
package protocol SnapshotSource: AnyObject, Sendable {
  var layout: Layout { get }
  /// A snapshot of the current state. Later saves do not change it.
  ///
  /// - Throws: ``StoreError`` if the store has to be opened again.
  func snapshot() throws -> Snapshot
  func save(_ request: SaveRequest) throws -> SaveOutcome
}
