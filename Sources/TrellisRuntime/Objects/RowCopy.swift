/// An object's row as it was, kept from the first change until the next save or rollback.
@_spi(Generated) open class RowCopyBase {
  /// The part that the parent entity's class holds.
  public final let parent: RowCopyBase?

  init(parent: RowCopyBase?) { self.parent = parent }

  /// The part that one class of a hierarchy holds, here or further up.
  public final func part<Row>(_ type: Row.Type) -> Row? {
    var copy: RowCopyBase? = self
    while let current = copy {
      if let found = current as? RowCopy<Row> { return found.row }
      copy = current.parent
    }
    return nil
  }
}

/// The part of a copied row that one class holds.
@_spi(Generated) public final class RowCopy<Row>: RowCopyBase {
  public let row: Row

  public init(_ row: Row, parent: RowCopyBase? = nil) {
    self.row = row
    super.init(parent: parent)
  }
}
