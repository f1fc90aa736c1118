/// Whether an object may be deleted.
public enum DeleteAnswer: Hashable, Sendable {
  /// Nothing stands in the way.
  case yes
  /// A save would refuse the delete, with this error.
  case no(ValidationError)
}

extension ManagedObjectContext {
  /// Says beforehand whether a save would refuse to delete an object, and why. Nothing is deleted.
  ///
  /// ```swift
  /// switch try context.canDelete(team) {
  /// case .yes: try context.delete(team)
  /// case .no(let refusal): show(refusal.failures)
  /// }
  /// ```
  /// It looks at everything that the delete would take along: who denies it, and who would be left without a partner that it
  /// must have. What the context has deleted already stands in nobody's way.
  ///
  /// - Parameter object: An object of this context.
  /// - Throws: ``StoreError`` when partners have to be loaded and the store fails; ``ContextError`` with the code
  ///   `foreign-object` when the object belongs to another context.
  /// - Complexity: linear in the number of objects that would be deleted or let go.
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
    // Who stays behind is looked at once for each object that leaves it.
    var seen: Set<ValidationFailure> = []
    let failures = rules.failures.filter { seen.insert($0).inserted }
    return failures.isEmpty ? .yes : .no(ValidationError(failures: failures))
  }
}
