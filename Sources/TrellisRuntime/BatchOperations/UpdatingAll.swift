import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// Changes every object of a request in the store, in one operation and without loading them.
  ///
  /// ```swift
  /// let read = try context.updateAll(EmotionDiary.where { $0.emotion == .sad }) { $0.mood.set("read") }
  /// try context.updateAll(Entry.where { $0.kind == .expense }) {
  ///   $0.amount.multiply(by: 2)
  ///   $0.memo.set(nil)
  /// }
  /// ```
  /// The change is a separate transaction and not a pending change: there is nothing to save, roll back or undo
  /// afterwards. The row version of every object of the request is incremented, whatever its previous values, so that a
  /// save by a context that read it earlier finds a conflict. Objects in memory show the new values. Other contexts,
  /// live results and ``PersistentContainer/saves`` are notified as of a save.
  ///
  /// The model's rules apply: constants are checked before the change, computed values in the store, and one broken
  /// rule refuses the whole change. A change that no store can check without loading the objects is refused before it
  /// starts; see the guide to fetching.
  ///
  /// The change is also refused if there are unsaved changes of objects that the request could match. A request with
  /// ``FetchRequest/storedOnly()`` ignores such changes: they are kept, and the next save resolves them as if another
  /// context had written the objects.
  ///
  /// - Returns: the number of changed objects.
  /// - Throws: ``ValidationError`` if an object would break a rule; ``StoreError`` with the code `unsupported` if the
  ///   objects would have to be loaded for it; ``ContextError`` with the code `unsaved-changes`, and inside a hook; the
  ///   same errors as ``fetch(_:)``.
  /// - Complexity: that of the store's query and of writing; memory for the keys of the objects. The stores in memory
  ///   also keep the new rows in memory.
  @discardableResult public func updateAll<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, @ChangeBuilder _ changes: (Columns) -> [PropertyChange]
  ) throws -> Int {
    try prepareBatchOperation("updateAll")
    let storeRequest = try request.storeRequest(in: self)
    var plan = BatchUpdatePlan(storeRequest, runtime)
    for change in changes(Columns(PropertyPath(variable: 0))) { try plan.add(change) }
    try plan.checkHooks()
    if request.rules.seesPendingChanges { try checkNothingPending(storeRequest, entities: []) }
    if plan.update.assignments.isEmpty { return try connection().count(storeRequest) }
    if !plan.failures.isEmpty {
      guard let key = try keys(of: storeRequest.first, request.rules).first else { return 0 }
      throw try validationError(plan.failures, key, storeRequest.entity)
    }
    do {
      let outcome = try connection().updateAll(plan.update, in: runtime.model)
      tell(outcome, movesMembers: plan.movesMembers)
      return outcome.found
    } catch let refused as RefusedRows {
      throw try validationError(for: refused, plan.update)
    }
  }

  // MARK: Steps

  func prepareBatchOperation(_ name: String) throws {
    try checkAllowed(name)
    try checkNotPinned()
    guard parent == nil else {
      throw StoreError(
        .unsupported, "\(name) was called in a child context, whose changes are not for the store yet.",
        remedy: "Save the child and its parent, and call it in a context without a parent.")
    }
    try prepareFetch()
  }

  /// Throws if there are unsaved changes that could affect a request, or of objects of some entities.
  func checkNothingPending(_ request: StoreRequest, entities: Set<Int>) throws {
    let name = runtime.entities[request.entity].name
    let roots = Set(([request.entity] + entities).map { runtime.entities[$0].root })
    let isConcerned =
      pendingChanges(for: request) != .none
      || [inserted, changed, deleted].joined().contains { entities.contains(type(of: $0)._entity) }
      || pendingCascades.contains { !$0.rule.roots.isDisjoint(with: roots) }
    guard isConcerned else { return }
    throw ContextError(
      .unsavedChanges,
      "Many objects of \(name) were to be changed at once, while there are unsaved changes that have to do with them. Save or "
        + "roll back first, or leave them aside with storedOnly().")
  }

  /// Notifies all contexts, this one included, as if another context had saved.
  func tell(_ outcome: BatchOutcome, movesMembers: Bool, cleared: [RelationshipNumber] = []) {
    guard !outcome.updated.isEmpty || !outcome.deleted.isEmpty else { return }
    var notice = SaveNotice()
    notice.author = author
    notice.updated = outcome.updated.map(SaveNotice.Row.init)
    notice.deleted = outcome.deleted.map(SaveNotice.Row.init)
    notice.movesMembers = movesMembers
    notice.cleared = cleared
    core.hub.post(notice, from: nil)
    mergeInbox()
  }

  /// The error for a constant that breaks rules. It names the first object that would get the constant.
  private func validationError(
    _ failures: [BatchUpdatePlan.Failure], _ key: Int64, _ entity: Int
  ) throws -> ValidationError {
    let object = try object(key, entity: entity)
    let id = object.map { AnyObjectID($0) } ?? AnyObjectID(key, runtime.entities[entity])
    return ValidationError(
      failures: failures.map {
        ValidationFailure(id, property: $0.property, rule: $0.rule, message: $0.message)
      })
  }

  /// The error for computed values that break rules.
  private func validationError(for refused: RefusedRows, _ update: BatchUpdate) throws -> ValidationError {
    let entity = update.request.entity
    let missing = refused.keys.filter { map[$0] == nil }
    if !missing.isEmpty { try loadObjects(missing, entity: entity) }
    var failures: [ValidationFailure] = []
    for object in refused.keys.compactMap({ map[$0] }) {
      let found = try evaluating { try update.failures(of: QueriedObject(object, self), info(of: object)) }
      failures += found.map {
        ValidationFailure(AnyObjectID(object), property: $0.property, rule: $0.rule, message: $0.message)
      }
    }
    return ValidationError(failures: failures.isEmpty ? unnamedFailures(refused, update) : failures)
  }

  /// The failures without exact reasons, for the case that the objects in memory have other values than the refused
  /// rows.
  private func unnamedFailures(_ refused: RefusedRows, _ update: BatchUpdate) -> [ValidationFailure] {
    let entity = runtime.entities[update.request.entity]
    let names = update.assignments.map { entity.entity.properties[$0.property].name }
    return refused.keys.map {
      ValidationFailure(
        AnyObjectID($0, entity), property: names.count == 1 ? names[0] : "", rule: .custom,
        message: "would get a value that its rules forbid")
    }
  }
}

extension StoreRequest {
  fileprivate var first: StoreRequest {
    var request = self
    request.limit = min(1, limit ?? 1)
    return request
  }
}

extension SaveNotice.Row {
  init(_ row: BatchOutcome.Row) { self.init(key: row.key, entity: row.entity, properties: row.properties) }
}
