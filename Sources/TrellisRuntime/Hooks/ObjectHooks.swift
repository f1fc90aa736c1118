import TrellisSchema

extension ManagedObject {
  /// Called by generated initializers as their last step.
  @_spi(Generated) public final func _finishInsert() {
    guard let context = link.context else { return }
    if let problem = context.nesting(.didInsert, of: self) { return context.reportToThrow(problem) }
    context.run(.didInsert, of: self) { _didInsert() }
  }

  /// Called after the row was read. The hook runs before the first access after the fetch.
  @_spi(Generated) public final func _noteFetch() { state.setAwaitsDidFetch(true) }

  /// Calls the hook. Transient values that it sets are initial values of the object, not changes. If the hook itself
  /// makes the object load again, it is not called again.
  final func runDidFetch() {
    guard let context = link.context, isAlive, !context.isRunning(.didFetch, of: self) else {
      state.setAwaitsDidFetch(false)
      return
    }
    // The next access tries again.
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
  /// Calls the hooks of objects that are about to be deleted, and removes from the list those that a hook has deleted.
  ///
  /// - Throws: ``ContextError`` if too many hooks are nested. Since a hook cannot propagate the error, the next fetch
  ///   or save throws it as well.
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
