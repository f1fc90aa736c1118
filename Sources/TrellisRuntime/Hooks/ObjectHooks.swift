import TrellisSchema

extension ManagedObject {
  /// What a generated initialiser calls at its end.
  @_spi(Generated) public final func _finishInsert() {
    guard let context = link.context else { return }
    if let problem = context.nesting(.didInsert, of: self) { return context.reportToThrow(problem) }
    context.run(.didInsert, of: self) { _didInsert() }
  }

  /// The row was read: the hook is called before the first access, when the fetch is over.
  @_spi(Generated) public final func _noteFetch() { state.setAwaitsDidFetch(true) }

  /// Calls the hook. Transient values that it sets are what the object has from the start, and no changes. What the hook itself
  /// makes the object load again is no reason to call it again.
  final func runDidFetch() {
    guard let context = link.context, isAlive, !context.isRunning(.didFetch, of: self) else {
      state.setAwaitsDidFetch(false)
      return
    }
    // The next access asks again.
    if let problem = context.nesting(.didFetch, of: self) { return context.reportToThrow(problem) }
    state.setAwaitsDidFetch(false)
    let wasClean = changedBits == 0
    context.run(.didFetch, of: self) { _didFetch() }
    state.setAwaitsDidFetch(false)
    guard wasClean, phase == .persistent, !hasChanges else { return }
    state.replaceChanged(by: 0)
    extras?.forgetCommitted()
    if isInChangedList && context.pending.removeLastChanged(self) { state.setInChangedList(false) }
  }
}

extension ManagedObjectContext {
  /// Calls the hooks of objects that are about to be deleted, and drops those of them that a hook has deleted.
  ///
  /// - Throws: ``ContextError`` when too many hooks run inside each other. Since a hook cannot throw it on, the next fetch or save
  ///   throws it too.
  func runWillDelete(_ objects: inout [ManagedObject]) throws(ContextError) {
    for object in objects where object.isAlive && info(of: object).hooks.contains(.willDelete) {
      object._willRead(-1)
      if let problem = nesting(.willDelete, of: object) {
        reportToThrow(problem)
        throw problem
      }
      run(.willDelete, of: object) { object._willDelete() }
    }
    objects.removeAll { !$0.isAlive }
  }

  /// Calls the hooks of the objects that a save has written.
  func runDidSave(_ plan: SavePlan) {
    guard runtime.hooks.contains(.didSave) else { return }
    for object in plan.checked where object.isAlive && info(of: object).hooks.contains(.didSave) {
      run(.didSave, of: object) { object._didSave() }
    }
  }
}
