import Foundation
import TrellisModel
@_spi(Generated) import TrellisStorage

/// Makes values of one attribute that its rules allow.
struct SampleValues {
  let attribute: Attribute
  private let rules: CheckedAttribute?
  private let pattern: PatternSample?
  private let bounds: AttributeRules
  /// The number of values that were made, which makes texts and numbers distinct.
  private var count = 0
  /// The number of attempts to make one value.
  private static let attempts = 200

  init(_ attribute: Attribute) {
    self.attribute = attribute
    bounds = attribute.description.rules
    rules = CheckedAttribute(attribute)
    pattern = bounds.pattern.flatMap { try? PatternSample($0) }
  }

  /// A value; nil if none was found that the rules allow.
  ///
  /// - Parameter isUnique: whether the value should differ from those before.
  mutating func next(isUnique: Bool, _ random: inout SeedNumbers) -> StoredValue? {
    count += 1
    if attribute.isOptional && !isUnique && random.isOne(in: 5) { return .null }
    for attempt in 0..<Self.attempts {
      guard let made = make(attempt, isUnique, &random), let value = try? attribute.checked(made) else { continue }
      if rules?.failures(of: value).isEmpty ?? true { return value }
    }
    return attribute.isOptional ? .null : nil
  }

  private func make(_ attempt: Int, _ isUnique: Bool, _ random: inout SeedNumbers) -> StoredValue? {
    let type = attribute.type
    switch type {
    case .integer: return integer(type.integerRange, isUnique, &random)
    case .date: return date(isUnique, &random)
    case .float, .double: return real(&random)
    case .decimal: return decimal(attempt, &random)
    case .string: return .text(pattern?.text(more: attempt / 20, &random) ?? text(isUnique, &random))
    case .data: return .blob((0..<length(usual: 16, &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    case .array(let element): return list(of: element, isUnique, &random)
    case .codable: return .text("{}")
    case .bool, .uuid, .url, .enumeration: return scalar(type, &random)
    }
  }

  // MARK: Scalars

  /// A value of a type without regard to rules.
  private func scalar(_ type: AttributeType, _ random: inout SeedNumbers) -> StoredValue {
    switch type {
    case .bool: .integer(Int64.random(in: 0...1, using: &random))
    case .integer: .integer(Int64.random(in: 0...999, using: &random))
    case .float, .double: .real(Double(Int.random(in: 0...9_999, using: &random)) / 8)
    case .decimal: .text("\(Int.random(in: 0...999, using: &random))")
    case .date: .integer(Self.day(in: 18_262...20_453, &random))
    case .data, .uuid: .blob((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
    case .url: .text("https://example.org/\(Self.word(&random))/\(count)")
    case .enumeration: attribute.enumeration?.cases.randomElement(using: &random)?.rawValue ?? .null
    case .string, .array, .codable: .text(Self.word(&random))
    }
  }

  private func integer(
    _ range: ClosedRange<Int64>, _ isUnique: Bool, _ random: inout SeedNumbers
  ) -> StoredValue {
    let low = max(range.lowerBound, bounds.minimum.flatMap(Self.integer) ?? 0)
    let high = min(range.upperBound, bounds.maximum.flatMap(Self.integer) ?? max(low, low &+ 999))
    // A least value alone may be above the usual numbers, and a greatest value alone below them.
    let lowest =
      bounds.minimum == nil && low > high ? max(range.lowerBound, high.subtractingReportingOverflow(999).0) : low
    guard lowest <= high else { return .integer(lowest) }
    if isUnique {
      return .integer(Self.offset(lowest, UInt64(count - 1), in: lowest...high, isOpen: bounds.maximum == nil))
    }
    return .integer(Int64.random(in: lowest...high, using: &random))
  }

  /// The number at a distance from the start of a range, which wraps around at its end unless the range is open.
  private static func offset(_ low: Int64, _ distance: UInt64, in range: ClosedRange<Int64>, isOpen: Bool) -> Int64 {
    let size = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    let wrapped = isOpen || size == .max ? distance : distance % (size + 1)
    let (sum, overflow) = low.addingReportingOverflow(Int64(clamping: wrapped))
    return overflow ? range.upperBound : sum
  }

  private static func integer(_ bound: StoredValue) -> Int64? {
    if case .integer(let number) = bound { number } else { nil }
  }
  private static func real(_ bound: StoredValue) -> Double? {
    if case .real(let number) = bound { number } else { nil }
  }

  private func date(_ isUnique: Bool, _ random: inout SeedNumbers) -> StoredValue {
    let usual = Self.day(in: 18_262...20_453, &random)
    let low = bounds.minimum.flatMap(Self.integer)
    let high = bounds.maximum.flatMap(Self.integer)
    if low ?? .min <= usual && usual <= high ?? .max { return .integer(isUnique ? usual &+ Int64(count) : usual) }
    let day: Int64 = 86_400_000_000
    let start = low ?? (high ?? 0).subtractingReportingOverflow(day &* 365).partialValue
    let end = high ?? start.addingReportingOverflow(day &* 365).partialValue
    return .integer(start <= end ? Int64.random(in: start...end, using: &random) : start)
  }

  /// A minute of a random day, in microseconds since 1970.
  private static func day(in days: ClosedRange<Int64>, _ random: inout SeedNumbers) -> Int64 {
    (Int64.random(in: days, using: &random) * 1_440 + Int64.random(in: 0..<1_440, using: &random)) * 60_000_000
  }

  private func real(_ random: inout SeedNumbers) -> StoredValue {
    let low = bounds.minimum.flatMap(Self.real) ?? min(0, bounds.maximum.flatMap(Self.real).map { $0 - 1_000 } ?? 0)
    let high = bounds.maximum.flatMap(Self.real) ?? max(low, 0) + 1_000
    let part = Double(Int.random(in: 0...8_000, using: &random)) / 8_000
    // The difference of two bounds may be infinite.
    let number = low * (1 - part) + high * part
    let rounded = (number * 8).rounded() / 8
    return .real(rounded >= low && rounded <= high ? rounded : number)
  }

  private func decimal(_ attempt: Int, _ random: inout SeedNumbers) -> StoredValue? {
    let low = bounds.minimum.flatMap(Self.decimal)
    let high = bounds.maximum.flatMap(Self.decimal)
    let usual = Decimal(Int.random(in: 0...99_999, using: &random)) / 100
    let number: Decimal =
      switch (low, high) {
      case (nil, nil): usual
      case (let low?, nil): low > 0 || attempt > 0 ? low + usual : usual
      case (nil, let high?): high - usual
      case (let low?, let high?): low + (high - low) * Decimal(Int.random(in: 0...16, using: &random)) / 16
      }
    // The last attempts are the bounds themselves, which may have more digits than a sum of them.
    if attempt > 100, let bound = attempt % 2 == 0 ? low ?? high : high ?? low { return .text(bound.canonicalText) }
    return .text(number.canonicalText)
  }

  private static func decimal(_ bound: StoredValue) -> Decimal? {
    if case .text(let text) = bound { Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) } else { nil }
  }

  // MARK: Texts and lists

  private static let words = [
    "sea", "river", "stone", "cloud", "paper", "window", "coffee", "bridge", "garden", "lamp", "winter", "letter",
    "커피", "산책", "바다", "café", "naïve", "orange", "silver", "north",
  ]

  private static func word(_ random: inout SeedNumbers) -> String { words.randomElement(using: &random) ?? "word" }

  private func length(usual: Int, _ random: inout SeedNumbers) -> Int {
    let least = min(bounds.minimumLength ?? 0, 100_000)
    let most = min(bounds.maximumLength ?? max(usual, least), max(usual, least))
    return Int.random(in: least...max(least, most), using: &random)
  }

  private func text(_ isUnique: Bool, _ random: inout SeedNumbers) -> String {
    let number = isUnique ? " \(count)" : ""
    let least = min(bounds.minimumLength ?? 1, 100_000)
    let most = (bounds.maximumLength ?? .max) - number.unicodeScalars.count
    var text = Self.word(&random)
    let words = Int.random(in: 0...2, using: &random)
    // Whole words as far as they fit.
    for place in 0..<10_000 {
      let isShort = text.unicodeScalars.count + number.unicodeScalars.count < least
      let next = text + " " + Self.word(&random)
      guard isShort || place < words, isShort || next.unicodeScalars.count <= most else { break }
      text = next
    }
    if text.unicodeScalars.count <= most { return text + number }
    if isUnique && most < 4 { return Self.digits(of: count, least: least, most: bounds.maximumLength ?? .max) }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(max(0, most)))) + number
  }

  /// A short text that a number determines.
  private static func digits(of number: Int, least: Int, most: Int) -> String {
    let text = String(number, radix: 36)
    return text.count > most ? text : String(repeating: "0", count: max(0, least - text.count)) + text
  }

  private func list(of element: AttributeType, _ isUnique: Bool, _ random: inout SeedNumbers) -> StoredValue? {
    let values = (0..<length(usual: isUnique ? 6 : 3, &random)).map { _ in scalar(element, &random) }
    return ListText.text(values, of: element).map(StoredValue.text)
  }
}
