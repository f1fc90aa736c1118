package import TrellisForeignFiles
import TrellisModel

/// How a column holds dates.
package enum DateForm: String, Hashable, Sendable {
  /// ISO 8601, with `T` or a space before the time, and UTC if there is no zone.
  case text
  case seconds, milliseconds, microseconds
  /// Integers whose digits are those of a day, as 20200131, and of a moment in UTC, as 20200131093005.
  case days, moments
  /// Days since noon of 1 January 4713 BC, as SQLite counts them.
  case julianDays

  /// The days from year 1 to year 9999.
  static let daysOfCalendar: ClosedRange<Double> = 1_721_425.5...5_373_484.5

  /// From 2000 to 2100, in seconds since 1970.
  static let likelySeconds: Range<Double> = 946_684_800..<4_102_444_800

  /// The form that the sampled values of a column have, as far as it is certain; nil for values of other kinds, and for
  /// numbers that may be dates in two forms.
  ///
  /// SQLite makes an integer of the text `1999` or `20200131` in a column that is declared DATE, so that a number alone says
  /// little. Written days and moments show in their digits. A unit is certain if half of the values, or more, are of this
  /// century in it, and none is of another form: 700,000,000 is of 1992 or, since 2001, of 2023.
  static func common(of observed: ObservedValues) -> DateForm? {
    if observed.isMostly(observed.dates) { return .text }
    let numbers = observed.integers + observed.reals
    guard observed.isMostly(numbers) else { return nil }
    if observed.isMostly(observed.writtenDays) { return .days }
    if observed.isMostly(observed.writtenMoments) { return .moments }
    if observed.reals > 0, observed.julianDays == numbers { return .julianDays }
    let units: [(form: DateForm, count: Int)] = [
      (.seconds, observed.likelySeconds), (.milliseconds, observed.likelyMilliseconds),
      (.microseconds, observed.likelyMicroseconds),
    ]
    let found = units.filter { $0.count > 0 }
    guard found.count == 1, found[0].count * 2 >= numbers,
      observed.years + observed.writtenDays + observed.writtenMoments == 0
    else { return nil }
    return found[0].form
  }

  /// Why numbers of a column for dates are none here, as the end of a sentence.
  static func doubt(of observed: ObservedValues) -> String {
    let numbers = observed.integers + observed.reals
    if observed.years == numbers { return "which are years" }
    if observed.years + observed.writtenDays > 0 { return "whose form of dates is not certain" }
    switch observed.greatest {
    case ..<100_000_000: return "whose form of dates is not certain"
    case ..<likelySeconds.lowerBound: return "whose unit is not certain (seconds since 1970, or since 2001)"
    default: return "whose unit is not certain"
    }
  }

  /// The form in sentences.
  var phrase: String {
    switch self {
    case .text: "texts, read as UTC where they name no zone"
    case .seconds: "seconds since 1970"
    case .milliseconds: "milliseconds since 1970"
    case .microseconds: "microseconds since 1970"
    case .days: "days as 20200131"
    case .moments: "moments as 20200131093005, in UTC"
    case .julianDays: "Julian days"
    }
  }

  /// The stored form of a value; nil if it is no date in this form.
  package func microseconds(_ value: ForeignValue) -> Int64? {
    guard let found = unboundedMicroseconds(value), DateText.isKept(found) else { return nil }
    return found
  }

  private func unboundedMicroseconds(_ value: ForeignValue) -> Int64? {
    switch (self, value) {
    case (.text, .text(let text)): Self.microseconds(text)
    case (.seconds, .integer(let number)): Self.product(number, 1_000_000)
    case (.milliseconds, .integer(let number)): Self.product(number, 1_000)
    case (.microseconds, .integer(let number)): number
    case (.days, .integer(let number)): Self.microseconds(day: number)
    case (.moments, .integer(let number)): Self.microseconds(moment: number)
    case (.days, .real(let number)): Int64(exactly: number).flatMap { Self.microseconds(day: $0) }
    case (.moments, .real(let number)): Int64(exactly: number).flatMap { Self.microseconds(moment: $0) }
    case (.seconds, .real(let number)): Self.rounded(number * 1_000_000)
    case (.milliseconds, .real(let number)): Self.rounded(number * 1_000)
    case (.microseconds, .real(let number)): Self.rounded(number)
    // A day in this notation is exact to some 40 microseconds; SQLite itself counts milliseconds.
    case (.julianDays, .real(let number)): Self.rounded(((number - 2_440_587.5) * 86_400_000).rounded() * 1_000)
    case (.julianDays, .integer(let number)): Self.rounded((Double(number) - 2_440_587.5) * 86_400_000_000)
    default: nil
    }
  }

  // MARK: Digits

  /// Whether the digits of a number are those of a day, of a year that data is of; 9999 stands for no end.
  static func isWritten(day number: Int64) -> Bool {
    let year = number / 10_000
    return ((1_800...2_199).contains(year) || year == 9_999) && microseconds(day: number) != nil
  }

  static func isWritten(moment number: Int64) -> Bool {
    let year = number / 10_000_000_000
    return ((1_800...2_199).contains(year) || year == 9_999) && microseconds(moment: number) != nil
  }

  private static func microseconds(day number: Int64) -> Int64? {
    guard (10_101...99_991_231).contains(number) else { return nil }
    return DateText.microseconds(
      "\(digits(number / 10_000, 4))-\(digits(number / 100 % 100, 2))-\(digits(number % 100, 2))")
  }

  private static func microseconds(moment number: Int64) -> Int64? {
    let (day, time) = number.quotientAndRemainder(dividingBy: 1_000_000)
    guard let start = microseconds(day: day) else { return nil }
    let (hours, minutes, seconds) = (time / 10_000, time / 100 % 100, time % 100)
    guard (0..<24).contains(hours), minutes < 60, seconds < 60 else { return nil }
    return start + ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  // MARK: Units

  private static func product(_ number: Int64, _ factor: Int64) -> Int64? {
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
    return isTooLarge ? nil : product
  }

  private static func rounded(_ number: Double) -> Int64? { Int64(exactly: number.rounded()) }

  /// A date in the notations of SQLite and PostgreSQL: a space for the `T`, more than six digits of a fraction, a zone as
  /// `+02`, `+0200` or `UTC`, and none for UTC.
  private static func microseconds(_ text: String) -> Int64? {
    var bytes = Array(text.utf8)
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    guard bytes.count >= 10 else { return nil }
    if bytes.count == 10 { return DateText.microseconds(String(decoding: bytes, as: UTF8.self)) }
    guard
      let split = bytes.firstIndex(where: { [UInt8(ascii: " "), UInt8(ascii: "T"), UInt8(ascii: "t")].contains($0) })
    else { return nil }
    let day = bytes[..<split]
    var time = Array(bytes[(split + 1)...])
    var zone = "Z"
    if let last = time.last, last == UInt8(ascii: "Z") || last == UInt8(ascii: "z") {
      time.removeLast()
    } else if let sign = time.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
      guard let found = Self.zone(time[sign...]) else { return nil }
      zone = found
      time.removeSubrange(sign...)
    }
    while time.last == UInt8(ascii: " ") { time.removeLast() }
    // What is finer than a microsecond is cut off.
    if let point = time.firstIndex(of: UInt8(ascii: ".")), time.count > point + 7 {
      guard time[(point + 1)...].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      time.removeSubrange((point + 7)...)
    }
    return DateText.microseconds(String(decoding: day + [UInt8(ascii: "T")] + time, as: UTF8.self) + zone)
  }

  /// A zone as `+09:00`, from that, `+09` or `+0900`.
  private static func zone(_ bytes: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    return switch bytes.count {
    case 3: text + ":00"
    case 5: String(text.prefix(3)) + ":" + String(text.suffix(2))
    case 6: text
    default: nil
    }
  }
}
