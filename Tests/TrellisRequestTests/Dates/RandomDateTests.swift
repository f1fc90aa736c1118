import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@Suite("Random dates in random calendars", .serialized) struct RandomDateTests {
  /// More by the environment variable TRELLIS_DATES; a seed by TRELLIS_DATES_SEED.
  private let rounds = TestSettings.number("TRELLIS_DATES", or: 6)
  private let seed = TestSettings.seed("TRELLIS_DATES_SEED")

  @Test(
    "groups, conditions, parts, orders and sections are those of the calendar, unsaved changes included",
    arguments: StoreKind.allCases)
  func agrees(_ kind: StoreKind) throws {
    print("random dates in \(kind): seed \(seed), \(rounds) rounds")
    let shelf = try TestContainer(.requests, kind)
    defer { withExtendedLifetime(shelf) {} }
    for round in 0..<rounds {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      let context = shelf.container.newContext()
      try context.deleteAll(Item.all)
      var items: [Item] = []
      for number in 0..<30 {
        let item = Item(in: context)
        item.name = "\(number)"
        items.append(item)
        setDates(of: item, kind, &random)
      }
      for item in items where random.below(3) == 0 { item.other = items[random.below(items.count)] }
      try context.save()
      let edited = shelf.container.newContext()
      for item in try edited.fetch(Item.all.sorted { $0.name }) where random.below(4) == 0 {
        if random.below(4) == 0 { try edited.delete(item) } else { setDates(of: item, kind, &random) }
      }
      for step in 0..<8 {
        let place: Comment = "seed \(seed), round \(round), step \(step), \(kind)"
        let calendar = DateMoments.calendar(&random)
        var unit = DatePeriod.Unit.allCases[random.below(DatePeriod.Unit.allCases.count)]
        if unit == .quarter && !calendar.hasQuarters { unit = .month }
        for context in [shelf.container.newContext(), edited] {
          try compare(unit, calendar, context, kind, &random, place)
        }
      }
    }
  }

  private func setDates(of item: Item, _ kind: StoreKind, _ random: inout SeededGenerator) {
    item.day = DateMoments.date(&random, keepsAllDates: kind.keepsAllDates)
    item.due = random.below(3) == 0 ? nil : DateMoments.date(&random, keepsAllDates: kind.keepsAllDates)
  }

  private func compare(
    _ unit: DatePeriod.Unit, _ calendar: Calendar, _ context: ManagedObjectContext, _ kind: StoreKind,
    _ random: inout SeededGenerator, _ place: Comment
  ) throws {
    let items = try context.fetch(Item.all)
    // The calendar itself, for each date alone. All dates before its range are in one period.
    func start(_ date: Date?) -> Date? { date.map { calendar.start(of: unit, $0) ?? .distantPast } }
    func period(_ date: Date?) -> Date? { date.map { DatePeriod(unit, of: $0, in: calendar).start } }
    for item in items where calendar.start(of: unit, item.day) != nil {
      let (found, expected) = (period(item.day), start(item.day))
      #expect(
        found == expected,
        "\(item.day.timeIntervalSince1970): \(found?.timeIntervalSince1970 ?? 0), \(expected?.timeIntervalSince1970 ?? 0) \(unit) \(QueryCalendar(calendar)) \(place)"
      )
    }

    let groups = try context.grouped(Item.all, by: { $0.day.period(unit, in: calendar) }) { $0.count }
    let expected = Dictionary(grouping: items) { start($0.day) }
    #expect(groups.map(\.value).sorted() == expected.values.map(\.count).sorted(), place)
    for group in groups where calendar.start(of: unit, group.key.start) != nil {
      #expect(expected[group.key.start]?.count == group.value, "\(group.key) \(place)")
    }
    let due = try context.grouped(Item.all, by: { $0.due.period(unit, in: calendar) }) { $0.count }
    #expect(
      due.map(\.value).sorted() == Dictionary(grouping: items) { start($0.due) }.values.map(\.count).sorted(), place)

    let wanted = DatePeriod(unit, of: items[random.below(items.count)].day, in: calendar)
    let other = DatePeriod(.month, of: wanted.start, in: calendar)
    func found(_ condition: (Item.Columns) -> QueryCondition) throws -> [String] {
      try context.fetch(Item.where { condition($0) }).map(\.name)
    }
    func here(_ isIn: (DatePeriod) -> Bool) -> [String] {
      items.filter { isIn(DatePeriod(unit, of: $0.day, in: calendar)) }.map(\.name)
    }
    #expect(try found { $0.day.period(unit, in: calendar) == wanted } == here { $0 == wanted }, place)
    #expect(try found { $0.day.period(unit, in: calendar) != wanted } == here { $0 != wanted }, place)
    #expect(try found { $0.day.period(unit, in: calendar) < wanted } == here { $0 < wanted }, place)
    #expect(try found { $0.day.period(unit, in: calendar) <= wanted } == here { $0 <= wanted }, place)
    #expect(try found { $0.day.period(unit, in: calendar) > other } == here { $0.start > other.start }, place)
    #expect(
      try found { $0.other.day.period(unit, in: calendar) >= wanted }
        == items.filter { $0.other.map { DatePeriod(unit, of: $0.day, in: calendar) >= wanted } == true }.map(\.name),
      place)

    let parts = calendar.dateComponents([.weekday, .hour, .day, .month], from: wanted.start)
    if calendar.start(of: .day, wanted.start) != nil {
      for (part, component) in [(parts.weekday, Calendar.Component.weekday), (parts.hour, .hour)] {
        let number = Int64(part ?? 0)
        let expected = items.filter {
          calendar.start(of: .day, $0.day) != nil && calendar.component(component, from: $0.day) == part
        }
        let found = try found {
          component == .hour
            ? $0.day.hourOfDay(in: calendar) == number
            : $0.day.weekday(in: calendar) == DatePeriod.Weekday(rawValue: number) ?? .sunday
        }
        let differing = expected.filter { !found.contains($0.name) }.map(\.day.timeIntervalSince1970)
        #expect(found == expected.map(\.name), "\(component) \(differing) \(QueryCalendar(calendar)) \(place)")
      }
      let same = items.filter {
        calendar.start(of: .day, $0.day) != nil
          && calendar.dateComponents([.month, .day], from: $0.day)
            == calendar.dateComponents([.month, .day], from: wanted.start)
      }
      #expect(
        try Set(found { $0.day.isAnniversary(of: wanted.start, in: calendar) }).isSuperset(of: same.map(\.name)), place)
    }

    let sorted = try context.fetch(
      Item.all.sorted {
        $0.due.period(unit, in: calendar).descending
        $0.name
      })
    let byHand = items.sorted { a, b in
      let (left, right) = (period(a.due), period(b.due))
      return left == right ? a.name < b.name : right.map { right in left.map { $0 > right } ?? false } ?? true
    }
    #expect(sorted.map(\.name) == byHand.map(\.name), place)
    guard !context.hasChanges else { return }
    let live = try context.live(Item.all.sorted { $0.day }, sectionedBy: { $0.day.period(unit, in: calendar) })
    #expect(live.sections.map(\.value) == groups.map(\.key) && live.sections.map(\.count) == groups.map(\.value), place)
    let beside = try context.live(Item.all.sorted { $0.name }, sectionedBy: { $0.day.period(unit, in: calendar) })
    #expect(beside.sections.map(\.value) == groups.map(\.key), place)
  }
}
