import TrellisSchema
public import TrellisStorage

extension ManagedObject {
  /// Called before a value is read: loads the row if it is not there.
  @_spi(Generated) @inlinable @inline(__always) public final func _willRead(_ property: Int) {
    if !_attention.isClear { _slowRead(property) }
  }

  /// Called before a stored value is written.
  ///
  /// - Returns: whether to write. Writes to deleted and detached objects are ignored and reported.
  @_spi(Generated) @inlinable @inline(__always) public final func _willWrite(_ property: Int) -> Bool {
    if !_attention.isClear || _changed == 0 {
      guard _slowWrite(property) else { return false }
    }
    _changed |= ColumnMask.bit(of: property)
    return true
  }

  /// Called before a transient value is written.
  @_spi(Generated) @inlinable public final func _willWriteTransient(_ property: Int) -> Bool {
    _attention.isClear || _slowWriteTransient(property)
  }

  @_spi(Generated) @inline(never) public final func _slowRead(_ property: Int) {
    if _attention.contains(.fault) { fulfilFault() }
  }

  @_spi(Generated) @inline(never) public final func _slowWrite(_ property: Int) -> Bool {
    guard isReadyToWrite(property) else { return false }
    if _changed == 0 { noteFirstChange() }
    return true
  }

  @_spi(Generated) @inline(never) public final func _slowWriteTransient(_ property: Int) -> Bool {
    isReadyToWrite(property)
  }

  /// Loads what is not loaded. What could not be loaded is not written to either, lest a placeholder counts as the old value.
  private final func isReadyToWrite(_ property: Int) -> Bool {
    if _attention.contains(.fault) { fulfilFault() }
    guard !_attention.contains(.readOnly) else {
      reportIgnoredWrite(property)
      return false
    }
    return !_attention.contains(.fault)
  }

  /// Keeps the row as it was, and tells the context that there is something to save.
  final func noteFirstChange() {
    guard phase == .persistent else { return }
    if extras?.committed == nil { needExtras().committed = _copyRow() }
    link.context?.noteChanged(self)
  }

  private final func fulfilFault() {
    guard let context = link.context else {
      // Without a context the values stay the placeholders that they are.
      _attention.remove(.fault)
      return
    }
    context.fulfilFault(of: self)
  }

  private final func reportIgnoredWrite(_ property: Int) {
    let what = phase == .deleted ? "deleted" : "of no context any more"
    let entity = link.context?.runtime.entities[type(of: self)._entity]
    let name = entity.map { "\($0.name).\($0.entity.properties[property].name)" } ?? "\(type(of: self))"
    link.context?.report(
      GraphProblem(.ignoredWrite, "A value set to \(name) was ignored, since the object is \(what)."))
  }
}

/// What few objects need: it lies outside the object so that the others do not pay for it.
///
/// Nothing calls out while it touches a field, so nothing can overlap, and nothing is checked.
final class ObjectExtras {
  /// The row before the first change since the last save.
  @exclusivity(unchecked) var committed: RowCopyBase?
  /// The to-manys that were touched, few enough to look through.
  @exclusivity(unchecked) var lists: [(property: Int, list: MemberList)] = []
  /// The partners of to-ones that do not lie in the row, as far as known; 0 for nil.
  @exclusivity(unchecked) var partners: [(property: Int, key: Int64)] = []
}

extension ManagedObject {
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
