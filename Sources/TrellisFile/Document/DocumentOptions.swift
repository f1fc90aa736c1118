package import TrellisStorage

/// How a document is opened.
package struct DocumentOptions: Sendable {
  package var durability: Durability
  package var isReadOnly: Bool
  /// How many bytes of external data lie in the document at most.
  package var largestInRow: Int

  package init(
    durability: Durability = .durable, readOnly: Bool = false, largestInRow: Int = ExternalFolder.usualLargestInRow
  ) {
    self.durability = durability
    isReadOnly = readOnly
    self.largestInRow = largestInRow
  }
}
