import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// Deletes every object of a request in the store, in one operation and without loading them.
  ///
  /// ```swift
  /// let gone = try context.deleteAll(EmotionDiary.where { $0.createdAt < lastYear })
  /// ```
  /// The delete is a separate transaction and not a pending change: there is nothing to save, roll back or undo
  /// afterwards. The model's delete rules apply: members under `cascade` are deleted as well, references of partners
  /// under `nullify` become nil, and a remaining partner under `deny` refuses the whole delete. Objects in memory
  /// behave as if another context had deleted them. Other contexts, live results and ``PersistentContainer/saves`` are
  /// notified as of a save.
  ///
  /// The delete is refused before it starts if an entity has hooks that would have to run for deleted objects or for
  /// partners that lose their reference to one.
  ///
  /// The delete is also refused if there are unsaved changes of objects that the request could match or the delete
  /// rules could reach. A request with ``FetchRequest/storedOnly()`` ignores such changes: they are kept, and the next
  /// save resolves them as if another context had deleted the objects.
  ///
  /// - Returns: the number of objects of the request that were deleted, without those that the delete rules deleted.
  /// - Throws: ``ValidationError`` if a rule prevents the delete; ``StoreError`` with the code `unsupported` if the
  ///   objects would have to be loaded for it; ``ContextError`` with the code `unsaved-changes`, and inside a hook; the
  ///   same errors as ``fetch(_:)``.
  /// - Complexity: that of the store's query and of writing; memory for the keys of the deleted objects. If a partner
  ///   may prevent the delete, or must keep a number of members, memory for the rows.
  @discardableResult public func deleteAll<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try prepareBatchOperation("deleteAll")
    let storeRequest = try request.storeRequest(in: self)
    let reach = DeleteReach(storeRequest, runtime.model)
    let holders = Set(reach.unlinking.flatMap { runtime.entities[$0.entity].entity.subtree })
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

  /// The error for the rules that the store found broken. The objects need not be in memory; at most a hundred of them
  /// are named.
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
