import TrellisSchema
public import TrellisStorage

extension ManagedObject {
  /// Called before a value is read. Loads the row if the object is a fault.
  @_spi(Generated) @inlinable @inline(__always) public final func _willRead(_ property: Int) {
    if !state.flags.isClear { _slowRead(property) }
  }

  /// Called before a value is written. A transient value is recorded like a stored one, so that it can be rolled back,
  /// but is not compared with a stored value, so that it is not a change to save.
  ///
  /// - Returns: whether to write. Writes to deleted and detached objects are ignored and reported.
  @_spi(Generated) @inlinable @inline(__always) public final func _willWrite(_ property: Int) -> Bool {
    if !state.flags.isClear || state.changed == 0 {
      guard _slowWrite(property) else { return false }
    }
    state.markAssigned(ColumnMask.bit(of: property))
    return true
  }

  /// Called by the initializers of classes with unique keys. Records the attributes that were passed, as the bits of
  /// ``ColumnMask``, because only these are transferred to an existing object with the same unique key.
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
    // A fault that could not be loaded is not written to, because the placeholder would become the old value.
    if accessFlags.contains(.fault) { return false }
    if changedBits == 0 || accessFlags.contains(.unrecorded) { willChangeValues() }
    announce(property)
    return true
  }

  /// Called before the first change of a value since the last save and since the last recording of changes. Copies the
  /// row as it was, and registers the object as changed in the context.
  final func willChangeValues() {
    state.setUnrecorded(false)
    guard let context = link.context else { return }
    if let recorder = context.recorder { recorder.recordValues(of: self) }
    // A deleted object changes when a partner is assigned elsewhere. Its delete may be rolled back.
    guard changedBits == 0, phase == .persistent || phase == .deleted else { return }
    if extras?.committed == nil { needExtras().keep(_copyRow(), _copyTransients()) }
    context.noteChanged(self)
  }

  private final func fulfilFault(_ property: Int) {
    guard let context = link.context else {
      // Without a context, the values remain placeholders.
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

/// State that few objects need. It is stored outside the object, so that other objects have no cost.
///
/// No field is accessed during a call to other code, so accesses cannot overlap, and exclusivity is not checked.
final class ObjectExtras {
  /// The row before the first change since the last save.
  @exclusivity(unchecked) private(set) var committed: RowCopyBase?
  /// The transient values at that time; nil for objects without any.
  @exclusivity(unchecked) private(set) var committedTransients: RowCopyBase?
  /// The to-many relationships that were accessed, few enough for a linear search.
  @exclusivity(unchecked) var lists: [(property: Int, list: MemberList)] = []
  /// The known partners of to-one relationships that are not stored in the row; 0 for nil.
  @exclusivity(unchecked) var partners: [(property: Int, key: Int64)] = []
  /// The key of the object that replaced this one, because a save found that both have the same unique key; 0 for none.
  @exclusivity(unchecked) var replacement: Int64 = 0
  /// Whether a read and a write after the context's deinitialization were already reported.
  var (hasToldOfRead, hasToldOfWrite) = (false, false)

  /// Stores the committed values.
  func keep(_ row: RowCopyBase, _ transients: RowCopyBase?) {
    committed = row
    committedTransients = transients
  }

  /// Replaces the committed row by a newer one.
  func keep(_ row: RowCopyBase) { committed = row }

  /// Removes the committed values, when there are no changes to roll back any more.
  func forgetCommitted() {
    committed = nil
    committedTransients = nil
  }
}

extension ManagedObject {
  /// Restores the committed values of some properties.
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

  /// The row before its first change; nil if nothing has changed.
  @_spi(Generated) public final var _committed: RowCopyBase? { extras?.committed }
  @_spi(Generated) public final var _isInserted: Bool { phase == .inserted }
}
