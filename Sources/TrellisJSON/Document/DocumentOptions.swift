package import TrellisStorage

/// The options for opening a document.
package struct DocumentOptions: Sendable {
  package var durability: Durability
  package var isReadOnly: Bool
  /// The maximum number of bytes of external data in the document.
  package var largestInRow: Int

  package init(
    durability: Durability = .durable, readOnly: Bool = false, largestInRow: Int = ExternalFolder.usualLargestInRow
  ) {
    self.durability = durability
    isReadOnly = readOnly
    self.largestInRow = largestInRow
  }
}
