import Trellis

extension Receipt {
  /// Changes the kind, and lets go of a category that does not belong to it.
  public func choose(_ kind: Kind) {
    self.kind = kind
    if category?.kind != kind { category = nil }
  }

  static func validateInsert(_ receipt: Receipt) throws { try receipt.checkCategory() }
  static func validateUpdate(_ receipt: Receipt) throws { try receipt.checkCategory() }

  /// The category has to belong to the kind, and to the same books.
  private func checkCategory() throws {
    guard let category else { return }
    if category.kind != kind {
      throw ValidationFailure(self, \.category, "must belong to the kind of the receipt")
    }
    if category.ledger != ledger {
      throw ValidationFailure(self, \.category, "must belong to the ledger of the receipt")
    }
  }
}

extension Category {
  /// A category in use keeps its kind, since its receipts would no longer fit.
  static func validateUpdate(_ category: Category) throws {
    guard category.receipts.contains(where: { $0.kind != category.kind }) else { return }
    throw ValidationFailure(category, \.kind, "must be the kind of its receipts")
  }
}
