import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Composite attributes") struct CompositeTests {
  private let place = Place(
    street: "Naejadong-ro", at: Position(latitude: 37.5, longitude: 127), second: nil,
    opened: Date(timeIntervalSince1970: 1_700_000_000.1234567))

  @discardableResult private func receipt(
    _ title: String, _ amount: Decimal, _ context: ManagedObjectContext, discount: Money? = nil, shop: Place? = nil
  ) -> Receipt {
    Receipt(in: context, price: Money(amount: amount), title: title, discount: discount, shop: shop, codes: [])
  }

  @Test("a value is the same after a round trip through a store", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let container = try TestContainer(.till, kind)
    let context = container.container.newContext()
    let one = receipt("one", 12.5, context, discount: Money(amount: 3, currency: .eur), shop: place)
    receipt("two", 1, context)
    try context.save()
    let other = container.container.newContext()
    let read = try #require(try other.fetch(Receipt.where { $0.title == "one" }).first)
    #expect(read.price == Money(amount: 12.5, currency: .krw))
    #expect(read.tip == Money(amount: 1, currency: .krw))
    #expect(read.discount == Money(amount: 3, currency: .eur))
    #expect(read.shop == one.shop && read.shop?.at.latitude == 37.5 && read.shop?.second == nil)
    #expect(read.snapshot == one.snapshot && read.snapshot.discount?.amount == 3)
    let empty = try #require(try other.fetch(Receipt.where { $0.title == "two" }).first)
    #expect(empty.discount == nil && empty.shop == nil)
  }

  @Test("a field is changed alone") func fields() throws {
    let container = try TestContainer(.till)
    let context = container.container.newContext()
    let one = receipt("one", 12, context, discount: Money(amount: 3))
    try context.save()
    one.price.amount += 1
    #expect(one.changedProperties == ["price.amount"])
    one.discount?.currency = .eur
    one.discount = nil
    #expect(one.discount == nil)
    context.rollback()
    #expect(one.price.amount == 12 && one.discount == Money(amount: 3))
    one.discount = nil
    one.price = one.price
    try context.save()
    let read = container.container.newContext()
    #expect(try read.fetch(Receipt.where { $0.discount == nil }).count == 1)
  }

  @Test("conditions, sorts, groups and values name fields", arguments: StoreKind.allCases)
  func requests(_ kind: StoreKind) throws {
    let container = try TestContainer(.till, kind)
    let context = container.container.newContext()
    receipt("a", 3, context, discount: Money(amount: 1, currency: .eur), shop: place)
    receipt("b", 2, context, discount: Money(amount: 5))
    receipt("c", 1, context)
    try context.save()
    func titles(_ condition: (Receipt.Columns) -> QueryCondition) throws -> [String] {
      try context.values(of: Receipt.where { condition($0) }.sorted { $0.price.amount }) { $0.title }
    }
    #expect(try titles { $0.price.amount >= 2 } == ["b", "a"])
    #expect(try titles { $0.price == Money(amount: 2) } == ["b"])
    #expect(try titles { $0.price != Money(amount: 2) } == ["c", "a"])
    #expect(try titles { $0.discount == nil } == ["c"])
    #expect(try titles { $0.discount != nil } == ["b", "a"])
    #expect(try titles { $0.discount == Money(amount: 1, currency: .eur) } == ["a"])
    #expect(try titles { $0.discount != Money(amount: 1, currency: .eur) } == ["c", "b"])
    #expect(try titles { $0.discount.amount > 1 } == ["b"])
    #expect(try titles { $0.shop.at.latitude > 30 } == ["a"])
    #expect(try titles { $0.shop == place } == ["a"])
    #expect(try titles { $0.shop.street == "Naejadong-ro" } == ["a"])
    #expect(try titles { $0.shop.street == nil } == ["c", "b"])
    #expect(try titles { $0.shop.second.latitude == nil } == ["c", "b", "a"])
    #expect(try context.values(of: Receipt.all.sorted { $0.price.amount }) { $0.discount.amount } == [nil, 5, 1])
    let sums = try context.grouped(Receipt.all, by: { $0.price.currency }) { $0.price.amount.sum }
    #expect(sums.map(\.value) == [6])
    #expect(try context.fetch(Receipt.where("discount == nil AND price.amount < 2")).map(\.title) == ["c"])
    #expect(try context.fetch(Receipt.where("shop.at.longitude == 127")).map(\.title) == ["a"])
    #expect(try context.fetch(Receipt.dear(least: 0)).map(\.title) == [])
  }

  @Test("a path that ends at a composite, or misses its field, is refused with the fields that there are")
  func wrongPaths() throws {
    let context = try TestContainer(.till).container.newContext()
    func message(_ format: String) -> String {
      do {
        _ = try context.fetch(Receipt.where(PredicateFormat(stringLiteral: format)))
        return ""
      } catch {
        return (error as? PredicateFormatError)?.message ?? "\(error)"
      }
    }
    #expect(
      message("price == 3") == "'price' is a composite; name one of its fields: 'price.amount' or 'price.currency'.")
    #expect(
      message("price.amuont == 3")
        == "The composite 'Money' has no field 'amuont'; did you mean 'amount'?")
  }
}
