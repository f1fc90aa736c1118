import Foundation
import Trellis
import TrellisTestSupport

/// Calendars and dates by chance, most of them where a calendar or a time zone does something unusual.
enum DateMoments {
  static let zones = [
    "UTC", "Asia/Seoul", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia",
    "Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns",
  ]
  private static let kinds: [Calendar.Identifier] = [
    .gregorian, .gregorian, .gregorian, .iso8601, .buddhist, .japanese, .hebrew, .islamicUmmAlQura, .chinese, .persian,
  ]

  static func calendar(_ random: inout SeededGenerator) -> Calendar {
    var kind = kinds[random.below(kinds.count)]
    #if compiler(>=6.3)
      if random.below(10) == 0, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { kind = .dangi }
    #endif
    var calendar = Calendar(identifier: kind)
    calendar.timeZone = TimeZone(identifier: zones[random.below(zones.count)]) ?? .gmt
    if random.below(3) == 0 {
      calendar.firstWeekday = 1 + random.below(7)
      calendar.minimumDaysInFirstWeek = 1 + random.below(7)
    }
    return calendar
  }

  /// Moments of 1970 to the present, in seconds since 1970, at which something happens.
  private static let unusual: [Double] = [
    1_325_152_800,  // Samoa skips the 30th of December 2011.
    1_541_300_400,  // Midnight does not exist in São Paulo on the 4th of November 2018.
    1_554_562_800,  // Lord Howe turns its clocks back by half an hour in April 2019.
    504_901_800,  // Nepal moves by a quarter of an hour at the start of 1986.
    600_220_800,  // The Heisei era begins in January 1989.
    1_585_443_600,  // Summer time begins in Berlin in March 2020.
    1_556_982_000,  // Morocco's Ramadan of 2019.
    1_609_459_200, 1_577_836_800, 951_782_400, 0, 1_582_934_400,
  ]

  static func date(_ random: inout SeededGenerator, keepsAllDates: Bool) -> Date {
    let jitter = Double(random.below(4_000_000_000)) / 1_000_000 - 2_000
    switch random.below(12) {
    case 0...4: return Date(timeIntervalSince1970: unusual[random.below(unusual.count)] + jitter * 60)
    case 5: return Date(timeIntervalSince1970: unusual[random.below(unusual.count)] + (jitter / 2_000).rounded())
    case 6: return Date(timeIntervalSince1970: Double(random.below(4_000_000)) * 1_000 - 2_000_000_000)
    case 7: return Date(timeIntervalSince1970: 1e12 + jitter * 3_600)
    case 8: return Date(timeIntervalSince1970: -6e10 + jitter * 3_600)
    case 9 where keepsAllDates: return Date(timeIntervalSince1970: -9.2e12 + jitter)
    case 10 where keepsAllDates: return Date(timeIntervalSince1970: -2.1087e11 + jitter * 3_600)
    default: return Date(timeIntervalSince1970: 1_700_000_000 + jitter * 3_600)
    }
  }
}

extension Calendar {
  /// Whether the calendar's own quarters can be compared with. They overlap in years with a leap month.
  var hasQuarters: Bool { ![.hebrew, .chinese].contains(identifier) && "\(identifier)" != "dangi" }

  /// The start of the period that contains a date, asked of the calendar for this date alone.
  func start(of unit: DatePeriod.Unit, _ date: Date) -> Date? {
    let component: Calendar.Component =
      switch unit {
      case .day: .day
      case .week: .weekOfYear
      case .month: .month
      case .quarter: .quarter
      case .year: .year
      }
    // The first years are not divided into quarters.
    if unit == .quarter, let year = dateInterval(of: .year, for: date), year.start.timeIntervalSince1970 < -2.1e11 {
      return start(of: .year, date)
    }
    guard let own = dateInterval(of: component, for: date), own.start <= date, date < own.end else { return nil }
    // The end of a week with a skipped day is a day too late.
    guard let next = dateInterval(of: component, for: own.end), next.start > own.start, next.start <= date else {
      return own.start
    }
    return next.start
  }
}
