public import TrellisQuery
public import TrellisSchema

extension String: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .text }
  @inlinable public static var placeholder: String { "" }
  @inlinable public static func read(_ row: RowReader, _ column: Int) -> String { row.text(column) }
  @inlinable public func write(to row: RowWriter) { row.text(self) }
  @inlinable public var storedValue: StoredValue { .text(self) }
  @inlinable public func isSameStored(as other: String) -> Bool { TextBytes.areEqual(self, other) }
}
