public import Foundation

/// A function of a date: the start of the period that contains it, or one of its parts.
///
/// Periods and parts are computed by Foundation's `Calendar` in every store, so that they are the same everywhere: no
/// store uses its own time zones.
public struct DateFunction: Hashable, Sendable {
  /// The result of a function.
  public enum Result: Hashable, Sendable {
    /// The start of the period that contains the date, in microseconds since 1970. The result of a date before the range
    /// of the calendar is `Int64.min`: all of these dates are in one period.
    case start(PeriodUnit)
    /// A number that is the same in many periods, such as the weekday. Nil for a date before the range of the calendar.
    case part(DatePart)
  }

  /// The result.
  public var result: Result
  /// The calendar; nil for the calendar and time zone of the program at the time of the request.
  public var calendar: QueryCalendar?

  /// Creates a function.
  public init(_ result: Result, in calendar: QueryCalendar?) {
    self.result = result
    self.calendar = calendar
  }

  /// The function with the calendar that it uses now.
  ///
  /// - Throws: ``EvaluationError`` if the calendar is not known.
  package func settled() throws(EvaluationError) -> DateFunction {
    let calendar = calendar ?? .current
    guard calendar.isKnown else {
      throw EvaluationError(
        "A request uses the calendar \(calendar.name) with the time zone \(calendar.timeZone), which are not known.")
    }
    return DateFunction(result, in: calendar)
  }
}

/// The length of a period.
public enum PeriodUnit: String, Hashable, Sendable, CaseIterable {
  /// A day, from its first moment, which is midnight in most time zones.
  case day
  /// A week, from the calendar's first weekday.
  case week
  /// A month.
  case month
  /// A quarter of a year.
  case quarter
  /// A year.
  case year
}

/// A number that describes a date within a longer period.
public enum DatePart: String, Hashable, Sendable, CaseIterable {
  /// The day of the week, from 1 for Sunday to 7 for Saturday.
  case weekday
  /// The hour of the day, from 0 to 23.
  case hourOfDay
  /// The day of the month, from 1.
  case dayOfMonth
  /// The day of the year, from 1.
  case dayOfYear
  /// The week of the year, from 1, by the calendar's rules for the first week.
  case weekOfYear
  /// The month of the year, from 1. Leap months of the Chinese calendar have the number of the month before them.
  case monthOfYear
  /// The year of the era.
  case yearOfEra
}

// MARK: - Calendar

/// What a calendar needs to divide time into periods, by names that can be stored and compared: the kind of calendar, its
/// time zone and its weeks.
public struct QueryCalendar: Hashable, Sendable {
  /// The name of the kind of calendar: `gregorian`, `buddhist`, `japanese`.
  public let name: String
  /// The identifier of the time zone: `Europe/Berlin`.
  public let timeZone: String
  /// The first day of the week, from 1 for Sunday to 7 for Saturday.
  public let firstWeekday: Int
  /// The number of days that the first week of a year must have, from 1 to 7.
  public let minimumDaysInFirstWeek: Int

  /// The calendar of the program.
  public static var current: QueryCalendar { QueryCalendar(.current) }

  /// Takes the kind, time zone and weeks of a calendar. Its locale makes no difference beyond them.
  public init(_ calendar: Calendar) {
    name = "\(calendar.identifier)"
    timeZone = calendar.timeZone.identifier
    firstWeekday = calendar.firstWeekday
    minimumDaysInFirstWeek = calendar.minimumDaysInFirstWeek
  }

  /// Creates a calendar by its names. A request with a calendar that is not known fails.
  ///
  /// - Parameters:
  ///   - name: the kind of calendar, one of ``names``.
  ///   - timeZone: an identifier such as `Europe/Berlin` or `GMT+9`.
  ///   - firstWeekday: the first day of the week, from 1 for Sunday to 7; nil for that of the kind of calendar.
  ///   - minimumDaysInFirstWeek: from 1 to 7; nil for that of the kind of calendar.
  public init(named name: String, timeZone: String, firstWeekday: Int? = nil, minimumDaysInFirstWeek: Int? = nil) {
    let usual = Calendar(identifier: Self.identifiers[name] ?? .gregorian)
    self.name = name
    self.timeZone = timeZone
    self.firstWeekday = firstWeekday ?? usual.firstWeekday
    self.minimumDaysInFirstWeek = minimumDaysInFirstWeek ?? usual.minimumDaysInFirstWeek
  }

  /// Whether Foundation has the kind of calendar and the time zone, and the numbers are in their ranges.
  var isKnown: Bool {
    Self.identifiers[name] != nil && TimeZone(identifier: timeZone) != nil && (1...7).contains(firstWeekday)
      && (1...7).contains(minimumDaysInFirstWeek)
  }

  /// Whether the numbers are those that the kind of calendar has by itself.
  var hasUsualWeeks: Bool { self == QueryCalendar(named: name, timeZone: timeZone) }

  /// The names of the kinds of calendars.
  public static var names: [String] { identifiers.keys.sorted() }

  private static let identifiers: [String: Calendar.Identifier] = {
    var all: [Calendar.Identifier] = [
      .gregorian, .iso8601, .buddhist, .chinese, .coptic, .ethiopicAmeteMihret, .ethiopicAmeteAlem, .hebrew, .indian,
      .islamic, .islamicCivil, .islamicTabular, .islamicUmmAlQura, .japanese, .persian, .republicOfChina,
    ]
    // Foundation has had them since this compiler.
    #if compiler(>=6.3)
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { all += [.dangi, .vietnamese] }
    #endif
    return Dictionary(all.map { ("\($0)", $0) }) { first, _ in first }
  }()

  /// Foundation's calendar. One that is not known is Gregorian.
  public var calendar: Calendar {
    var calendar = Calendar(identifier: Self.identifiers[name] ?? .gregorian)
    if let zone = TimeZone(identifier: timeZone) { calendar.timeZone = zone }
    calendar.firstWeekday = firstWeekday
    calendar.minimumDaysInFirstWeek = minimumDaysInFirstWeek
    return calendar
  }
}

// MARK: - Text form

extension DateFunction.Result {
  /// The name of the unit or of the part. No two results have the same.
  var name: String {
    switch self {
    case .start(let unit): unit.rawValue
    case .part(let part): part.rawValue
    }
  }

  static let all = PeriodUnit.allCases.map(Self.start) + DatePart.allCases.map(Self.part)
}

extension DateFunction {
  /// The function as one text, which statements pass as a parameter.
  ///
  /// - Precondition: the calendar is settled; otherwise the text is that of the current one.
  package var code: String {
    let rules = calendar ?? .current
    return "\(result.name) \(rules.name) \(rules.timeZone) \(rules.firstWeekday) \(rules.minimumDaysInFirstWeek)"
  }

  /// The function of a text that ``code`` has written; nil for any other text.
  package init?(code: String) {
    let words = code.split(separator: " ").map(String.init)
    guard words.count == 5, let result = Result.all.first(where: { $0.name == words[0] }),
      let first = Int(words[3]), let minimum = Int(words[4])
    else { return nil }
    self.init(
      result,
      in: QueryCalendar(named: words[1], timeZone: words[2], firstWeekday: first, minimumDaysInFirstWeek: minimum))
  }
}
