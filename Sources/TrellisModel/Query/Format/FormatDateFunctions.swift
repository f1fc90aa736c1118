import Foundation

/// The date functions of formats: `month(createdAt)`, `weekday(createdAt, 'Europe/Berlin')`.
enum FormatDateFunctions {
  /// The results by lowercase name.
  static let results = Dictionary(DateFunction.Result.all.map { ($0.name.lowercased(), $0) }) { first, _ in first }

  static let names = DateFunction.Result.all.map(\.name)

  static func type(_ function: DateFunction) -> FormatType {
    switch function.result {
    case .start: .date
    case .part: .integer
    }
  }

  /// The arguments after the date: nothing for the current calendar.
  static func calendar(_ function: DateFunction) -> String {
    guard let calendar = function.calendar else { return "" }
    let names = ", \(QuotedText.text(calendar.timeZone)), \(QuotedText.text(calendar.name))"
    return calendar.hasUsualWeeks ? names : names + ", \(calendar.firstWeekday), \(calendar.minimumDaysInFirstWeek)"
  }
}

extension FormatChecker {
  /// `month(createdAt)`, or with a time zone, a calendar, its first weekday and the days of its first week.
  mutating func date(
    _ result: DateFunction.Result, _ arguments: [FormatNode], _ start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    guard (1...5).contains(arguments.count), arguments.count != 4 else {
      throw error(
        .wrongArgument,
        "The function takes a date, then if needed a time zone, a calendar, and its first weekday with the fewest days of its first week.",
        at: start)
    }
    let (operand, type) = try typed(try side(arguments[0]), at: arguments[0].start)
    guard type == .date else {
      throw error(.typeMismatch, "This is \(type.name); a date is needed.", at: arguments[0].start)
    }
    let calendar = arguments.count == 1 ? nil : try self.calendar(Array(arguments.dropFirst()))
    let function = DateFunction(result, in: calendar)
    return .typed(.computed(.date(function, operand)), FormatDateFunctions.type(function))
  }

  private mutating func calendar(_ arguments: [FormatNode]) throws(PredicateFormatError) -> QueryCalendar {
    let zone = try name(arguments[0], "a time zone")
    if TimeZone(identifier: zone) == nil {
      throw unknown("time zone", zone, TimeZone.knownTimeZoneIdentifiers, at: arguments[0].start)
    }
    let kind = arguments.count > 1 ? try name(arguments[1], "a calendar") : "gregorian"
    if !QueryCalendar.names.contains(kind) {
      throw unknown("calendar", kind, QueryCalendar.names, at: arguments[1].start)
    }
    guard arguments.count > 2 else { return QueryCalendar(named: kind, timeZone: zone) }
    return QueryCalendar(
      named: kind, timeZone: zone, firstWeekday: try day(arguments[2]), minimumDaysInFirstWeek: try day(arguments[3]))
  }

  private mutating func name(_ node: FormatNode, _ what: String) throws(PredicateFormatError) -> String {
    switch try side(node) {
    case .text(let text), .argument(.value(.text(let text), .text)): return text
    default: throw error(.wrongArgument, "The name of \(what) is needed, as a text.", at: node.start)
    }
  }

  private mutating func day(_ node: FormatNode) throws(PredicateFormatError) -> Int {
    switch try side(node) {
    case .number(let digits): if let number = Int(digits), (1...7).contains(number) { return number }
    case .argument(.value(.integer(let number), .integer)): if (1...7).contains(number) { return Int(number) }
    default: break
    }
    throw error(.wrongArgument, "A whole number from 1 to 7 is needed.", at: node.start)
  }

  private func unknown(_ what: String, _ name: String, _ names: [String], at start: Int) -> PredicateFormatError {
    let closest = NearestName.closest(to: name, among: names)
    let all = names.count > 40 ? "." : "; there are \(names.joined(separator: ", "))."
    let hint = closest.map { "; did you mean '\($0)'?" } ?? all
    return error(
      .invalidConstant, "There is no \(what) '\(name.prefix(60))'\(hint)", at: start, suggestion: closest)
  }
}
