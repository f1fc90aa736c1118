public import TrellisSchema

/// The values of one object, or the part of them that one class of a hierarchy holds.
public protocol StoredFields {
  /// The value of a property by its number; nil when it lies in another part.
  @_spi(Generated) func _value(_ property: Int) -> StoredValue?
}

extension StoredFields {
  /// Transient values lie in no row.
  @_spi(Generated) public func _value(_ property: Int) -> StoredValue? { nil }
}

/// An object's row as it was, kept from the first change until the next save or rollback.
@_spi(Generated) open class RowCopyBase {
  /// The part that the parent entity's class holds.
  public final let parent: RowCopyBase?

  init(parent: RowCopyBase?) { self.parent = parent }

  /// The part that one class of a hierarchy holds, here or further up.
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

/// The part of a copied row that one class holds.
@_spi(Generated) public final class RowCopy<Row: StoredFields>: RowCopyBase {
  public let row: Row

  public init(_ row: Row, parent: RowCopyBase? = nil) {
    self.row = row
    super.init(parent: parent)
  }

  override func value(_ property: Int) -> StoredValue {
    row._value(property) ?? parent?.value(property) ?? .null
  }
}
