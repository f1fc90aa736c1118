import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisReceiptMindModel
import TrellisTestSupport

@Suite("The guide to dates") struct DatesGuideTests {
  @Test("a diary by month", arguments: StoreKind.inPlace) func diary(kind: StoreKind) throws {
    let shelf = try TestContainer(.diary, kind)
    let context = shelf.container.newContext()
    let now = Date.now
    let lastYear = try #require(Calendar.current.date(byAdding: .year, value: -1, to: now))
    for (date, emotion) in [(now, Emotion.happy), (now, .calm), (lastYear, .happy)] {
      EmotionDiary(in: context, emotion: emotion, content: "a walk").createdAt = date
    }
    try context.save()

    let months = try context.grouped(EmotionDiary.all, by: { $0.createdAt.month() }) { $0.count }
    #expect(months.map(\.value) == [1, 2] && months.last?.key == .month(of: now))
    let counts = Dictionary(uniqueKeysWithValues: months.map { ($0.key, $0.value) })
    let first = try #require(months.first?.key)
    let all = first.through(now).map { counts[$0] ?? 0 }
    #expect(all.count >= 12 && all.first == 1 && all.last == 2 && all.reduce(0, +) == 3)
    let moods = try context.grouped(EmotionDiary.all, by: { ($0.createdAt.month(), $0.emotion) }) { $0.count }
    #expect(moods.map(\.value) == [1, 1, 1])

    #expect(try context.count(EmotionDiary.where { $0.createdAt.isIn(.month(of: now)) }) == 2)
    #expect(try context.count(EmotionDiary.where { $0.createdAt.year() < .year(of: now) }) == 1)
    let weekday = Calendar.current.component(.weekday, from: now)
    let sameWeekday = try #require(DatePeriod.Weekday(rawValue: Int64(weekday)))
    #expect(try context.count(EmotionDiary.where { $0.createdAt.weekday() == sameWeekday }) >= 2)
    let isLeapDay = Calendar.current.dateComponents([.month, .day], from: now) == DateComponents(month: 2, day: 29)
    let onThisDay = EmotionDiary.where { $0.createdAt.isAnniversary(of: now) }
    #expect(try context.count(onThisDay) == (isLeapDay ? 2 : 3))
    let early = EmotionDiary.where("hourOfDay(createdAt) < 24 AND createdAt IN \(DatePeriod.month(of: now))")
    #expect(try context.count(early) == 2)
    let days = try context.values(of: EmotionDiary.all, distinct: true) { $0.createdAt.day() }
    #expect(days.count == 2)

    let live = try context.live(
      EmotionDiary.all.sorted { $0.createdAt.descending }, sectionedBy: { $0.createdAt.month() })
    #expect(live.sections.map(\.count) == [2, 1] && live.sections.first?.value == .month(of: now))
  }

  @Test("a ledger by month and category, in Korean order", arguments: StoreKind.inPlace) func ledger(kind: StoreKind)
    throws
  {
    let shelf = try TestContainer(.receiptMind, kind)
    let context = shelf.container.newContext()
    let ledger = Ledger.open("우리집", in: context)
    let categories = ledger.categories(for: .expense)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Asia/Seoul"))
    for month in 1...3 {
      for (number, category) in categories.prefix(3).enumerated() {
        let receipt = Receipt(
          in: context, price: Money(amount: Decimal(10 * month + number)), ledger: ledger, category: category)
        receipt.date = try #require(calendar.date(from: DateComponents(year: 2026, month: month, day: 1)))
      }
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let sums = try context.grouped(
        Receipt.all, by: { ($0.date.month(in: calendar), $0.category.name.optional) }
      ) {
        ($0.count, $0.price.amount.sum)
      } sorted: {
        $0.date.month(in: calendar).descending
        $0.price.amount.sum
      }
      #expect(sums.map(\.value.1) == [30, 31, 32, 20, 21, 22, 10, 11, 12])
      #expect(sums.map(\.key.0.components.month) == [3, 3, 3, 2, 2, 2, 1, 1, 1])
      let names = try context.values(
        of: Category.all.sorted { $0.name.localized(in: Locale(identifier: "ko")) }, distinct: true
      ) { $0.name }
      #expect(
        names.count > 3
          && names == names.sorted { $0.compare($1, locale: Locale(identifier: "ko")) == .orderedAscending })
    }
  }
}
