package import TrellisForeignFiles
import TrellisModel

/// What the sampled values of a column have in common.
package struct ObservedValues: Sendable {
  /// The numbers of values by kind.
  private(set) var integers = 0
  private(set) var reals = 0
  private(set) var texts = 0
  private(set) var blobs = 0
  private(set) var nulls = 0
  /// The integers that are 0 or 1.
  private(set) var bits = 0
  /// The numbers, as integers or reals, that are days of the Julian calendar in the years 1 to 9999.
  private(set) var julianDays = 0
  /// The integers that are years, days as 20200131, and moments as 20200131093005, between 1800 and 2199; the year 9999 in
  /// the latter two as well.
  private(set) var years = 0
  private(set) var writtenDays = 0
  private(set) var writtenMoments = 0
  /// The numbers that are moments between 2000 and 2100 if they count seconds, milliseconds or microseconds since 1970. No
  /// number is one of two of these, nor a day or a moment that is written.
  private(set) var likelySeconds = 0
  private(set) var likelyMilliseconds = 0
  private(set) var likelyMicroseconds = 0
  /// The reals that are whole, and those that are 0 or 1.
  private(set) var wholeReals = 0
  /// The texts of each form.
  private(set) var dates = 0
  private(set) var booleans = 0
  private(set) var decimals = 0
  private(set) var wholes = 0
  private(set) var uuids = 0
  private(set) var shortBlobs = 0
  /// The greatest magnitude of a number.
  private(set) var greatest: Double = 0
  /// The greatest length of a text in Unicode scalars.
  private(set) var longest = 0

  /// The most characters of a text that are looked at.
  static let mostCharacters = 8_192

  package init() {}

  /// The number of values that are not null.
  var count: Int { integers + reals + texts + blobs }

  /// Whether nine of ten values, or more, are among a number of them. A few may be mistakes.
  func isMostly(_ number: Int) -> Bool { number * 10 >= count * 9 }

  package mutating func add(_ value: ForeignValue) {
    switch value {
    case .null: nulls += 1
    case .integer(let value):
      integers += 1
      if value == 0 || value == 1 { bits += 1 }
      if (1_800...2_199).contains(value) { years += 1 }
      if DateForm.isWritten(day: value) { writtenDays += 1 }
      if DateForm.isWritten(moment: value) { writtenMoments += 1 }
      note(Double(value))
    case .real(let value):
      reals += 1
      if Int64(exactly: value) != nil { wholeReals += 1 }
      note(value)
    case .text(let text): add(text)
    case .unsound: texts += 1
    case .blob(let bytes):
      blobs += 1
      if bytes.count == 16 { shortBlobs += 1 }
    }
  }

  private mutating func note(_ number: Double) {
    greatest = max(greatest, number.magnitude)
    if DateForm.daysOfCalendar.contains(number) { julianDays += 1 }
    if DateForm.likelySeconds.contains(number) { likelySeconds += 1 }
    if DateForm.likelySeconds.contains(number / 1_000) { likelyMilliseconds += 1 }
    if DateForm.likelySeconds.contains(number / 1_000_000) { likelyMicroseconds += 1 }
  }

  private mutating func add(_ text: String) {
    texts += 1
    longest = max(longest, text.unicodeScalars.count)
    // A long text has no form of these.
    guard text.utf8.count <= 64 else { return }
    if DateForm.text.microseconds(.text(text)) != nil { dates += 1 }
    if BooleanText.value(text) != nil { booleans += 1 }
    if DecimalText.canonical(text) != nil { decimals += 1 }
    if Int64(text) != nil { wholes += 1 }
    if UUIDText.bytes(text) != nil { uuids += 1 }
  }
}

/// Truth values as texts.
enum BooleanText {
  static func value(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "t", "yes", "y", "1": true
    case "false", "f", "no", "n", "0": false
    default: nil
    }
  }
}
