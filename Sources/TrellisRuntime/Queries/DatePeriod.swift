public import Foundation
@_spi(Generated) public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// A day, week, month, quarter or year of a calendar: a half-open range of dates.
///
/// ```swift
/// let month = DatePeriod.month(of: .now)
/// let notes = try context.fetch(Note.where { $0.createdAt.isIn(month) })
/// let days = try context.grouped(Note.all, by: { $0.createdAt.day() }) { $0.count }
/// ```
/// Two periods are equal if they have the same unit, calendar and start. They are ordered by their starts. A period keeps
/// the calendar's kind, time zone and weeks, but not its locale.
public struct DatePeriod: Sendable {
  /// The length of a period: `day`, `week`, `month`, `quarter` or `year`.
  public typealias Unit = PeriodUnit

  /// The length of the period.
  public let unit: Unit
  /// The first moment, in microseconds since 1970, and that of the next period.
  let bounds: (start: Int64, end: Int64)
  private let rules: QueryCalendar

  /// Creates the period that contains a date.
  ///
  /// - Parameters:
  ///   - unit: the length of the period.
  ///   - date: the date. One that no attribute can hold counts as the nearest that one can.
  ///   - calendar: the calendar, with its time zone. A kind of calendar without periods in Foundation, such as the Indian
  ///     regional ones, counts as the Gregorian one.
  public init(_ unit: Unit, of date: Date, in calendar: Calendar = .current) {
    let moment = date.storedMicroseconds
    let nearest = moment == .min && date.timeIntervalSince1970 > 0 ? Int64.max : moment
    self.init(unit, of: nearest, QueryCalendar(calendar))
  }

  private init(_ unit: PeriodUnit, of moment: Int64, _ rules: QueryCalendar) {
    self.unit = unit
    self.rules = rules
    bounds = PeriodBounds(unit, rules).bounds(of: moment)
  }

  /// The period that a date function has found.
  ///
  /// - Parameter start: the result of a function with a calendar and a unit.
  init(_ unit: PeriodUnit, startingAt start: Int64, in rules: QueryCalendar) { self.init(unit, of: start, rules) }

  /// The day of a date.
  public static func day(of date: Date, in calendar: Calendar = .current) -> DatePeriod {
    DatePeriod(.day, of: date, in: calendar)
  }

  /// The week of a date.
  public static func week(of date: Date, in calendar: Calendar = .current) -> DatePeriod {
    DatePeriod(.week, of: date, in: calendar)
  }

  /// The month of a date.
  public static func month(of date: Date, in calendar: Calendar = .current) -> DatePeriod {
    DatePeriod(.month, of: date, in: calendar)
  }

  /// The quarter of a date.
  public static func quarter(of date: Date, in calendar: Calendar = .current) -> DatePeriod {
    DatePeriod(.quarter, of: date, in: calendar)
  }

  /// The year of a date.
  public static func year(of date: Date, in calendar: Calendar = .current) -> DatePeriod {
    DatePeriod(.year, of: date, in: calendar)
  }

  /// The calendar, with its time zone.
  public var calendar: Calendar { rules.calendar }

  /// The first moment of the period.
  public var start: Date { Date(storedMicroseconds: bounds.start) }

  /// The first moment of the next period.
  public var end: Date { Date(storedMicroseconds: bounds.end) }

  /// Whether a date is in the period.
  public func contains(_ date: Date) -> Bool {
    let moment = date.storedMicroseconds
    return moment != .min && bounds.start <= moment && moment < bounds.end
  }

  /// The date components of the start, in the period's calendar.
  public var components: DateComponents {
    calendar.dateComponents([.era, .year, .month, .weekOfYear, .yearForWeekOfYear, .day, .weekday], from: start)
  }

  /// The period after this one.
  public var next: DatePeriod { DatePeriod(unit, of: bounds.end, rules) }

  /// The preceding period; for the first one, which has no start in the calendar, the period itself.
  public var previous: DatePeriod {
    bounds.start == .min ? self : DatePeriod(unit, of: bounds.start - 1, rules)
  }

  /// This period and those after it, up to the period that contains a date: the places of a chart, in which a period
  /// without objects is empty.
  ///
  /// ```swift
  /// for month in DatePeriod.month(of: first).through(.now) { print(month, counts[month] ?? 0) }
  /// ```
  /// - Returns: the periods, each made when it is asked for; none if the date is before this period.
  public func through(_ last: Date) -> some Sequence<DatePeriod> {
    let last = last.storedMicroseconds
    return sequence(state: Optional(self)) { (period: inout DatePeriod?) -> DatePeriod? in
      guard let current = period, current.bounds.start <= last else { return nil }
      let next = current.next
      period = next.bounds.start > current.bounds.start ? next : nil
      return current
    }
  }

  /// The function whose results are the periods of this unit and calendar.
  var function: DateFunction { DateFunction(.start(unit), in: rules) }
}

extension DatePeriod: Hashable, Comparable {
  /// Whether the periods have the same unit, calendar and start.
  public static func == (left: DatePeriod, right: DatePeriod) -> Bool {
    left.bounds.start == right.bounds.start && left.unit == right.unit && left.rules == right.rules
  }

  /// Hashes the unit and the start.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(unit)
    hasher.combine(bounds.start)
  }

  /// Whether the left period starts first.
  public static func < (left: DatePeriod, right: DatePeriod) -> Bool { left.bounds.start < right.bounds.start }
}

extension DatePeriod: CustomStringConvertible {
  /// The unit and the start in the period's calendar: `month 2026-11-01`.
  public var description: String {
    let parts = calendar.dateComponents([.year, .month, .day], from: start)
    let digits = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, count in
      let text = String(number ?? 0)
      return String(repeating: "0", count: Swift.max(0, count - text.count)) + text
    }
    return "\(unit.rawValue) \(digits.joined(separator: "-"))"
  }
}

/// A range of dates, as in `createdAt IN %@`.
extension DatePeriod: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument {
    .range(.integer(bounds.start), .integer(bounds.end), .date, isClosed: false)
  }
}

// MARK: - Weekday

extension DatePeriod {
  /// A day of the week.
  public enum Weekday: Int64, OrderedAttributeValue, CaseIterable {
    /// Sunday, the first day of the numbering, whichever day a calendar's weeks start with.
    case sunday = 1
    /// Monday.
    case monday
    /// Tuesday.
    case tuesday
    /// Wednesday.
    case wednesday
    /// Thursday.
    case thursday
    /// Friday.
    case friday
    /// Saturday.
    case saturday

    @_spi(Generated) public static var valueKind: ValueKind { .integer }
    @_spi(Generated) public static var placeholder: Weekday { .sunday }
    @_spi(Generated) public var storedValue: StoredValue { .integer(rawValue) }

    @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> Weekday {
      if let day = Weekday(rawValue: row.integer(column)) { return day }
      row.report(column, "weekdays have the numbers from 1 to 7")
      return placeholder
    }

    @_spi(Generated) public func write(to row: RowWriter) { row.integer(rawValue) }
  }
}
