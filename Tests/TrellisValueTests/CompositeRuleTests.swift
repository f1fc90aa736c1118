import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("The rules of composite attributes") struct CompositeRuleTests {
  private let container: TestContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try TestContainer(.till)
    context = container.container.newContext()
  }

  private func receipt(discount: Money? = nil) -> Receipt {
    Receipt(in: context, price: Money(amount: 1), title: "a", discount: discount, codes: [])
  }

  private func failures(_ body: () throws -> Void) -> [String] {
    do {
      try body()
      return []
    } catch {
      return (error as? ValidationError)?.failures.map { "\($0.property) \($0.message)" } ?? ["\(error)"]
    }
  }

  @Test("a rule of a field holds in every composite attribute") func fieldRules() throws {
    let one = receipt(discount: Money(amount: -1))
    one.price.amount = -2
    #expect(
      failures { try context.save() } == ["price.amount must be at least 0", "discount.amount must be at least 0"])
  }

  @Test("a field of a composite that may be nil is not set by a batch operation, others are") func batches() throws {
    _ = receipt(discount: Money(amount: 3))
    try context.save()
    try context.updateAll(Receipt.all) { $0.price.amount.set(7) }
    #expect(try context.values(of: Receipt.all) { $0.price.amount } == [7])
    #expect(throws: (any Error).self) { try context.updateAll(Receipt.all) { $0.discount.amount.set(7) } }
  }

  @Test("contexts that change fields of one composite keep both changes, unless it may be nil") func merging() throws {
    let one = receipt(discount: Money(amount: 3))
    try context.save()
    let other = container.container.newContext()
    other.mergePolicy = .objectTrump
    let same = try #require(try other.fetch(Receipt.all).first)
    one.price.amount = 5
    one.discount = nil
    try context.save()
    same.price.currency = .eur
    same.discount?.currency = .eur
    try other.save()
    let read = try #require(try container.container.newContext().fetch(Receipt.all).first)
    #expect(read.price == Money(amount: 5, currency: .eur))
    #expect(read.discount == Money(amount: 3, currency: .eur))
  }

  @Test("undo and redo take a composite back as a whole") func undo() throws {
    context.undo.enable()
    let one = receipt()
    try context.save()
    context.undo.group("Discount") { one.discount = Money(amount: 4, currency: .eur) }
    try context.undo.undo()
    #expect(one.discount == nil)
    try context.undo.redo()
    #expect(one.discount == Money(amount: 4, currency: .eur))
    try context.save()
  }
}
