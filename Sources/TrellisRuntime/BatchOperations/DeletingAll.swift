import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// Deletes every object of a request in the store, at once and without loading them.
  ///
  /// ```swift
  /// let gone = try context.deleteAll(EmotionDiary.where { $0.createdAt < lastYear })
  /// ```
  /// It is one transaction of its own, not a pending change: there is nothing to save, roll back or undo afterwards. The
  /// model's delete rules hold: members under cascade go too, partners under nullify let go, one under deny that stays refuses
  /// everything. Objects in memory are as if another context had deleted them; other contexts, live results and
  /// ``PersistentContainer/saves`` hear of it as of a save.
  ///
  /// An entity whose hooks would have to be called, of what is deleted or of partners that let go, is refused before anything
  /// happens.
  ///
  /// Unsaved changes of objects that the request could ask for, or that the rules could reach, refuse it too. A request with
  /// ``FetchRequest/storedOnly()`` does not look at them: they stay, and the next save settles them as if another context had
  /// deleted.
  ///
  /// - Returns: how many objects of the request were deleted; what went with them is not counted.
  /// - Throws: ``ValidationError`` when a rule forbids it; ``StoreError`` with the code `unsupported` when objects are needed
  ///   for it; ``ContextError`` with the code `unsaved-changes`, and inside a hook; as ``fetch(_:)``.
  /// - Complexity: that of the store's query and of writing; memory for the identities of what goes. Where a partner may
  ///   forbid it, or must keep a number of members, memory for the rows.
  @discardableResult public func deleteAll<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try prepareSetChange("deleteAll")
    let storeRequest = try request.storeRequest(in: self)
    let reach = DeleteReach(storeRequest, runtime.model)
    let holders = Set(reach.lettingGo.flatMap { runtime.entities[$0.entity].entity.subtree })
    try checkHooks(reach, holders, storeRequest.entity)
    if request.rules.seesPendingChanges {
      try checkNothingPending(storeRequest, entities: holders.union(reach.entities))
    }
    do {
      let outcome = try connection().deleteAll(BatchDelete(request: storeRequest), in: runtime.model)
      let cleared = Set(reach.entities.flatMap { runtime.model.oneWayColumns(to: $0) })
      tell(outcome, movesMembers: true, cleared: Array(cleared))
      return outcome.found
    } catch let broken as ConstraintViolations {
      throw try validationError(forRows: broken)
    }
  }

  // MARK: Steps

  private func checkHooks(_ reach: DeleteReach, _ holders: Set<Int>, _ entity: Int) throws {
    let victims = reach.entities.map { ($0, [LifecycleHook.willDelete, .validateDelete]) }
    let survivors = holders.sorted().map { ($0, [LifecycleHook.willSave, .didSave, .validateUpdate]) }
    for (number, hooks) in victims + survivors {
      guard let hook = hooks.first(where: runtime.entities[number].hooks.contains) else { continue }
      let name = runtime.entities[entity].name
      throw StoreError(
        .unsupported,
        "Objects of \(name) cannot be deleted all at once, as \(runtime.entities[number].name).\(hook.rawValue) is called for "
          + "each object that is concerned.",
        remedy: "Go through them with stream, delete each one, and save.", entity: name)
    }
  }

  /// What the store found broken, of objects that need not be in memory: a hundred of them are named.
  private func validationError(forRows broken: ConstraintViolations) throws -> ValidationError {
    var rules = ObjectRules(self)
    for denial in broken.denials.prefix(RefusedRows.most) {
      guard let relationship = runtime.relationship(denial.relationship),
        let owner = try object(denial.owner, entity: relationship.entity),
        let partner = try object(denial.partner, entity: relationship.destination)
      else { continue }
      if let inverse = runtime.inverse(of: relationship), relationship.deleteRule == .nullify {
        rules.fail(partner, inverse.name, .required, "must be set")
      } else if relationship.deleteRule == .deny || relationship.deleteRule == .cascade {
        rules.deny(owner, relationship, [AnyObjectID(partner)])
      } else {
        rules.fail(
          partner, "\(relationship.entityName).\(relationship.name)", .deniedDelete,
          "must lead elsewhere before the object can be deleted", blockers: [AnyObjectID(owner)])
      }
    }
    for failure in try validationError(for: ConstraintViolations(counts: broken.counts)).failures { rules.add(failure) }
    return ValidationError(failures: rules.failures)
  }
}
