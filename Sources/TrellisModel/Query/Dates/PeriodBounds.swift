import Foundation

/// The bounds of periods by Foundation's `Calendar`, in microseconds since 1970.
package struct PeriodBounds {
  private enum Kind {
    case component(Calendar.Component)
    case quarter
    case hour
  }

  private let kind: Kind
  private let calendar: Calendar

  package init(_ unit: PeriodUnit, _ calendar: QueryCalendar) {
    kind =
      switch unit {
      case .day: .component(.day)
      case .week: .component(.weekOfYear)
      case .month: .component(.month)
      case .quarter: .quarter
      case .year: .component(.year)
      }
    self.calendar = calendar.calendar
  }

  /// The hours of the day.
  init(hoursOf calendar: QueryCalendar) {
    kind = .hour
    self.calendar = calendar.calendar
  }

  /// The period that contains a moment. All moments before Foundation's calendars are in one period. If Foundation has no
  /// period for a later moment, the period is empty.
  package func bounds(of moment: Int64) -> (start: Int64, end: Int64) {
    switch kind {
    case .component(let component): bounds(of: moment, component)
    case .quarter: quarter(of: moment)
    case .hour: restOfHour(from: moment)
    }
  }

  /// A moment a few years after the first one of Foundation's calendars, which is that of the Julian period, in 4713 BC.
  private static let firstMoment: Int64 = -210_000_000_000_000_000

  /// The number of a component at a moment; nil before Foundation's calendars.
  func number(_ component: Calendar.Component, at moment: Int64) -> Int64? {
    if moment < Self.firstMoment && bounds(of: moment, .day).start == .min { return nil }
    return Int64(calendar.component(component, from: Self.date(moment)))
  }

  /// A period ends where the next one starts. Foundation's own end of a week is a day too late if the week has a day
  /// that the time zone skips, as in Samoa in 2011.
  private func bounds(of moment: Int64, _ component: Calendar.Component) -> (start: Int64, end: Int64) {
    let date = Self.date(moment)
    guard let own = calendar.dateInterval(of: component, for: date) else { return (moment, moment) }
    if own.start > date && moment < Self.firstMoment { return (.min, Self.micros(own.start)) }
    guard own.start <= date, own.end > date else { return (moment, moment) }
    guard let next = calendar.dateInterval(of: component, for: own.end), next.start > own.start else {
      return (Self.micros(own.start), Self.micros(own.end))
    }
    if next.start <= date { return (Self.micros(next.start), Self.micros(next.end)) }
    return (Self.micros(own.start), Self.micros(min(own.end, next.start)))
  }

  /// Three months, counted from the first month of the year. A 13th month belongs to the last quarter. Foundation's own
  /// quarters overlap in years with a leap month. The first years of Foundation's calendars are not divided.
  private func quarter(of moment: Int64) -> (start: Int64, end: Int64) {
    let year = bounds(of: moment, .year)
    guard year.start >= Self.firstMoment else { return year }
    var (start, next, months) = (year.start, year.start, 0)
    while next < year.end, months < 13 {
      let month = bounds(of: next, .month)
      guard month.end > next else { break }
      next = month.end
      months += 1
      guard months % 3 == 0, months < 12, next < year.end else { continue }
      if moment < next { return (start, next) }
      start = next
    }
    return (start, year.end)
  }

  /// The time from a moment to the end of the hour on the clock, or to the moment at which the time zone turns its clocks.
  /// Foundation's own hours are not those of the clock where the zone's offset is no multiple of a quarter of an hour.
  private func restOfHour(from moment: Int64) -> (start: Int64, end: Int64) {
    let second = moment.dividedDown(by: 1_000_000)
    let offset = offset(at: second)
    let sinceHour = second + offset - 3_600 * (second + offset).dividedDown(by: 3_600)
    var end = second + 3_600 - sinceHour
    if self.offset(at: end - 1) != offset {
      var low = second
      while end - low > 1 {
        let middle = low + (end - low) / 2
        if self.offset(at: middle) == offset { low = middle } else { end = middle }
      }
    }
    let (micros, isTooLarge) = end.multipliedReportingOverflow(by: 1_000_000)
    return (moment, isTooLarge ? .max : micros)
  }

  private func offset(at second: Int64) -> Int64 {
    Int64(calendar.timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
  }

  /// The second that contains a moment. Periods begin and end at whole seconds, which a Date represents exactly.
  private static func date(_ moment: Int64) -> Date {
    Date(timeIntervalSince1970: Double(moment.dividedDown(by: 1_000_000)))
  }

  private static func micros(_ date: Date) -> Int64 {
    let seconds = date.timeIntervalSince1970.rounded()
    guard let whole = Int64(exactly: seconds) else { return seconds < 0 ? .min : .max }
    let (micros, isTooLarge) = whole.multipliedReportingOverflow(by: 1_000_000)
    return isTooLarge ? (whole < 0 ? .min : .max) : micros
  }
}

extension Int64 {
  /// The quotient, rounded down.
  func dividedDown(by length: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: length)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
