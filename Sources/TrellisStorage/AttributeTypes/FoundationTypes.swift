public import Foundation
public import TrellisQuery
public import TrellisSchema

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
