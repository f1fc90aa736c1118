import Testing
import Trellis
import TrellisReceiptMindModel

@Suite("The guide to validation") final class ValidationGuideTests: GuideRun {
  @Test("the sample prints what the guide says")
  func sample() throws {
    let context = try PersistentContainer(model: .receiptMind, store: .memory).newContext()
    let ledger = Ledger.open("Home", in: context)
    let receipt = Receipt(in: context, kind: .income, price: Money(amount: 0), ledger: ledger)
    receipt.category = ledger.categories(for: .expense).first
    do {
      try receipt.validate()
    } catch let error as ValidationError {
      for failure in error.failures { print(failure.property, failure.message) }
    }

    receipt.kind = .expense
    receipt.price.amount = 12
    let nameless = Category(in: context, kind: .expense, name: "", ledger: ledger)
    for change in try context.saveValidChanges() {
      print(change.object.entity, change.kind, change.failures[0].rule)
    }
    print(nameless.managedObjectContext == nil, ledger.balance ?? 0)

    try expectPrinted(as: "Validation")
  }
}
