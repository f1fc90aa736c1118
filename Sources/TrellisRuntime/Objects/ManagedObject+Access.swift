import TrellisSchema
public import TrellisStorage

extension ManagedObject {
  /// Called before a value is read: loads the row if it is not there.
  @_spi(Generated) @inlinable @inline(__always) public final func _willRead(_ property: Int) {
    if !state.flags.isClear { _slowRead(property) }
  }

  /// Called before a value is written. A transient value is noted like a stored one, so that it can be taken back, and is
  /// compared with nothing, so that it is no change to save.
  ///
  /// - Returns: whether to write. Writes to deleted and detached objects are ignored and reported.
  @_spi(Generated) @inlinable @inline(__always) public final func _willWrite(_ property: Int) -> Bool {
    if !state.flags.isClear || state.changed == 0 {
      guard _slowWrite(property) else { return false }
    }
    state.markAssigned(ColumnMask.bit(of: property))
    return true
  }

  /// Called by initialisers of objects that have unique keys: notes the attributes that were given, by the bits of
  /// ``ColumnMask``, as only those are moved to an object that turns out to have the same key.
  @_spi(Generated) @inlinable @inline(__always) public final func _markAssigned(_ properties: UInt64) {
    state.markAssigned(properties)
  }

  @_spi(Generated) @inline(never) public final func _slowRead(_ property: Int) {
    if accessFlags.contains(.fault) { fulfilFault(property) }
    if accessFlags.contains(.fetched) { runDidFetch() }
    if accessFlags.contains(.probed) { link.context?.probed.append(property) }
    noteRead(property)
  }

  @_spi(Generated) @inline(never) public final func _slowWrite(_ property: Int) -> Bool {
    if accessFlags.contains(.fault) && link.context != nil { fulfilFault(property) }
    if accessFlags.contains(.fetched) { runDidFetch() }
    guard !accessFlags.contains(.readOnly) else {
      reportIgnoredWrite(property)
      return false
    }
    // What could not be loaded is not written to either, lest a placeholder counts as the old value.
    if accessFlags.contains(.fault) { return false }
    if changedBits == 0 || accessFlags.contains(.unrecorded) { willChangeValues() }
    announce(property)
    return true
  }

  /// Called before the first change of a value since the last save, and since changes were last recorded: keeps the row as it
  /// was, and tells the context that there is something to save.
  final func willChangeValues() {
    state.setUnrecorded(false)
    guard let context = link.context else { return }
    if let recorder = context.recorder { recorder.recordValues(of: self) }
    // A deleted object changes when a partner goes elsewhere; its delete may be taken back.
    guard changedBits == 0, phase == .persistent || phase == .deleted else { return }
    if extras?.committed == nil { needExtras().keep(_copyRow(), _copyTransients()) }
    context.noteChanged(self)
  }

  private final func fulfilFault(_ property: Int) {
    guard let context = link.context else {
      // Without a context the values stay the placeholders that they are.
      state.endFault()
      return reportContextGone(property)
    }
    context.fulfilFault(of: self)
  }

  private final func reportIgnoredWrite(_ property: Int) {
    guard let context = link.context else { return reportContextGone(property, isWrite: true) }
    let what = phase == .deleted ? "deleted" : "of no context any more"
    let entity = context.runtime.entities[type(of: self)._entity]
    let name = "\(entity.name).\(entity.entity.properties[property].name)"
    context.report(
      ContextError(.ignoredWrite, "A value set to \(name) was ignored, since the object is \(what)."))
  }
}

/// What few objects need: it lies outside the object so that the others do not pay for it.
///
/// Nothing calls out while it touches a field, so nothing can overlap, and nothing is checked.
final class ObjectExtras {
  /// The row before the first change since the last save.
  @exclusivity(unchecked) private(set) var committed: RowCopyBase?
  /// The transient values at that time; nil for objects that have none.
  @exclusivity(unchecked) private(set) var committedTransients: RowCopyBase?
  /// The to-manys that were touched, few enough to look through.
  @exclusivity(unchecked) var lists: [(property: Int, list: MemberList)] = []
  /// The partners of to-ones that do not lie in the row, as far as known; 0 for nil.
  @exclusivity(unchecked) var partners: [(property: Int, key: Int64)] = []
  /// The object that stands for this one since a save found both to have one unique key; 0 for none.
  @exclusivity(unchecked) var replacement: Int64 = 0
  /// Whether it was told that the object was read, and written to, when its context was gone.
  var (hasToldOfRead, hasToldOfWrite) = (false, false)

  /// Keeps what is committed.
  func keep(_ row: RowCopyBase, _ transients: RowCopyBase?) {
    committed = row
    committedTransients = transients
  }

  /// Keeps a newer row as the committed one.
  func keep(_ row: RowCopyBase) { committed = row }

  /// There is nothing to go back to any more.
  func forgetCommitted() {
    committed = nil
    committedTransients = nil
  }
}

extension ManagedObject {
  /// Puts values back to those that are committed.
  final func restoreCommitted(_ properties: ColumnMask) {
    announceAll()
    if let committed = extras?.committed { _restore(properties, from: committed) }
    if let transients = extras?.committedTransients { _restoreTransients(properties, from: transients) }
  }

  final func needExtras() -> ObjectExtras {
    if let extras { return extras }
    let made = ObjectExtras()
    extras = made
    return made
  }

  /// The row before its first change; nil while nothing has changed.
  @_spi(Generated) public final var _committed: RowCopyBase? { extras?.committed }
  @_spi(Generated) public final var _isInserted: Bool { phase == .inserted }
}
