/// Whether an object may be deleted.
public enum DeleteAnswer: Hashable, Sendable {
  /// A save would not refuse the delete.
  case yes
  /// A save would refuse the delete, with this error.
  case no(ValidationError)
}

extension ManagedObjectContext {
  /// Returns whether a save would refuse to delete an object, and why. Nothing is deleted.
  ///
  /// ```swift
  /// switch try context.canDelete(team) {
  /// case .yes: try context.delete(team)
  /// case .no(let refusal): show(refusal.failures)
  /// }
  /// ```
  /// This checks everything that the delete would cascade to: the partners that deny it, and the objects that would be
  /// left without a required partner. Objects that the context has already deleted do not prevent the delete.
  ///
  /// - Parameter object: An object of this context.
  /// - Throws: ``StoreError`` if partners have to be loaded and the store fails; ``ContextError`` with the code
  ///   `foreign-object` if the object belongs to another context.
  /// - Complexity: linear in the number of objects that would be deleted or unlinked.
  public func canDelete(_ object: ManagedObject) throws -> DeleteAnswer {
    try checkOwn(object, "cannot be deleted here")
    guard object.isAlive else { return .yes }
    var deletion = Deletion()
    deletion.callsHooks = false
    try deletion.collect([object], in: self)
    try deletion.settle(in: self)
    var rules = ObjectRules(self)
    rules.leaving = Set(deletion.victims.map(\._key))
    for victim in deletion.victims { try rules.checkSurvivors(of: victim) }
    try rules.checkDeleted(deletion.victims.filter { $0.phase == .persistent })
    // A surviving object is checked once for each object that it loses.
    var seen: Set<ValidationFailure> = []
    let failures = rules.failures.filter { seen.insert($0).inserted }
    return failures.isEmpty ? .yes : .no(ValidationError(failures: failures))
  }
}
