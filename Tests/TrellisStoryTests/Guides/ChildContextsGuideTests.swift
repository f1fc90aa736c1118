import Foundation
import Testing
import Trellis
import TrellisReceiptMindModel

@Suite("The guide to child contexts") final class ChildContextsGuideTests: GuideRun {
  @Test("the samples print what the guide says")
  func samples() throws {
    let context = try PersistentContainer(model: .receiptMind, store: .memory).newContext()
    let ledger = Ledger.open("우리집", in: context)
    let coffee = Receipt(
      in: context, price: Money(amount: 4.5), memo: "라떼", ledger: ledger, category: ledger.categories[5])
    try context.save()
    try keeping(context, coffee)
    try throwingAway(context, ledger)
    try changingBoth(context, coffee)
    try expectPrinted(as: "ChildContexts")
  }

  private func keeping(_ context: ManagedObjectContext, _ coffee: Receipt) throws {
    let form = context.newChildContext()
    let draft = try form.object(with: coffee.objectID)
    draft?.price.amount = 5
    draft?.memo = "라떼, 큰 것"
    print(draft?.price.amount ?? 0, coffee.price.amount, context.hasChanges)

    try form.save()
    print(coffee.price.amount, coffee.hasChanges)
    try context.save()
    print(coffee.price.amount, coffee.hasChanges)
  }

  private func throwingAway(_ context: ManagedObjectContext, _ ledger: Ledger) throws {
    do {
      let form = context.newChildContext()
      let draft = Receipt(in: form, price: Money(amount: 3))
      draft.ledger = try form.object(with: ledger.objectID)
      print(draft.ledger?.receipts.count ?? 0, ledger.receipts.count)
    }
    print(ledger.receipts.count, context.hasChanges)
  }

  private func changingBoth(_ context: ManagedObjectContext, _ coffee: Receipt) throws {
    let form = context.newChildContext()
    let draft = try form.object(with: coffee.objectID)
    draft?.price.amount = 6
    coffee.price.amount = 7
    do {
      try form.save()
    } catch let conflict as SaveConflict {
      for row in conflict.rows {
        let (mine, theirs) = (row.mine(Receipt.Snapshot.self), row.theirs(Receipt.Snapshot.self))
        print(row.properties, mine?.price.amount ?? 0, theirs?.price.amount ?? 0)
      }
      try form.save(mergePolicy: .objectTrump)
    }
    print(coffee.price.amount)
  }
}
