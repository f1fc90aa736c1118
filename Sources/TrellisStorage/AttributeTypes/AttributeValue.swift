public import TrellisQuery
public import TrellisSchema

/// A Swift type that an attribute can have: how it is read from a row, written to one, and compared.
///
/// The model's own types conform by themselves. A `Codable` struct of yours conforms to ``CodableAttribute`` instead.
public protocol AttributeValue: Hashable, Sendable, PredicateArgument {
  /// What an attribute of this type reads as while its object's row is not there.
  static var placeholder: Self { get }
  /// Reads a column; a value that does not fit is reported to the row, and the placeholder returned.
  static func read(_ row: RowReader, _ column: Int) -> Self
  /// Writes the value as the row's next column.
  func write(to row: RowWriter)
  /// The value as stores keep it.
  var storedValue: StoredValue { get }
  /// How values of this type are compared by predicates and sorts.
  static var valueKind: ValueKind { get }
  /// Whether both are the same when stored. Texts are compared by their bytes, which `==` does not do.
  func isSameStored(as other: Self) -> Bool
}

extension AttributeValue {
  @inlinable public func isSameStored(as other: Self) -> Bool { self == other }
}

/// A type by which a fetch can sort: every type of the model but lists, data and `Codable` structs.
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
