import Foundation

/// A date function with a cache of the bounds of periods, so that most dates need no calendar.
///
/// Time is divided into spans of equal length. The first lookup in a span computes all periods of that span; later ones
/// only search among them.
package final class DateLookup: Sendable {
  private struct Segment {
    let start: Int64
    let value: StoredValue
  }

  private struct Memory {
    var spans: [Int64: [Segment]] = [:]
    /// The span of the last date, because neighbors are often in the same one.
    var last: (number: Int64, segments: [Segment])?
  }

  private let result: DateFunction.Result
  private let bounds: PeriodBounds
  /// The length of a span in microseconds.
  private let spanLength: Int64
  private let memory = Locked(Memory())

  /// The number of cached spans at which the cache is emptied.
  private static let mostSpans = 4096

  private static let day: Int64 = 86_400_000_000

  /// - Parameter function: a settled function. One without a calendar uses the current one.
  private init(_ function: DateFunction) {
    let calendar = function.calendar ?? .current
    result = function.result
    switch function.result {
    case .start(let unit):
      bounds = PeriodBounds(unit, calendar)
      spanLength = Self.day * (unit == .day || unit == .week ? 64 : 4096)
    case .part(let part):
      bounds = part == .hourOfDay ? PeriodBounds(hoursOf: calendar) : PeriodBounds(.day, calendar)
      spanLength = Self.day * (part == .hourOfDay ? 1 : 64)
    }
  }

  /// The result for a date; null for any other value.
  ///
  /// - Complexity: O(log *p*) in the number of periods of a span, at most 140. The first date of a span needs a few calls
  ///   of the calendar for each of its periods.
  package func value(of date: StoredValue) -> StoredValue {
    guard case .integer(let micros) = date else { return .null }
    return memory.withLock { memory in
      let number = micros.dividedDown(by: spanLength)
      if let last = memory.last, last.number == number { return Self.value(at: micros, last.segments) }
      let segments = segments(ofSpan: number, &memory)
      memory.last = (number, segments)
      return Self.value(at: micros, segments)
    }
  }

  /// The bounds of the spans from one date through another: the start of each piece of a period, and the result there.
  ///
  /// - Returns: nil if there are more spans than `most`.
  package func bounds(
    from first: Int64, through last: Int64, atMost most: Int64
  ) -> [(start: Int64, value: StoredValue)]? {
    let spans = first.dividedDown(by: spanLength)...max(first, last).dividedDown(by: spanLength)
    guard spans.count <= most else { return nil }
    return memory.withLock { memory in
      spans.flatMap { span in segments(ofSpan: span, &memory).map { ($0.start, $0.value) } }
    }
  }

  private static func value(at micros: Int64, _ segments: [Segment]) -> StoredValue {
    let end = segments.endOfPrefix { $0.start <= micros }
    return end == 0 ? .null : segments[end - 1].value
  }

  private func segments(ofSpan number: Int64, _ memory: inout Memory) -> [Segment] {
    if let known = memory.spans[number] { return known }
    let segments = segments(ofSpan: number)
    if memory.spans.count >= Self.mostSpans { memory.spans = [:] }
    memory.spans[number] = segments
    return segments
  }

  /// The bounds in a span: the start of each piece of a period and the result there. The first start is that of the span.
  private func segments(ofSpan number: Int64) -> [Segment] {
    let (product, isTooLow) = number.multipliedReportingOverflow(by: spanLength)
    let first = isTooLow ? Int64.min : product
    let (sum, isTooHigh) = first.addingReportingOverflow(spanLength)
    let end = isTooHigh ? Int64.max : sum
    var segments: [Segment] = []
    var start = first
    while start < end {
      let period = bounds.bounds(of: start)
      segments.append(Segment(start: start, value: value(start, period.start)))
      if period.end <= start { break }
      start = period.end
    }
    return segments
  }

  private func value(_ moment: Int64, _ start: Int64) -> StoredValue {
    switch result {
    case .start: .integer(start)
    case .part(let part): bounds.number(part.component, at: moment).map { .integer($0) } ?? .null
    }
  }
}

extension DatePart {
  fileprivate var component: Calendar.Component {
    switch self {
    case .weekday: .weekday
    case .hourOfDay: .hour
    case .dayOfMonth: .day
    case .dayOfYear: .dayOfYear
    case .weekOfYear: .weekOfYear
    case .monthOfYear: .month
    case .yearOfEra: .year
    }
  }
}

// MARK: - Shared lookups

extension DateLookup {
  private static let shared = Locked<[DateFunction: DateLookup]>([:])
  private static let mostShared = 32

  /// The lookup of a settled function. The last functions of the program share their memory between requests.
  package static func of(_ function: DateFunction) -> DateLookup {
    shared.withLock { known in
      if let lookup = known[function] { return lookup }
      if known.count >= mostShared { known = [:] }
      let lookup = DateLookup(function)
      known[function] = lookup
      return lookup
    }
  }
}
