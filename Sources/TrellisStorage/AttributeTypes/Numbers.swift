public import TrellisQuery
public import TrellisSchema

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
