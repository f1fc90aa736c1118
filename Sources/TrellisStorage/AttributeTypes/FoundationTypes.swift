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
  /// The first moment of 1970 in UTC.
  @inlinable public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: -978_307_200) }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Date {
    Date(storedMicroseconds: row.integer(column))
  }

  @inlinable public func write(to row: RowWriter) { row.integer(storedMicroseconds) }
  @inlinable public var storedValue: StoredValue { .integer(storedMicroseconds) }
  @inlinable public func isSameStored(as other: Date) -> Bool { storedMicroseconds == other.storedMicroseconds }

  /// Microseconds since 1970-01-01T00:00:00Z, rounded; the nearest that 64 bits hold for dates beyond ±292,000 years. The least
  /// number stands for no date at all, a NaN, which a save refuses.
  @inlinable public var storedMicroseconds: Int64 {
    let micros = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
    // No calendar makes a NaN, but arithmetic can.
    if micros.isNaN { return .min }
    guard micros > -9.2e18 else { return .min + 1 }
    guard micros < 9.2e18 else { return .max }
    return Int64(micros) + 978_307_200_000_000
  }

  /// The date of a stored number of microseconds.
  @inlinable public init(storedMicroseconds micros: Int64) {
    let sinceReference = micros.subtractingReportingOverflow(978_307_200_000_000)
    let bounded = sinceReference.overflow ? Int64.min : sinceReference.partialValue
    self.init(timeIntervalSinceReferenceDate: Double(bounded) / 1_000_000)
  }

  /// The date as it comes back from a store: a whole number of microseconds.
  @inlinable public var roundedToMicroseconds: Date {
    // What is no date stays none, so that the save can refuse it.
    timeIntervalSinceReferenceDate.isNaN ? self : Date(storedMicroseconds: storedMicroseconds)
  }
}
