import TrellisStorage

extension ManagedObject {
  /// Checks the object as a save would, without saving, so that a form can show what is missing while it is filled in.
  ///
  /// ```swift
  /// do {
  ///   try receipt.validate()
  /// } catch let error as ValidationError {
  ///   for failure in error.failures { mark(failure.property, failure.message) }
  /// }
  /// ```
  /// A deleted object is checked for reasons that prevent the delete.
  ///
  /// - Throws: ``ValidationError`` with every rule that the object breaks; ``StoreError`` if the store fails.
  public final func validate() throws {
    guard let context = managedObjectContext else { return }
    _willRead(-1)
    try context.throwPendingFailure()
    var rules = ObjectRules(context)
    rules.countsUnchanged = true
    switch phase {
    case .deleted: try rules.checkDeleted([self])
    case .inserted: try rules.checkAll(self, .validateInsert)
    default: try rules.checkAll(self, .validateUpdate)
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
  }
}

extension ManagedObjectContext {
  /// Checks everything that a save is about to write.
  ///
  /// - Throws: ``ValidationError`` with every broken rule.
  func validate(_ plan: SavePlan) throws {
    var rules = ObjectRules(self)
    for object in plan.inserted { try rules.checkAll(object, .validateInsert) }
    for (object, _) in plan.updated { try rules.checkAll(object, .validateUpdate) }
    for object in plan.relinked { try rules.checkAll(object, .validateUpdate) }
    try rules.checkDeleted(plan.deleted)
    guard rules.failures.isEmpty else { throw ValidationError(failures: rules.failures) }
  }
}
