public import TrellisSchema
public import TrellisStorage

/// The base class of all generated classes: key, state, and the reference to the context.
///
/// Objects belong to their context and to its isolation domain; they are not Sendable. Pass an ``ObjectID`` or a
/// snapshot to other domains instead.
open class ManagedObject: StoredRecord {
  /// The object's state in its life cycle, and the flags that an access has to handle.
  ///
  /// `@exclusivity(unchecked)` here and on the generated rows halves the cost of an access. It is sound because no
  /// method of the state calls other code, each access ends before the next begins, and the context is confined to one
  /// domain.
  @exclusivity(unchecked) @usableFromInline final var state: ObjectState
  /// The number of the fetch that loaded the object; 0 for none. Objects of the same fetch are loaded together.
  @exclusivity(unchecked) final var batch: UInt32 = 0
  /// The sweep generation in which the object was last loaded.
  @exclusivity(unchecked) final var generation: UInt8 = 0
  @_spi(Generated) public final let _key: Int64
  final let link: ContextLink
  /// State that few objects need, created on demand.
  @exclusivity(unchecked) final var extras: ObjectExtras?

  /// Creates a new object and registers it as inserted. If the class belongs to another model, which is reported and
  /// thrown by the context's next fetch or save, the object is detached.
  @_spi(Generated) public init(_insertedInto context: ManagedObjectContext) {
    _key = context.takeKey()
    link = context.link(forNew: type(of: self))
    let isOwn = link === context.link
    state = isOwn ? .inserted : .detached
    if isOwn { context.registerInserted(self) }
  }

  /// Creates the object for a row. Both parameters are borrowed, because owned parameters would be retained and
  /// released for each row.
  @_spi(Generated) public required init(_ row: borrowing RowReader, in link: borrowing ContextLink) {
    _key = row.key
    self.link = copy link
    state = .persistent(row.version)
  }

  // MARK: Overridden by generated classes

  /// The model that the class was generated for; nil for a class that does not belong to a model.
  @_spi(Generated) open class var _model: ObjectModel? { nil }
  /// The entity's number in its model.
  @_spi(Generated) open class var _entity: Int { -1 }
  /// The property of each key path; empty unless the model enables it.
  @_spi(Generated) open class var _keyPaths: KeyPathTable { KeyPathTable([:]) }
  /// Replaces the values with those of a row.
  @_spi(Generated) open func _read(_ row: RowReader) {}
  @_spi(Generated) open func writeColumns(of properties: ColumnMask, to row: RowWriter) {}
  /// The value of an attribute, or the key of a to-one relationship that is stored in the row.
  @_spi(Generated) open func _value(_ property: Int) -> StoredValue { .null }
  /// The key of a to-one relationship that is stored in the row, 0 for nil; -1 if the property is stored elsewhere.
  @_spi(Generated) open func _reference(_ property: Int) -> Int64 { -1 }
  @_spi(Generated) open func _setReference(_ property: Int, _ key: Int64) {}
  /// The position among the members of the ordered to-many relationship that is the inverse of this to-one
  /// relationship.
  @_spi(Generated) open func _place(_ property: Int) -> Int64? { nil }
  @_spi(Generated) open func _setPlace(_ property: Int, _ place: Int64?) {}
  /// Copies the row before its first change.
  @_spi(Generated) open func _copyRow() -> RowCopyBase { RowCopyBase(parent: nil) }
  /// Restores the marked properties from a copy.
  @_spi(Generated) open func _restore(_ properties: ColumnMask, from copy: RowCopyBase) {}
  /// Copies the transient values before the first change; nil for a class without any.
  @_spi(Generated) open func _copyTransients() -> RowCopyBase? { nil }
  /// Restores the marked transient values from a copy.
  @_spi(Generated) open func _restoreTransients(_ properties: ColumnMask, from copy: RowCopyBase) {}

  // MARK: Hooks, overridden by generated classes if the model lists them

  @_spi(Generated) open func _didInsert() {}
  @_spi(Generated) open func _didFetch() {}
  @_spi(Generated) open func _willSave() throws {}
  @_spi(Generated) open func _didSave() {}
  @_spi(Generated) open func _willDelete() {}
  @_spi(Generated) open func _validateInsert(_ failures: inout HookFailures) {}
  @_spi(Generated) open func _validateUpdate(_ failures: inout HookFailures) {}
  @_spi(Generated) open func _validateDelete(_ failures: inout HookFailures) {}

  // MARK: Storing

  @_spi(Generated) public final var storedKey: Int64 { _key }
  @_spi(Generated) public final var storedVersion: Int64 { version }
  @_spi(Generated) public final func writeRow(to row: RowWriter) { writeColumns(of: .all, to: row) }
}

@available(*, unavailable, message: "objects belong to their context; pass the objectID or the snapshot instead")
extension ManagedObject: @unchecked Sendable {}
