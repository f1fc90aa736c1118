import Foundation
import Observation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Derived attributes") struct DerivedTests {
  private func fill(_ context: ManagedObjectContext) throws {
    let one = Receipt(in: context, price: Money(amount: 3), title: "one", codes: [])
    _ = Line(in: context, cost: Money(amount: 2), count: 3, receipt: one)
    _ = Line(in: context, cost: Money(amount: 12), receipt: one)
    _ = Receipt(in: context, price: Money(amount: 1.5), title: "two", codes: [])
  }

  @Test("a value is current in memory, whatever it is derived from") func memory() throws {
    let context = try TestContainer(.till).container.newContext()
    try fill(context)
    let one = try #require(try context.fetch(Receipt.where { $0.title == "one" }).first)
    #expect(one.cents == 300 && one.heading == "ONE" && one.lineCount == 2)
    #expect(one.lineTotal == 18 && one.level == "high")
    one.price.amount = 4
    one.title = "uno"
    #expect(one.cents == 400 && one.heading == "UNO")
    let line = try #require(one.lines.first { $0.count == 1 })
    #expect(line.total == 12 && line.owner == "UNO")
    line.cost.amount = 1
    #expect(one.lineTotal == 7 && one.level == "low")
    try context.delete(line)
    #expect(one.lineCount == 1 && one.lineTotal == 6)
    context.rollback()
  }

  @Test("conditions, sorts, groups and values compute it, saved or not", arguments: StoreKind.allCases, [false, true])
  func requests(_ kind: StoreKind, isSaved: Bool) throws {
    let container = try TestContainer(.till, kind)
    let context = container.container.newContext()
    try fill(context)
    if isSaved { try context.save() }
    func titles(_ condition: (Receipt.Columns) -> QueryCondition) throws -> [String] {
      try context.fetch(Receipt.where { condition($0) }.sorted { $0.title }).map(\.title)
    }
    #expect(try titles { $0.cents > 200 } == ["one"])
    #expect(try titles { $0.heading == "TWO" } == ["two"])
    #expect(try titles { $0.lineCount == 0 && $0.level == "low" } == ["two"])
    #expect(try titles { $0.lineTotal == 18 } == ["one"])
    #expect(try titles { $0.lines.any { $0.total > 10 } } == ["one"])
    #expect(try titles { $0.lines.any { $0.receipt.cents == 300 && $0.receipt.level == "high" } } == ["one"])
    #expect(try context.fetch(Receipt.where("cents > 200 AND ANY lines.total == 6")).map(\.title) == ["one"])
    #expect(try context.fetch(Line.where("owner == 'ONE' AND receipt.lineTotal > 17")).count == 2)
    #expect(try context.fetch(Line.where { $0.receipt.lineTotal > 17 && $0.receipt.level == "high" }).count == 2)
    #expect(try context.fetch(Receipt.all.sorted { $0.cents }).map(\.title) == ["two", "one"])
    #expect(try context.fetch(Receipt.all.sorted { $0.lineTotal.descending }).map(\.title) == ["one", "two"])
    #expect(try context.values(of: Receipt.all.sorted { $0.title }) { $0.heading } == ["ONE", "TWO"])
    let groups = try context.grouped(Receipt.all, by: { $0.level }) { ($0.count, $0.cents.sum) }
    #expect(groups.map(\.key) == ["high", "low"])
    #expect(groups.map(\.value.1) == [300, 150])
  }

  @Test("a change of what a value is derived from is observed") func observation() throws {
    let container = try TestContainer(.till)
    let context = container.container.newContext()
    context.isObserving = true
    try fill(context)
    let one = try #require(try context.fetch(Receipt.where { $0.title == "one" }).first)
    func isObserved(_ read: () -> Void, _ change: () -> Void) -> Bool {
      let flag = Flag()
      withObservationTracking(read) { flag.isSet = true }
      change()
      return flag.isSet
    }
    #expect(isObserved({ _ = one.cents }, { one.price.amount += 1 }))
    #expect(isObserved({ _ = one.lineCount }, { _ = Line(in: context, cost: Money(amount: 1), receipt: one) }))
    let line = try #require(one.lines.first)
    #expect(isObserved({ _ = one.lineTotal }, { line.count += 1 }))
    #expect(isObserved({ _ = line.owner }, { one.title = "other" }))
    #expect(isObserved({ _ = line.count }, { line.count += 1 }))
    #expect(!isObserved({ _ = one.heading }, { one.price.amount += 1 }))
  }

  private final class Flag: @unchecked Sendable {  // used by one test at a time
    var isSet = false
  }
}
