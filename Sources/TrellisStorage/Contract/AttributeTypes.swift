public import Foundation
public import TrellisModel

extension Bool: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  @inlinable public static var placeholder: Bool { false }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Bool { row.integer(column) != 0 }
  @inlinable public func write(to row: RowWriter) { row.integer(self ? 1 : 0) }
  @inlinable public var storedValue: StoredValue { .integer(self ? 1 : 0) }
}

extension Int64: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  @inlinable public static var placeholder: Int64 { 0 }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int64 { row.integer(column) }
  @inlinable public func write(to row: RowWriter) { row.integer(self) }
  @inlinable public var storedValue: StoredValue { .integer(self) }
}

extension Int32: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  @inlinable public static var placeholder: Int32 { 0 }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int32 { narrowed(row, column) }
  @inlinable public func write(to row: RowWriter) { row.integer(Int64(self)) }
  @inlinable public var storedValue: StoredValue { .integer(Int64(self)) }
}

extension Int16: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  @inlinable public static var placeholder: Int16 { 0 }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int16 { narrowed(row, column) }
  @inlinable public func write(to row: RowWriter) { row.integer(Int64(self)) }
  @inlinable public var storedValue: StoredValue { .integer(Int64(self)) }
}

extension Double: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .real }
  @inlinable public static var placeholder: Double { 0 }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Double { row.real(column) }
  @inlinable public func write(to row: RowWriter) { row.real(self) }
  @inlinable public var storedValue: StoredValue { .real(self) }
}

extension Float: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .real }
  @inlinable public static var placeholder: Float { 0 }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Float {
    let value = row.real(column)
    let narrow = Float(value)
    if narrow.isInfinite && value.isFinite { row.report(column, "the stored number does not fit Float") }
    return narrow
  }
  @inlinable public func write(to row: RowWriter) { row.real(Double(self)) }
  @inlinable public var storedValue: StoredValue { .real(Double(self)) }
}

/// Reads an integer of a type narrower than the stored one.
@inlinable func narrowed<Value: FixedWidthInteger>(_ row: RowReader, _ column: Int) -> Value {
  let value = row.integer(column)
  if let narrow = Value(exactly: value) { return narrow }
  row.report(column, "the stored number does not fit \(Value.self)")
  return 0
}

// MARK: - Texts

extension String: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .text }
  @inlinable public static var placeholder: String { "" }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> String { row.text(column) }
  @inlinable public func write(to row: RowWriter) { row.text(self) }
  @inlinable public var storedValue: StoredValue { .text(self) }
  @inlinable public func isSameStored(as other: String) -> Bool { TextBytes.areEqual(self, other) }
}

// MARK: - Foundation types

extension Date: SortableAttributeValue {}
extension Decimal: SortableAttributeValue {}
extension URL: SortableAttributeValue {}
extension UUID: SortableAttributeValue {}

extension UUID: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .blob }
  @inlinable public static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> UUID {
    let bytes = row.bytes(column)
    guard bytes.count == 16 else {
      row.report(column, "a UUID has 16 bytes")
      return placeholder
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }

  @inlinable public func write(to row: RowWriter) { withUnsafeBytes(of: uuid) { row.blob($0) } }
  @inlinable public var storedValue: StoredValue { withUnsafeBytes(of: uuid) { .blob([UInt8]($0)) } }
}

extension Data: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .blob }
  @inlinable public static var placeholder: Data { Data() }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Data { Data(row.bytes(column)) }
  @inlinable public func write(to row: RowWriter) { withUnsafeBytes { row.blob($0) } }
  @inlinable public var storedValue: StoredValue { .blob([UInt8](self)) }
}

extension URL: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .text }
  /// `about:blank`.
  public static let placeholder = URL(string: "about:blank") ?? URL(fileURLWithPath: "/")

  public static func read(_ row: RowReader, _ column: Int) -> URL {
    if let url = URL(string: row.text(column)) { return url }
    row.report(column, "the stored text is no URL")
    return placeholder
  }

  public func write(to row: RowWriter) { row.text(absoluteString) }
  public var storedValue: StoredValue { .text(absoluteString) }
  public func isSameStored(as other: URL) -> Bool { absoluteString.isSameStored(as: other.absoluteString) }
}

extension Date: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  /// The start of 1970 in UTC.
  @inlinable public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: -978_307_200) }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Date {
    let micros = row.integer(column)
    if micros.magnitude > mostMicroseconds { row.report(column, "the date lies beyond what can be kept") }
    return Date(storedMicroseconds: micros)
  }

  @inlinable public func write(to row: RowWriter) { row.integer(storedMicroseconds) }
  /// The stored form; NaN for a date that cannot be stored.
  @inlinable public var storedValue: StoredValue {
    let micros = storedMicroseconds
    return micros == .min ? .real(.nan) : .integer(micros)
  }
  @inlinable public func isSameStored(as other: Date) -> Bool { storedMicroseconds == other.storedMicroseconds }

  /// The greatest distance of a date from 1970 that can be stored: some 292,000 years.
  @usableFromInline static var mostMicroseconds: UInt64 { 9_222_000_000_000_000_000 }

  /// Microseconds since 1970-01-01T00:00:00Z, rounded. `Int64.min` stands for a date that cannot be stored and that a
  /// save refuses: NaN, infinity, or a date more than 292,000 years from 1970.
  @inlinable public var storedMicroseconds: Int64 {
    let micros = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
    // This is also false for NaN.
    guard micros.magnitude < 9.2229e18 else { return .min }
    let sinceBeginning = Int64(micros) + 978_307_200_000_000
    return sinceBeginning.magnitude > Self.mostMicroseconds ? .min : sinceBeginning
  }

  /// Creates a date from its stored number of microseconds.
  @inlinable public init(storedMicroseconds micros: Int64) {
    let sinceReference = micros.subtractingReportingOverflow(978_307_200_000_000)
    let bounded = sinceReference.overflow ? Int64.min : sinceReference.partialValue
    self.init(timeIntervalSinceReferenceDate: Double(bounded) / 1_000_000)
  }

  /// The date as a store returns it: rounded to whole microseconds.
  @inlinable public var roundedToMicroseconds: Date {
    let micros = storedMicroseconds
    // A date that cannot be stored stays unchanged, so that the save can refuse it.
    return micros == .min ? self : Date(storedMicroseconds: micros)
  }
}

// MARK: - Decimal value

extension Decimal: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .decimal }
  @inlinable public static var placeholder: Decimal { 0 }

  public static func read(_ row: RowReader, _ column: Int) -> Decimal {
    let text = row.text(column)
    // Foundation stops at the first unknown character, and rounds a number with too many digits.
    if isPlain(text), let value = Decimal(string: text, locale: nil),
      text.utf8.count <= 38 || value.canonicalText == text
    {
      return value
    }
    row.report(column, "the stored text is no decimal number")
    return 0
  }

  /// Whether a text consists of digits, with at most a leading sign and a point between digits.
  private static func isPlain(_ text: String) -> Bool {
    var digits = 0
    var hasPoint = false
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: "-") where index == 0: break
      case UInt8(ascii: ".") where !hasPoint && digits > 0: hasPoint = true
      default: return false
      }
    }
    return digits > 0
  }

  public func write(to row: RowWriter) { row.text(canonicalText) }
  public var storedValue: StoredValue { .text(canonicalText) }

  /// The number in plain digits, with a point if needed: no exponent, no redundant zeros, `0` without a sign.
  ///
  /// Equal numbers have equal texts, so a store needs no arithmetic for uniqueness and equality.
  public var canonicalText: String {
    // Foundation already prints the shortest plain form. NaN stays recognizable and is refused on save.
    isZero ? "0" : description
  }
}
