public import TrellisSchema

/// The values of an object, or the part of them that one class of a hierarchy declares.
public protocol StoredFields {
  /// The value of a property by its number; nil if it belongs to another part.
  @_spi(Generated) func _value(_ property: Int) -> StoredValue?
}

extension StoredFields {
  /// The default implementation, for transient values, which are not part of a row.
  @_spi(Generated) public func _value(_ property: Int) -> StoredValue? { nil }
}

/// A copy of an object's row, kept from the first change until the next save or rollback.
@_spi(Generated) open class RowCopyBase {
  /// The part that the parent entity's class declares.
  public final let parent: RowCopyBase?

  init(parent: RowCopyBase?) { self.parent = parent }

  /// The part that a class of the hierarchy declares, in this copy or a parent.
  public final func part<Row: StoredFields>(_ type: Row.Type) -> Row? {
    var copy: RowCopyBase? = self
    while let current = copy {
      if let found = current as? RowCopy<Row> { return found.row }
      copy = current.parent
    }
    return nil
  }

  /// The value of a stored property by its number.
  func value(_ property: Int) -> StoredValue { .null }
}

/// The part of a copied row that one class declares.
@_spi(Generated) public final class RowCopy<Row: StoredFields>: RowCopyBase {
  /// The copied values.
  public let row: Row

  /// Creates a copy of the values, with the part of the parent entity's class.
  public init(_ row: Row, parent: RowCopyBase? = nil) {
    self.row = row
    super.init(parent: parent)
  }

  override func value(_ property: Int) -> StoredValue {
    row._value(property) ?? parent?.value(property) ?? .null
  }
}
