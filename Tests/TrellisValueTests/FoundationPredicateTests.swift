import Foundation
import Testing
import Trellis
import TrellisFoundationPredicates
import TrellisTestSupport

@Suite("Composites and own types in #Predicate") struct FoundationPredicateTests {
  private let container: TestContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try TestContainer(.till)
    context = container.container.newContext()
    let place = Place(
      street: "x", at: Position(latitude: 1, longitude: 2), second: Position(latitude: 3, longitude: 4),
      opened: Date(timeIntervalSince1970: 5))
    _ = Receipt(in: context, price: Money(amount: 3), title: "a", discount: Money(amount: 1), shop: place, codes: [])
    _ = Receipt(
      in: context, price: Money(amount: 2, currency: .eur), title: "b", isbn: ISBN(rawValue: "9783161484100"), codes: []
    )
    try context.save()
  }

  private func titles(_ predicate: Predicate<Receipt>) throws -> [String] {
    try context.fetch(Receipt.all.where(predicate).sorted { $0.title }).map(\.title)
  }

  @Test("fields follow their composite") func fields() throws {
    let least: Decimal = 2.5
    #expect(try titles(#Predicate { $0.price.amount > least }) == ["a"])
    #expect(try titles(#Predicate { $0.discount == nil }) == ["b"])
    #expect(try titles(#Predicate { $0.discount != nil && $0.price.amount < 10 }) == ["a"])
    let none: Decimal = 0
    #expect(try titles(#Predicate { ($0.discount?.amount ?? none) < 1 }) == ["b"])
    #expect(try titles(#Predicate { $0.shop?.at.latitude == 1 }) == ["a"])
    #expect(try titles(#Predicate { $0.shop?.second?.longitude == 4 }) == ["a"])
  }

  @Test("a derived attribute is its expression, also around and behind members") func derived() throws {
    let receipt = try #require(try context.fetch(Receipt.where { $0.title == "a" }).first)
    _ = Line(in: context, cost: Money(amount: 6), count: 2, receipt: receipt)
    _ = Line(in: context, cost: Money(amount: 1), receipt: receipt)
    try context.save()
    let (least, sum): (Decimal, Decimal) = (250, 13)
    #expect(try titles(#Predicate { ($0.cents ?? 0) > least }) == ["a"])
    #expect(try titles(#Predicate { $0.heading == "B" && $0.lineCount == 0 }) == ["b"])
    #expect(try titles(#Predicate { $0.lineTotal == sum && $0.level == "high" }) == ["a"])
    #expect(try titles(#Predicate { $0.lines.contains { $0.total == 12 && $0.receipt?.lineTotal == sum } }) == ["a"])
    #expect(try titles(#Predicate { $0.lines.filter { $0.receipt?.level == "high" }.count == 2 }) == ["a"])
  }

  @Test("an own type is compared by its stored form") func scalars() throws {
    let isbn = ISBN(rawValue: "9783161484100")
    #expect(try titles(#Predicate { $0.isbn == isbn }) == ["b"])
    #expect(try titles(#Predicate { $0.isbn == nil }) == ["a"])
  }
}
