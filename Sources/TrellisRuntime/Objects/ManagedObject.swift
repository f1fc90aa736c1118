public import TrellisSchema
public import TrellisStorage

/// What every generated class inherits: identity, state, and the way to its context.
///
/// Objects belong to their context and to its isolation domain; they are not Sendable. Hand over an ``ObjectID`` or a
/// snapshot instead.
open class ManagedObject: StoredRecord {
  /// Where the object is in its life, and what an access must stop for.
  ///
  /// `@exclusivity(unchecked)` here and on the generated rows halves the cost of an access. It is sound because no method of the
  /// state calls out, each access is over before the next begins, and the context is confined to one domain.
  @exclusivity(unchecked) @usableFromInline final var state: ObjectState
  /// The fetch that brought the object, by number; 0 for none. Its siblings are loaded together with it.
  @exclusivity(unchecked) final var batch: UInt32 = 0
  /// The sweep after which the object was last loaded.
  @exclusivity(unchecked) final var generation: UInt8 = 0
  @_spi(Generated) public final let _key: Int64
  final let link: ContextLink
  /// What few objects need, made when it is first needed.
  @exclusivity(unchecked) final var extras: ObjectExtras?

  /// Makes a new object and registers it as inserted. Where the class is of another model, which is reported and thrown by the
  /// context's next fetch or save, the object belongs to no context.
  @_spi(Generated) public init(_insertedInto context: ManagedObjectContext) {
    _key = context.takeKey()
    link = context.link(forNew: type(of: self))
    let isOwn = link === context.link
    state = isOwn ? .inserted : .detached
    if isOwn { context.registerInserted(self) }
  }

  /// Makes the object of a row. Both are borrowed, since owning them would count references up and down for each row.
  @_spi(Generated) public required init(_ row: borrowing RowReader, in link: borrowing ContextLink) {
    _key = row.key
    self.link = copy link
    state = .persistent(row.version)
  }

  // MARK: What generated classes override

  /// The model that the class was generated for; nil for a class that is none of a model's.
  @_spi(Generated) open class var _model: ObjectModel? { nil }
  /// The entity's number in its model.
  @_spi(Generated) open class var _entity: Int { -1 }
  /// Which property each key path leads to; empty unless the model asks for it.
  @_spi(Generated) open class var _keyPaths: KeyPathTable { KeyPathTable([:]) }
  /// Replaces the values by those of a row.
  @_spi(Generated) open func _read(_ row: RowReader) {}
  @_spi(Generated) open func writeColumns(of properties: ColumnMask, to row: RowWriter) {}
  /// The value of an attribute or the key of a to-one that lies in the row.
  @_spi(Generated) open func _value(_ property: Int) -> StoredValue { .null }
  /// The key of a to-one that lies in the row, 0 for nil; -1 when the property lies elsewhere.
  @_spi(Generated) open func _reference(_ property: Int) -> Int64 { -1 }
  @_spi(Generated) open func _setReference(_ property: Int, _ key: Int64) {}
  /// The place among the members of the ordered to-many at the other end of this to-one.
  @_spi(Generated) open func _place(_ property: Int) -> Int64? { nil }
  @_spi(Generated) open func _setPlace(_ property: Int, _ place: Int64?) {}
  /// Copies the row before its first change.
  @_spi(Generated) open func _copyRow() -> RowCopyBase { RowCopyBase(parent: nil) }
  /// Puts the marked properties back to what a copy holds.
  @_spi(Generated) open func _restore(_ properties: ColumnMask, from copy: RowCopyBase) {}
  /// Copies the transient values before the first change; nil for a class that has none.
  @_spi(Generated) open func _copyTransients() -> RowCopyBase? { nil }
  /// Puts the marked transient values back to what a copy holds.
  @_spi(Generated) open func _restoreTransients(_ properties: ColumnMask, from copy: RowCopyBase) {}

  // MARK: Hooks, which generated classes override where the model lists them

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
