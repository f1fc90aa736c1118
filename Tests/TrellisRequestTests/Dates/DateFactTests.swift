import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Periods and parts as Python computes them") struct DateFactTests {
  /// Facts that `make_moments.py` beside this file has written. More by the environment variable TRELLIS_MOMENTS, the path
  /// of another file of that kind.
  private static let file =
    ProcessInfo.processInfo.environment["TRELLIS_MOMENTS"].map { URL(filePath: $0) }
    ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Moments.txt")

  @Test("each moment has the bounds and numbers that another library finds", arguments: [StoreKind.memory, .sqlite])
  func facts(kind: StoreKind) throws {
    let lines = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n")
    let facts = try lines.map { line in try Fact(line.split(separator: " ").map(String.init)) }
    #expect(facts.count >= 1000)
    let shelf = try TestContainer(.requests, kind)
    let context = shelf.container.newContext()
    for (zone, group) in Dictionary(grouping: facts, by: \.zone) {
      try context.deleteAll(Item.all)
      for (number, fact) in group.enumerated() {
        let item = Item(in: context)
        (item.count, item.day) = (Int64(number), Date(timeIntervalSince1970: Double(fact.micros) / 1_000_000))
      }
      try context.save()
      var calendar = Calendar(identifier: .iso8601)
      calendar.timeZone = try #require(TimeZone(identifier: zone))
      let request = Item.all.sorted { $0.count }
      for (place, unit) in DatePeriod.Unit.allCases.enumerated() {
        let found = try context.values(of: request) { $0.day.period(unit, in: calendar) }
        for (period, fact) in zip(found, group) {
          let start = Date(timeIntervalSince1970: Double(fact.starts[place]))
          #expect(period.start == start, "\(unit) of \(fact.micros) in \(zone)")
          #expect(period.contains(Date(timeIntervalSince1970: Double(fact.micros) / 1_000_000)))
        }
      }
      let parts = try context.values(of: request) {
        ($0.day.weekday(in: calendar), $0.day.hourOfDay(in: calendar), $0.day.dayOfMonth(in: calendar))
      }
      let others = try context.values(of: request) {
        (
          $0.day.dayOfYear(in: calendar), $0.day.weekOfYear(in: calendar), $0.day.monthOfYear(in: calendar),
          $0.day.yearOfEra(in: calendar)
        )
      }
      for (fact, (first, second)) in zip(group, zip(parts, others)) {
        let numbers = [first.0?.rawValue, first.1, first.2, second.0, second.1, second.2, second.3]
        #expect(numbers == fact.numbers, "\(fact.micros) in \(zone)")
      }
    }
  }
}

private struct Fact {
  let micros: Int64
  let zone: String
  /// The starts of day, week, month, quarter and year.
  let starts: [Int64]
  let numbers: [Int64]

  init(_ words: [String]) throws {
    let numbers = words.compactMap(Int64.init)
    try #require(words.count == 14 && numbers.count == 13)
    micros = numbers[0]
    zone = words[1]
    starts = Array(numbers[1...5])
    self.numbers = Array(numbers[6...])
  }
}
