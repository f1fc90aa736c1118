public import Foundation
public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// The period that contains a date of an object: a key of groups and of sections, a condition, a sort key or a value.
///
/// ```swift
/// let sums = try context.grouped(Receipt.all, by: { ($0.date.month(), $0.category) }) { $0.amount.sum }
/// let live = try context.live(Note.all.sorted { $0.createdAt.descending }, sectionedBy: { $0.createdAt.month() })
/// let now = Note.where { $0.createdAt.month() == .month(of: .now) }
/// ```
/// `Fetched` is ``DatePeriod``, or an optional one if the date is optional.
public struct PeriodValue<Fetched: Hashable & Sendable>: Sendable {
  let date: Operand
  let unit: PeriodUnit
  let calendar: QueryCalendar
  private let fetched: @Sendable (DatePeriod) -> Fetched
  /// The result without a date; nil if there has to be one.
  private let none: Fetched?

  fileprivate init(
    _ date: Operand, _ unit: PeriodUnit, _ calendar: Calendar, none: Fetched?,
    _ fetched: @escaping @Sendable (DatePeriod) -> Fetched
  ) {
    self.date = date
    self.unit = unit
    self.calendar = QueryCalendar(calendar)
    self.none = none
    self.fetched = fetched
  }

  var function: DateFunction { DateFunction(.start(unit), in: calendar) }

  /// The start of the period.
  var start: Operand { .computed(.date(function, date)) }
}

// MARK: - Periods of dates

/// Periods of a date. The default calendar is that of the program when the request is made.
extension QueriedValue where Value == Date {
  /// The period that contains the date.
  public func period(_ unit: DatePeriod.Unit, in calendar: Calendar = .current) -> PeriodValue<DatePeriod> {
    PeriodValue(_operand, unit, calendar, none: nil) { $0 }
  }

  /// The day that contains the date.
  public func day(in calendar: Calendar = .current) -> PeriodValue<DatePeriod> { period(.day, in: calendar) }
  /// The week that contains the date.
  public func week(in calendar: Calendar = .current) -> PeriodValue<DatePeriod> { period(.week, in: calendar) }
  /// The month that contains the date.
  public func month(in calendar: Calendar = .current) -> PeriodValue<DatePeriod> { period(.month, in: calendar) }
  /// The quarter that contains the date.
  public func quarter(in calendar: Calendar = .current) -> PeriodValue<DatePeriod> { period(.quarter, in: calendar) }
  /// The year that contains the date.
  public func year(in calendar: Calendar = .current) -> PeriodValue<DatePeriod> { period(.year, in: calendar) }
}

/// Periods of a date that may be nil; the period is nil then.
extension QueriedValue where Value == Date? {
  /// The period that contains the date.
  public func period(_ unit: DatePeriod.Unit, in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> {
    PeriodValue(_operand, unit, calendar, none: .some(nil)) { $0 }
  }

  /// The day that contains the date.
  public func day(in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> { period(.day, in: calendar) }
  /// The week that contains the date.
  public func week(in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> { period(.week, in: calendar) }
  /// The month that contains the date.
  public func month(in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> { period(.month, in: calendar) }
  /// The quarter that contains the date.
  public func quarter(in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> { period(.quarter, in: calendar) }
  /// The year that contains the date.
  public func year(in calendar: Calendar = .current) -> PeriodValue<DatePeriod?> { period(.year, in: calendar) }
}

// MARK: - Parts of dates

extension QueriedValue where Value: OrderedAttributeValue, Value.Unwrapped == Date {
  /// Whether the date is in a period. An index on the date serves the condition.
  public func isIn(_ period: DatePeriod) -> QueryCondition { QueryCondition(.isIn(_operand, period)) }

  /// Whether the date has the month and day of another date, in any year: "on this day". For the 29th of February, only
  /// leap years have one.
  public func isAnniversary(of date: Date, in calendar: Calendar = .current) -> QueryCondition {
    let parts = calendar.dateComponents([.month, .day], from: date)
    return monthOfYear(in: calendar) == Int64(parts.month ?? 0) && dayOfMonth(in: calendar) == Int64(parts.day ?? 0)
  }

  /// The day of the week.
  public func weekday(in calendar: Calendar = .current) -> ComputedValue<DatePeriod.Weekday> {
    part(.weekday, calendar)
  }
  /// The hour of the day, from 0 to 23.
  public func hourOfDay(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.hourOfDay, calendar) }
  /// The day of the month, from 1.
  public func dayOfMonth(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.dayOfMonth, calendar) }
  /// The day of the year, from 1.
  public func dayOfYear(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.dayOfYear, calendar) }
  /// The week of the year, from 1, by the calendar's rule for the first week.
  public func weekOfYear(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.weekOfYear, calendar) }
  /// The month of the year, from 1. A leap month of the Chinese calendar has the number of the month before it.
  public func monthOfYear(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.monthOfYear, calendar) }
  /// The year of the calendar's era.
  public func yearOfEra(in calendar: Calendar = .current) -> ComputedValue<Int64> { part(.yearOfEra, calendar) }

  private func part<Part: AttributeValue>(_ part: DatePart, _ calendar: Calendar) -> ComputedValue<Part> {
    ComputedValue(.date(DateFunction(.part(part), in: QueryCalendar(calendar)), _operand))
  }
}

// MARK: - Conditions

extension PeriodValue {
  /// Whether the date is in the period.
  public static func == (left: PeriodValue, right: DatePeriod) -> QueryCondition { left.compared(.equal, right) }
  /// Whether the date is not in the period, or nil.
  public static func != (left: PeriodValue, right: DatePeriod) -> QueryCondition { left.compared(.notEqual, right) }
  /// Whether the date is before the period.
  public static func < (left: PeriodValue, right: DatePeriod) -> QueryCondition { left.compared(.less, right) }
  /// Whether the date is before the end of the period.
  public static func <= (left: PeriodValue, right: DatePeriod) -> QueryCondition { left.compared(.lessOrEqual, right) }
  /// Whether the date is after the period.
  public static func > (left: PeriodValue, right: DatePeriod) -> QueryCondition { left.compared(.greater, right) }
  /// Whether the date is not before the period.
  public static func >= (left: PeriodValue, right: DatePeriod) -> QueryCondition {
    left.compared(.greaterOrEqual, right)
  }

  /// A comparison of the dates themselves, which an index can serve, if the period is one of the function's results.
  /// Otherwise the starts of both periods are compared.
  private func compared(_ relation: ComparisonOperator, _ period: DatePeriod) -> QueryCondition {
    guard period.function == function else {
      return QueryCondition(.dates(start, relation, period.bounds.start))
    }
    switch relation {
    case .equal: return QueryCondition(.isIn(date, period))
    case .notEqual: return QueryCondition(.not(.isIn(date, period)))
    case .less, .greaterOrEqual: return QueryCondition(.dates(date, relation, period.bounds.start))
    case .lessOrEqual: return QueryCondition(.dates(date, .less, period.bounds.end))
    default: return QueryCondition(.dates(date, .greaterOrEqual, period.bounds.end))
    }
  }
}

extension QueryPredicate {
  fileprivate static func dates(
    _ operand: Operand, _ relation: ComparisonOperator, _ moment: Int64
  ) -> QueryPredicate {
    .comparison(Comparison(operand, relation, .value(.integer(moment)), kind: .integer))
  }

  fileprivate static func isIn(_ operand: Operand, _ period: DatePeriod) -> QueryPredicate {
    .and([.dates(operand, .greaterOrEqual, period.bounds.start), .dates(operand, .less, period.bounds.end)])
  }
}

// MARK: - Values and order

extension PeriodValue: ValueToken {
  @_spi(Generated) public var _projection: ProjectedValue { ProjectedValue(start, kind: .integer) }

  @_spi(Generated) public func _read(_ row: RowReader, _ column: Int) -> Fetched {
    if row.isNull(column), let none { return none }
    // A missing value is reported, as a value that is no date.
    return fetched(DatePeriod(unit, startingAt: row.integer(column), in: calendar))
  }

  /// The earliest period first; nil comes before every period.
  public var ascending: SortTerm { SortTerm(SortKey(start, kind: .integer)) }
  /// The latest period first; nil comes last.
  public var descending: SortTerm { SortTerm(SortKey(start, descending: true, kind: .integer)) }
}

extension SortBuilder {
  /// Adds a period, the earliest first.
  public static func buildExpression<Fetched>(_ period: PeriodValue<Fetched>) -> [SortTerm] { [period.ascending] }
}

extension GroupSortBuilder {
  /// Adds a period that is a key of the groups, the earliest first.
  public static func buildExpression<Fetched>(_ period: PeriodValue<Fetched>) -> [GroupSortTerm] {
    buildExpression(period.ascending)
  }
}
