import TrellisModel
import TrellisStorage

/// The store operation for a change of many objects, after the model's rules have been checked.
struct BatchUpdatePlan {
  struct Failure {
    let property: String
    let rule: ValidationFailure.Rule
    let message: String
  }

  private(set) var update: BatchUpdate
  /// The rules that constant values break.
  private(set) var failures: [Failure] = []
  /// Whether the owners of objects change.
  private(set) var movesMembers = false
  private let entity: EntityInfo
  private let runtime: RuntimeModel

  init(_ request: StoreRequest, _ runtime: RuntimeModel) {
    update = BatchUpdate(request: request, assignments: [])
    entity = runtime.info(request.entity)
    self.runtime = runtime
  }

  /// The entities of the affected objects.
  private var concerned: [EntityInfo] {
    update.request.includesSubentities ? entity.entity.subtree.map { runtime.info($0) } : [entity]
  }

  func checkHooks() throws {
    for entity in concerned {
      for hook in [LifecycleHook.willSave, .didSave, .validateUpdate] where entity.hooks.contains(hook) {
        throw unsupported("\(entity.name).\(hook.rawValue) is called for each object that is saved")
      }
    }
  }

  mutating func add(_ change: PropertyChange) throws {
    let assignment = change.assignment
    guard change.path.variable == 0, entity.entity.properties.indices.contains(assignment.property) else {
      throw unsupported("a property of another object was to be set")
    }
    let property = entity.entity.properties[assignment.property]
    guard property.column != nil else {
      throw unsupported("\(property.name) does not lie in the objects' own rows", property)
    }
    for entity in concerned where entity.entity.uniqueKeys.contains(where: { $0.properties.contains(property.index) }) {
      throw unsupported("\(property.name) is part of a unique key of \(entity.name)", property)
    }
    for entity in concerned {
      let groups = entity.optionalGroups
      guard let group = groups.first(where: { $0.fields.contains(property.index) || $0.presence == property.index })
      else { continue }
      throw unsupported("\(property.name) is a field of \(group.name), which may be nil", property)
    }
    switch property {
    case .attribute(let attribute): try check(assignment.value, of: attribute)
    case .relationship: try checkReference(assignment.value, property)
    }
    // The last assignment to a property wins.
    update.assignments.removeAll { $0.property == assignment.property }
    update.assignments.append(assignment)
  }

  // MARK: Attributes

  private mutating func check(_ value: Operand, of attribute: Attribute) throws {
    let checked = entity.checkedAttributes.first { $0.index == attribute.index }
    if case .value(let constant) = value {
      for failure in checked?.failures(of: constant) ?? [] {
        failures.append(Failure(property: attribute.name, rule: .init(failure.rule), message: failure.message))
      }
      return
    }
    guard entity.entity.holdsAll(of: value) else {
      throw unsupported("\(attribute.name) was to get a value that is made of other objects", .attribute(attribute))
    }
    if attribute.type == .float, case .computed = value {
      throw unsupported("arithmetic is exact for no attribute of the type float", .attribute(attribute))
    }
    guard let refused = attribute.refused(value, entity.entity) else {
      throw unsupported("the length of a list is known only when it is loaded", .attribute(attribute))
    }
    update.refused = .or([update.refused, refused].compactMap(\.self))
  }

  // MARK: To-ones

  private mutating func checkReference(_ value: Operand, _ property: Property) throws {
    guard let relationship = entity.relationships[property.index] else { return }
    if relationship.isOrdered || inverseIsOrdered(relationship) {
      throw unsupported("\(property.name) leads to an owner whose members have an order", property)
    }
    if let inverse = runtime.inverse(of: relationship) {
      if !inverse.isToMany { throw unsupported("\(property.name) leads to one object each", property) }
      if inverse.isCounted { throw unsupported("\(inverse.entityName).\(inverse.name) is counted", property) }
    }
    if relationship.isRequired, case .value(.null) = value {
      failures.append(Failure(property: property.name, rule: .required, message: "must be set"))
    }
    movesMembers = movesMembers || relationship.inverse != nil
  }

  private func inverseIsOrdered(_ relationship: Relationship) -> Bool {
    if case .column(_, .some) = relationship.home { true } else { false }
  }

  private func unsupported(_ why: String, _ property: Property? = nil) -> StoreError {
    StoreError(
      .unsupported, "Objects of \(entity.name) cannot be changed all at once, as \(why).",
      remedy: "Go through them with stream, change each one, and save.", entity: entity.name,
      properties: property.map { [$0.name] } ?? [])
  }
}

// MARK: - Updating all

extension ObjectGraph {
  /// Changes every object of a request in the store, in one operation and without loading them.
  @discardableResult func updateAll<Columns: EntityColumns>(
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
      var update = plan.update
      update.author = author
      let outcome = try connection().updateAll(update, in: runtime.model)
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
    let name = runtime.info(request.entity).name
    let roots = Set(([request.entity] + entities).map { runtime.info($0).root })
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
    let id = object.map { AnyObjectID($0) } ?? AnyObjectID(key, runtime.info(entity))
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
    let entity = runtime.info(update.request.entity)
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

// MARK: - Deleting all

extension ObjectGraph {
  /// Deletes every object of a request in the store, in one operation and without loading them.
  @discardableResult func deleteAll<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try prepareBatchOperation("deleteAll")
    let storeRequest = try request.storeRequest(in: self)
    let reach = DeleteReach(storeRequest, runtime.model)
    let holders = Set(reach.unlinking.flatMap { runtime.info($0.entity).entity.subtree })
    try checkHooks(reach, holders, storeRequest.entity)
    if request.rules.seesPendingChanges {
      try checkNothingPending(storeRequest, entities: holders.union(reach.entities))
    }
    do {
      var delete = BatchDelete(request: storeRequest)
      delete.author = author
      let outcome = try connection().deleteAll(delete, in: runtime.model)
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
      guard let hook = hooks.first(where: runtime.info(number).hooks.contains) else { continue }
      let name = runtime.info(entity).name
      throw StoreError(
        .unsupported,
        "Objects of \(name) cannot be deleted all at once, as \(runtime.info(number).name).\(hook.rawValue) is called for "
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
      if let inverse = runtime.inverse(of: relationship), relationship.deleteAction == .clearReferences {
        rules.fail(partner, inverse.name, .required, "must be set")
      } else if relationship.deleteAction == .refuse || relationship.deleteAction == .deletePartners {
        rules.deny(owner, relationship, .init([AnyObjectID(partner)]))
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
