import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Periods and parts of dates") struct DateTests {
  private let container: TestContainer
  private let context: ManagedObjectContext
  private let calendar: Calendar

  init() throws {
    container = try TestContainer(.requests)
    context = container.container.newContext()
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Asia/Seoul"))
    self.calendar = calendar
  }

  private func date(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) throws -> Date {
    try #require(calendar.date(from: DateComponents(year: year, month: month, day: day, hour: hour)))
  }

  @discardableResult private func item(_ name: String, _ date: Date, due: Date? = nil) -> Item {
    let item = Item(in: context)
    (item.name, item.day, item.due) = (name, date, due)
    return item
  }

  private func fill() throws {
    item("a", try date(2026, 1, 1))
    item("b", try date(2026, 1, 31, 23), due: try date(2026, 2, 1))
    item("c", try date(2026, 2, 1), due: try date(2026, 2, 3))
    item("d", try date(2025, 1, 31, 12))
    try context.save()
  }

  @Test("a group for each month, with the period as its key") func months() throws {
    try fill()
    let groups = try context.grouped(Item.all, by: { $0.day.month(in: calendar) }) { $0.count }
    #expect(groups.map(\.key.description) == ["month 2025-01-01", "month 2026-01-01", "month 2026-02-01"])
    #expect(groups.map(\.value) == [1, 2, 1])
    #expect(try groups.map(\.key.start) == [date(2025, 1, 1), date(2026, 1, 1), date(2026, 2, 1)])
    #expect(groups[1].key.end == groups[2].key.start && groups[1].key.next == groups[2].key)
  }

  @Test("the period of a date that is nil is nil") func missing() throws {
    try fill()
    let groups = try context.grouped(Item.all, by: { $0.due.month(in: calendar) }) { $0.count }
    #expect(try groups.map { $0.key?.start } == [nil, date(2026, 2, 1)] && groups.map(\.value) == [2, 2])
    #expect(throws: StoreError.self) { try context.values(of: Item.all) { $0.other.day.month(in: calendar) } }
    #expect(try context.values(of: Item.all) { $0.other.day.optional.month(in: calendar) } == [nil, nil, nil, nil])
  }

  @Test("periods without objects are there in a sequence") func empty() throws {
    let months = DatePeriod.month(of: try date(2025, 11, 30), in: calendar).through(try date(2026, 2, 1))
    #expect(months.map { $0.components.month } == [11, 12, 1, 2])
    let year = DatePeriod.year(of: try date(2025, 11, 30), in: calendar)
    #expect(Array(year.through(try date(2024, 12, 31))).isEmpty)
    #expect(year.previous.next == year)
    #expect(try year.start == date(2025, 1, 1))
    #expect(try year.contains(date(2025, 12, 31)) && !year.contains(date(2026, 1, 1)))
  }

  @Test("a condition on a period compares the dates, so that an index serves it") func conditions() throws {
    try fill()
    let january = DatePeriod.month(of: try date(2026, 1, 5), in: calendar)
    func names(_ condition: (Item.Columns) -> QueryCondition) throws -> [String] {
      try context.values(of: Item.where { condition($0) }.sorted { $0.name }) { $0.name }
    }
    #expect(try names { $0.day.isIn(january) } == ["a", "b"])
    #expect(try names { $0.day.month(in: calendar) == january } == ["a", "b"])
    #expect(try names { $0.day.month(in: calendar) != january } == ["c", "d"])
    #expect(try names { $0.day.month(in: calendar) < january } == ["d"])
    #expect(try names { $0.day.month(in: calendar) <= january } == ["a", "b", "d"])
    #expect(try names { $0.day.month(in: calendar) > january } == ["c"])
    #expect(try names { $0.day.month(in: calendar) >= january } == ["a", "b", "c"])
    #expect(try names { $0.due.month(in: calendar) != january } == ["a", "b", "c", "d"])
    #expect(try names { $0.due.isIn(january) } == [])
    let text = try context.formatText(of: Item.where { $0.day.month(in: calendar) == january })
    #expect(text == "day >= CAST('2025-12-31T15:00:00Z', 'NSDate') AND day < CAST('2026-01-31T15:00:00Z', 'NSDate')")
    // Periods of another length are compared by their starts.
    #expect(try names { $0.day.year(in: calendar) == .month(of: january.start, in: calendar) } == ["a", "b", "c"])
    #expect(try names { $0.day.quarter(in: calendar) < january } == ["d"])
  }

  @Test("parts of a date, and this day of any year") func parts() throws {
    try fill()
    func names(_ condition: (Item.Columns) -> QueryCondition) throws -> [String] {
      try context.values(of: Item.where { condition($0) }.sorted { $0.name }) { $0.name }
    }
    let other = try date(2030, 1, 31)
    #expect(try names { $0.day.isAnniversary(of: other, in: calendar) } == ["b", "d"])
    #expect(try names { $0.day.weekday(in: calendar) == .thursday } == ["a"])
    #expect(try names { $0.day.hourOfDay(in: calendar) >= 12 } == ["b", "d"])
    #expect(try names { $0.day.dayOfMonth(in: calendar) == 1 } == ["a", "c"])
    #expect(try names { $0.day.dayOfYear(in: calendar) == 32 } == ["c"])
    #expect(try names { $0.day.weekOfYear(in: calendar) == 1 } == ["a"])
    #expect(try names { $0.day.monthOfYear(in: calendar) == 2 } == ["c"])
    #expect(try names { $0.day.yearOfEra(in: calendar) == 2025 } == ["d"])
    #expect(try names { $0.due.weekday(in: calendar) != .sunday } == ["a", "c", "d"])
    let days = try context.grouped(Item.all, by: { $0.day.weekday(in: calendar) }) { $0.count }
    #expect(days.map(\.key) == [.sunday, .thursday, .friday, .saturday] && days.map(\.value) == [1, 1, 1, 1])
  }

  @Test("objects in the order of their months, and of a computed value") func order() throws {
    try fill()
    let byMonth = Item.all.sorted {
      $0.day.month(in: calendar).descending
      $0.name
    }
    #expect(try context.fetch(byMonth).map(\.name) == ["c", "a", "b", "d"])
    for (number, item) in try context.fetch(Item.all.sorted { $0.name }).enumerated() { item.count = Int64(number) }
    #expect(try context.fetch(Item.all.sorted { ($0.count - 2).absolute }).map(\.name) == ["c", "b", "d", "a"])
    try context.save()
    #expect(try context.fetch(Item.all.sorted { ($0.count - 2).absolute }).map(\.name) == ["c", "b", "d", "a"])
    #expect(try context.values(of: Item.all.sorted { $0.name }) { $0.count * $0.count } == [0, 1, 4, 9])
    #expect(try context.aggregate(Item.all) { ($0.count * $0.count).sum } == 14)
    let remainders = try context.grouped(Item.all, by: { $0.count.remainder(dividingBy: 2) }) { $0.count.sum }
    #expect(remainders.map(\.key) == [0, 1] && remainders.map(\.value) == [2, 4])
  }

  @Test("the sections of a live list are months, which follow the saves") func sections() throws {
    try fill()
    let live = try context.live(Item.all.sorted { $0.day.descending }, sectionedBy: { $0.day.month(in: calendar) })
    func shown() -> [String] { live.sections.map { "\($0.value): \($0.map(\.name).joined())" } }
    #expect(shown() == ["month 2026-02-01: c", "month 2026-01-01: ba", "month 2025-01-01: d"])
    item("e", try date(2025, 6, 1))
    try #require(try context.first(Item.where { $0.name == "c" })).day = try date(2026, 1, 2)
    try context.save()
    #expect(shown() == ["month 2026-01-01: bca", "month 2025-06-01: e", "month 2025-01-01: d"])
    // Within a section the request's own order applies.
    let byName = try context.live(
      Item.all.sorted { $0.name.descending }, sectionedBy: { $0.day.year(in: calendar) })
    #expect(
      byName.sections.map { "\($0.value): \($0.map(\.name).joined())" } == [
        "year 2025-01-01: ed", "year 2026-01-01: cba",
      ])
    let byWeekday = try context.live(Item.all, sectionedBy: { $0.day.weekday(in: calendar) })
    #expect(byWeekday.sections.map(\.value) == [.sunday, .thursday, .friday, .saturday])
  }

  @Test("a server filters, sorts and groups by periods itself", .enabled(if: StoreKind.allCases.contains(.postgres)))
  func server() throws {
    let shelf = try TestContainer(.requests, .postgres)
    let context = shelf.container.newContext()
    let request = Item.where { $0.day.weekday(in: calendar) == .thursday }.sorted { $0.due.month(in: calendar) }
    #expect(try context.fetch(request).isEmpty && context.grouped(Item.all, by: { $0.day.year() }) { $0.count }.isEmpty)
    for day in 1...14 { Item(in: context).day = try date(2026, 1, day) }
    try context.save()
    #expect(try context.fetch(request).map(\.day) == [date(2026, 1, 1), date(2026, 1, 8)])
    let steps = try context.explain(request).steps
    #expect(!steps.contains { $0.contains("in memory") }, "\(steps)")
    // Dates that are too far apart for the statement are evaluated here, with the same result.
    Item(in: context).day = try date(9999, 1, 7)
    try context.save()
    #expect(try context.fetch(request).count == 3)
    #expect(try context.explain(request).steps.contains { $0.contains("in memory") })
  }

  @Test("in a format: of the current calendar, or of one that is named") func formats() throws {
    try fill()
    func names(_ format: PredicateFormat) throws -> [String] {
      try context.values(of: Item.where(format).sorted { $0.name }) { $0.name }
    }
    let january = DatePeriod.month(of: try date(2026, 1, 5), in: calendar)
    #expect(try names("day IN \(january)") == ["a", "b"])
    #expect(try names("month(day, 'Asia/Seoul') == month(\(january.start), 'Asia/Seoul')") == ["a", "b"])
    #expect(try names("monthOfYear(day, \("Asia/Seoul")) == 1 AND dayOfMonth(day, 'Asia/Seoul') == 31") == ["b", "d"])
    #expect(try names("yearOfEra(day, 'Asia/Seoul', 'buddhist') == 2568") == ["d"])
    #expect(try names("week(day, 'Asia/Seoul', 'gregorian', 5, 1) == day") == ["a"])
    #expect(try names("month(due) == NIL") == ["a", "d"])
    #expect(try names("day(day) <= now()").count == 4 - (Date.now < january.start ? 3 : 0))
    let request = Item.where { $0.day.weekday(in: calendar) == .monday && $0.due.week(in: calendar) == january }
    let text = try context.formatText(of: request)
    #expect(
      text.hasPrefix("weekday(day, 'Asia/Seoul', 'gregorian') == 2 AND week(due, 'Asia/Seoul', 'gregorian') == CAST("))
    #expect(try context.formatText(of: Item.where(PredicateFormat(verbatim: text))) == text)
  }

  @Test("what is wrong with a date function is an error at its place") func refusals() throws {
    func error(_ text: String) -> String {
      do {
        _ = try context.fetch(Item.where(PredicateFormat(verbatim: text)))
        return "none"
      } catch let error as PredicateFormatError {
        return "\(error.code.rawValue) \(error.offset) \(error.message)"
      } catch {
        return "\(error)"
      }
    }
    #expect(
      error("month(day, 'Asia/Seol') == now()")
        == "invalid-constant 11 There is no time zone 'Asia/Seol'; did you mean 'Asia/Seoul'?")
    #expect(
      error("month(day, 'UTC', 'gregorain') == now()")
        == "invalid-constant 18 There is no calendar 'gregorain'; did you mean 'gregorian'?")
    #expect(error("month(name) == now()") == "type-mismatch 6 This is a text; a date is needed.")
    #expect(
      error("week(day, 'UTC', 'gregorian', 0, 4) == now()") == "wrong-argument 30 A whole number from 1 to 7 is needed."
    )
    #expect(error("month(day, day) == now()") == "wrong-argument 11 The name of a time zone is needed, as a text.")
    #expect(error("month() == now()").hasPrefix("wrong-argument 0 The function takes a date"))
    #expect(error("weekdya(day) == 1").hasSuffix("did you mean 'weekday'?"))
    #expect(error("weekday(day) == 'monday'").hasPrefix("type-mismatch"))
    let unknown = QueryCalendar(named: "gregorian", timeZone: "Nowhere/Land")
    let operand = Operand.computed(.date(DateFunction(.start(.day), in: unknown), .now))
    let predicate = QueryPredicate.comparison(Comparison(operand, .equal, .now, kind: .integer))
    #expect(throws: (any Error).self) { try PredicateEvaluator(predicate) }
  }
}
