public import Trellis

/// A form for one receipt: the same for a new one and for one that was saved before.
///
/// The form works on the receipt itself, so whoever shows the receipt sees what is typed.
public struct ReceiptForm {
  /// The receipt that is filled in.
  public let receipt: Receipt
  /// Whether the receipt was never saved.
  public var isNew: Bool { receipt.isInserted }

  /// A form for a new receipt.
  public init(newIn ledger: Ledger, in context: ManagedObjectContext) {
    receipt = Receipt(in: context, price: Money(amount: 0), ledger: ledger)
  }

  /// A form for a receipt that is there.
  public init(editing receipt: Receipt) { self.receipt = receipt }

  /// The categories to choose from, of the receipt's kind.
  public var choices: [Category] { receipt.ledger?.categories(for: receipt.kind) ?? [] }

  /// What is wrong with what was typed, by property.
  ///
  /// - Throws: ``StoreError`` when the store fails.
  public func problems() throws -> [String: String] {
    do {
      try receipt.validate()
      return [:]
    } catch let error as ValidationError {
      return Dictionary(error.failures.map { ($0.property, $0.message) }) { first, _ in first }
    }
  }

  /// Saves the receipt, and whatever else has changed in its context.
  ///
  /// - Throws: ``ValidationError`` with every broken rule; ``StoreError`` when the store fails.
  public func save() throws { try receipt.managedObjectContext?.save() }

  /// Gives up what was typed: a new receipt is withdrawn, one that was saved is as it was, other changes stay.
  ///
  /// - Throws: ``StoreError`` when former partners have to be loaded and the store fails.
  public func discard() throws { try receipt.rollback() }
}
