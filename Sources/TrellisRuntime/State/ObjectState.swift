import TrellisStorage

/// The state of an object, and every way in which it changes.
///
/// | phase | in the identity map | in ``PendingChanges`` | row version | access flags |
/// |---|---|---|---|---|
/// | inserted | yes | `inserted` | 0 | not `fault`, not `readOnly` |
/// | persistent | yes | `changed` if `isInChangedList` | the stored one, or -1 | `fault` only without changed attributes |
/// | deleted | yes | `deleted`, and `changed` if `isInChangedList` | the stored one, or -1 | `readOnly` |
/// | detached | no | ignored where it is still listed | any | `readOnly`; `deleted` after a delete |
///
/// ```
///              didInsert                 delete
///   inserted ─────────────▶ persistent ─────────▶ deleted
///      │  ▲                   │    ▲                │  │
///      │  │ becomeNew         │    └── revive ──────┘  │
///      ▼  │                   ▼                        ▼
///     detached ◀──────────────┴──────── detach ────────┘
/// ```
/// The methods are the only writers. ``ObjectGraph/stateViolations()`` checks the table.
@usableFromInline @frozen struct ObjectState {
  /// The properties that were set since the last save, as the bits of a ``ColumnMask``; of a new object with unique
  /// keys also those that its initialiser was given.
  @usableFromInline var changed: UInt64 = 0
  /// The row's version as last read or written; 0 when the object was never saved. Of a replaced object the key of the
  /// one that replaces it.
  private(set) var version: Int64
  /// The number of the fetch that loaded the object; 0 for none. Objects of the same fetch are loaded together.
  var batch: UInt32 = 0
  /// What an access to the object must stop for.
  @usableFromInline private(set) var flags: AccessFlags = []
  /// Where the object is in its life.
  private(set) var phase: ObjectPhase
  /// What lists of the context name the object.
  private var listings: Listings = []
  /// The sweep generation in which the object was last loaded.
  var generation: UInt8 = 0

  // The small fields come last and fill one word, since an object holds a state.

  /// Lists that name an object.
  @usableFromInline @frozen struct Listings: OptionSet {
    @usableFromInline let rawValue: UInt8

    @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }

    static let changed = Listings(rawValue: 1)
    static let recorded = Listings(rawValue: 2)
    static let replaced = Listings(rawValue: 4)
  }

  /// Whether the object is among the context's changed ones.
  private(set) var isInChangedList: Bool {
    get { listings.contains(.changed) }
    set { if newValue { listings.insert(.changed) } else { listings.remove(.changed) } }
  }

  /// Whether the present set of recorded changes has the object's values.
  private(set) var isRecorded: Bool {
    get { listings.contains(.recorded) }
    set { if newValue { listings.insert(.recorded) } else { listings.remove(.recorded) } }
  }

  /// The key of the object that replaces this new one, because both have the same unique key; 0 for none.
  var replacement: Int64 { listings.contains(.replaced) ? version : 0 }

  /// A version that no row has, so that a save of the object always finds a conflict.
  private static let versionOfNoRow: Int64 = -1

  /// The state of a new object.
  static var inserted: ObjectState { ObjectState(phase: .inserted, version: 0) }

  /// The state of an object that belongs to no context from the start.
  static var detached: ObjectState {
    var state = ObjectState(phase: .inserted, version: 0)
    state.detach()
    return state
  }

  /// The state of an object that was made from a row.
  static func persistent(_ version: Int64) -> ObjectState { ObjectState(phase: .persistent, version: version) }

  private init(phase: ObjectPhase, version: Int64) {
    self.phase = phase
    self.version = version
  }

  // MARK: Life cycle

  /// inserted → persistent: the object's first row was written.
  ///
  /// - Parameter former: The last version of the row that a saved delete has removed; 0 for a new key.
  mutating func didInsert(after former: Int64) {
    phase = .persistent
    version = former + 1
  }

  /// The object's row was written again.
  mutating func didUpdate() { version += 1 }

  /// Nothing of the object is unsaved any more.
  mutating func didSave() {
    changed = 0
    isInChangedList = false
  }

  /// inserted → persistent: the store has a row of the object already. Its values are edits of that row.
  mutating func adoptRow(version: Int64, edits: UInt64) {
    phase = .persistent
    self.version = version
    changed = edits
  }

  /// persistent → inserted, for an object that was made from the values of another context's new one.
  mutating func becomeInserted(changed: UInt64) {
    phase = .inserted
    flags = []
    self.changed = changed
  }

  /// persistent → deleted.
  mutating func delete() {
    phase = .deleted
    flags.insert(.readOnly)
  }

  /// deleted → persistent, or detached → inserted where the object was new when it was deleted.
  mutating func revive(asInserted isInserted: Bool = false) {
    replace(by: 0)
    phase = isInserted ? .inserted : .persistent
    flags.subtract([.readOnly, .deleted])
  }

  /// detached → inserted: the delete that was saved is undone.
  mutating func becomeNew(changed: UInt64) {
    revive(asInserted: true)
    version = 0
    self.changed = changed
    isInChangedList = false
  }

  /// any → detached.
  ///
  /// - Parameter isDeleted: Whether the object's row is gone, or will never be.
  mutating func detach(isDeleted: Bool = false) {
    phase = .detached
    flags.insert(isDeleted ? [.readOnly, .deleted] : .readOnly)
  }

  /// A merge of unique keys puts another object in the place of this new one, or does so no longer.
  ///
  /// - Parameter key: The key of the other object; 0 for none.
  mutating func replace(by key: Int64) {
    if key != 0 {
      listings.insert(.replaced)
      version = key
    } else if listings.contains(.replaced) {
      listings.remove(.replaced)
      version = 0
    }
  }

  /// The context is gone: values that were loaded stay readable.
  mutating func becomeReadOnly() { flags.insert(.readOnly) }

  /// any → persistent, as a fault without changes: what a failed save did to the object is given up.
  mutating func returnToStore() {
    phase = .persistent
    changed = 0
    isInChangedList = false
    flags.subtract([.readOnly, .deleted])
    flags.insert(.fault)
  }

  // MARK: Values

  /// Properties are set.
  @inlinable mutating func markAssigned(_ properties: UInt64) { changed |= properties }

  /// Properties have their committed values again.
  mutating func unmark(_ properties: UInt64) { changed &= ~properties }

  /// Exactly these properties count as set.
  mutating func replaceChanged(by properties: UInt64) { changed = properties }

  /// The context lists the object as changed, or does so no longer.
  mutating func setInChangedList(_ isListed: Bool) { isInChangedList = isListed }

  // MARK: Rows

  /// The values are to be read again before the next access. Only properties that live in memory keep their marks.
  mutating func becomeFault(keeping transients: UInt64) {
    flags.insert(.fault)
    changed &= transients
  }

  /// The values are loaded, or never will be.
  mutating func endFault() { flags.remove(.fault) }

  /// The row that the object holds, or on top of which its edits lie, has this version.
  mutating func takeVersion(_ version: Int64) { self.version = version }

  /// The row was deleted and made anew by others, so that its versions say nothing about the one that was read.
  mutating func forgetVersion() { version = Self.versionOfNoRow }

  // MARK: What an access stops for

  /// The hook `didFetch` is called before the next access, or was called.
  mutating func setAwaitsDidFetch(_ isAwaited: Bool) { set(.fetched, isAwaited) }

  /// Reads are noted, to find out which properties a key path reads.
  mutating func setProbed(_ isProbed: Bool) { set(.probed, isProbed) }

  /// Swift's Observation may track the object.
  mutating func setObserved(_ isObserved: Bool) { set(.observed, isObserved) }

  /// The values are copied before their next change, or were copied.
  mutating func setUnrecorded(_ isUnrecorded: Bool) { set(.unrecorded, isUnrecorded) }

  /// The present set of recorded changes has the object's values, or has them no longer.
  mutating func setRecorded(_ isRecorded: Bool) { self.isRecorded = isRecorded }

  /// The set of recorded changes that has the object's values is closed: they are copied again before their next change.
  mutating func endRecord() {
    isRecorded = false
    setUnrecorded(true)
  }

  private mutating func set(_ flag: AccessFlags, _ isSet: Bool) {
    if isSet { flags.insert(flag) } else { flags.remove(flag) }
  }
}

/// Where an object is in its life.
@usableFromInline enum ObjectPhase: UInt8 {
  /// Its row is in the store, as far as the context knows.
  case persistent
  /// It was made in the context and never saved.
  case inserted
  /// The next save deletes it.
  case deleted
  /// It belongs to no context any more: deleted and saved, its insertion withdrawn, or its context reset or gone.
  case detached
}

/// What an access to an object must stop for.
@usableFromInline @frozen struct AccessFlags: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Whether the access can go on at once.
  @inlinable var isClear: Bool { rawValue == 0 }

  /// The values are not loaded.
  static let fault = AccessFlags(rawValue: 1)
  /// The object is deleted or detached: its values are readable, and writes are ignored.
  static let readOnly = AccessFlags(rawValue: 2)
  /// Reads are noted, to find out which properties a key path reads.
  static let probed = AccessFlags(rawValue: 4)
  /// Changes are recorded, and the object's values are not copied yet.
  static let unrecorded = AccessFlags(rawValue: 8)
  /// The hook `didFetch` is called before the first access.
  static let fetched = AccessFlags(rawValue: 16)
  /// Swift's Observation may track the object.
  static let observed = AccessFlags(rawValue: 32)
  /// The object was deleted and belongs to no context any more.
  static let deleted = AccessFlags(rawValue: 64)
}

extension ManagedObject {
  // Reads of the state, by the names that the runtime uses.
  final var accessFlags: AccessFlags { state.flags }
  final var phase: ObjectPhase { state.phase }
  final var isInChangedList: Bool { state.isInChangedList }
  final var changedBits: UInt64 { state.changed }
  final var version: Int64 { state.version }
  /// Whether the object takes part in the graph: it is in a context and not deleted.
  final var isAlive: Bool { phase == .persistent || phase == .inserted }
}
