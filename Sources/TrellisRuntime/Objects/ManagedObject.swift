public import TrellisSchema
public import TrellisStorage

/// What every generated class inherits: identity, state, and the way to its context.
///
/// Objects belong to their context and to its isolation domain; they are not Sendable. Hand over an ``ObjectID`` or a
/// snapshot instead.
open class ManagedObject: StoredRecord {
  /// What an access must stop for: 0 for an object whose values may be read and written at once.
  ///
  /// `@exclusivity(unchecked)` here and on the generated rows halves the cost of an access. It is sound because only
  /// accessors touch these fields, each access is over before the next begins, and the context is confined to one domain.
  @_spi(Generated) @exclusivity(unchecked) public final var _attention: Attention = []
  /// Where the object is in its life.
  @exclusivity(unchecked) final var phase: ObjectPhase
  /// The fetch that brought the object, by number; 0 for none. Its siblings are loaded together with it.
  @exclusivity(unchecked) final var batch: UInt32 = 0
  /// Whether the context has the object in its list of changed ones.
  @exclusivity(unchecked) final var isNoted = false
  /// The sweep after which the object was last loaded.
  @exclusivity(unchecked) final var generation: UInt8 = 0
  /// The stored properties that were set since the last save, as a ``ColumnMask``; of a new object with unique keys also
  /// those that its initialiser was given.
  @_spi(Generated) @exclusivity(unchecked) public final var _changed: UInt64 = 0
  @_spi(Generated) public final let _key: Int64
  /// The row's version as last read or written; 0 when the object was never saved.
  @exclusivity(unchecked) final var version: Int64
  /// A version that no row has, so that a save of the object always finds a conflict.
  static var versionOfNoRow: Int64 { -1 }
  final let link: ContextLink
  /// What few objects need, made when it is first needed.
  @exclusivity(unchecked) final var extras: ObjectExtras?

  /// Makes a new object and registers it as inserted. Where the class is of another model, which is reported and thrown by the
  /// context's next fetch or save, the object belongs to no context.
  @_spi(Generated) public init(_insertedInto context: ManagedObjectContext) {
    _key = context.takeKey()
    link = context.link(forNew: type(of: self))
    version = 0
    phase = .inserted
    if link === context.link { context.registerInserted(self) } else { standAlone() }
  }

  /// Makes the object of a row. Both are borrowed, since owning them would count references up and down for each row.
  @_spi(Generated) public required init(_ row: borrowing RowReader, in link: borrowing ContextLink) {
    _key = row.key
    self.link = copy link
    version = row.version
    phase = .persistent
  }

  @inline(never) private final func standAlone() {
    phase = .detached
    _attention = .readOnly
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

/// Where an object is in its life.
enum ObjectPhase: UInt8 {
  /// Its row is in the store, as far as the context knows.
  case persistent
  /// It was made in the context and never saved.
  case inserted
  /// It will be deleted by the next save.
  case deleted
  /// It is of no context any more: deleted and saved, its insertion withdrawn, or its context reset or gone.
  case detached
}

/// What an access to an object must stop for.
@_spi(Generated) public struct Attention: OptionSet, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Whether nothing has to be looked after.
  @inlinable public var isClear: Bool { rawValue == 0 }

  /// The values are not loaded.
  static let fault = Attention(rawValue: 1)
  /// The object is deleted or detached: its values are readable, and writes are ignored.
  static let readOnly = Attention(rawValue: 2)
  /// Changes are recorded, and this object's values are not copied yet.
  static let unrecorded = Attention(rawValue: 8)
  /// The hook `didFetch` is to be called before the first access.
  static let fetched = Attention(rawValue: 16)
  /// Reads are noted, to find out which properties a key path reads.
  static let probed = Attention(rawValue: 4)
  /// Somebody may look at the object through Swift's Observation.
  static let observed = Attention(rawValue: 32)
  /// The object was deleted and is of no context any more.
  static let deleted = Attention(rawValue: 64)
}
