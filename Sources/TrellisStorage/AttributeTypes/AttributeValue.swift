public import TrellisQuery
public import TrellisSchema

/// A Swift type that an attribute can have. It defines how a value is read from a row, written to a row, and compared.
///
/// The model's own types conform already. A `Codable` struct of the app conforms to ``CodableAttribute`` instead.
public protocol AttributeValue: Hashable, Sendable, PredicateArgument {
  /// The value that an attribute of this type reads as while the object's row is not loaded.
  static var placeholder: Self { get }
  /// Reads a column. If the value is invalid, reports it to the row and returns the placeholder.
  static func read(_ row: RowReader, _ column: Int) -> Self
  /// Writes the value as the row's next column.
  func write(to row: RowWriter)
  /// The value in its stored form.
  var storedValue: StoredValue { get }
  /// The order and equality of values of this type in predicates and sorts.
  static var valueKind: ValueKind { get }
  /// Whether both values have the same stored form. Unlike `==`, this compares texts by their bytes.
  func isSameStored(as other: Self) -> Bool
}

extension AttributeValue {
  @inlinable public func isSameStored(as other: Self) -> Bool { self == other }
}

/// A type that a fetch can sort by: every attribute type except lists, data and `Codable` structs.
public protocol SortableAttributeValue: AttributeValue {}

extension Bool: SortableAttributeValue {}
extension Int16: SortableAttributeValue {}
extension Int32: SortableAttributeValue {}
extension Int64: SortableAttributeValue {}
extension Float: SortableAttributeValue {}
extension Double: SortableAttributeValue {}
extension String: SortableAttributeValue {}
extension Optional: SortableAttributeValue where Wrapped: SortableAttributeValue {}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  @inlinable public static var placeholder: Wrapped? { nil }
  @inlinable public static var valueKind: ValueKind { Wrapped.valueKind }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Wrapped? {
    row.isNull(column) ? nil : Wrapped.read(row, column)
  }

  @inlinable public func write(to row: RowWriter) {
    if let self { self.write(to: row) } else { row.null() }
  }

  @inlinable public var storedValue: StoredValue { self?.storedValue ?? .null }

  @inlinable public func isSameStored(as other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let a?, let b?): a.isSameStored(as: b)
    default: false
    }
  }
}
