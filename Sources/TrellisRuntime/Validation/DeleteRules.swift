import TrellisModel
import TrellisStorage

extension ObjectRules {
  /// Checks that the rules allow the deletes: no partner remains in a relationship with the delete rule `deny`, and no
  /// remaining object requires one of the deleted objects by a one-way reference.
  mutating func checkDeleted(_ objects: [ManagedObject]) throws {
    for object in objects {
      try checkPartners(of: object)
      callValidationHook(.validateDelete, of: object)
    }
    for reference in graph.oneWayReferences(to: objects) where reference.isRequired {
      try checkHolders(of: objects, reference)
    }
  }

  private mutating func checkPartners(of object: ManagedObject) throws {
    for relationship in graph.info(of: object).allRelationships where relationship.deleteAction == .refuse {
      let blockers = try storedBlockers(of: object, relationship) ?? knownBlockers(of: object, relationship)
      if blockers.count > 0 { deny(object, relationship, blockers) }
    }
  }

  /// The objects that prevent a delete: the first ones, and the number of all.
  struct Blockers {
    var first: [AnyObjectID] = []
    var count = 0

    init() {}

    init(_ all: [AnyObjectID]) {
      first = Array(all.prefix(ValidationFailure.mostBlockers))
      count = all.count
    }
  }

  /// Adds the failure for a delete that remaining partners prevent.
  mutating func deny(_ object: ManagedObject, _ relationship: Relationship, _ blockers: Blockers) {
    fail(
      object, relationship.name, .deniedDelete, "must be empty before the object can be deleted",
      blockers: blockers.first, blockerCount: blockers.count)
  }

  /// The remaining partners, as the context knows them. Of those that are not in memory, the first ones are loaded.
  private func knownBlockers(of object: ManagedObject, _ relationship: Relationship) throws -> Blockers {
    let left = try partners(of: object, relationship).filter { !isLeaving($0) }
    var blockers = Blockers()
    blockers.count = left.count
    var start = 0
    while start < left.count, blockers.first.count < ValidationFailure.mostBlockers {
      let part = left[start..<min(left.count, start + ValidationFailure.mostBlockers)]
      start = part.endIndex
      let found = try living(Array(part), entity: relationship.destination)
      // Other contexts have deleted the rest.
      blockers.count -= part.count - found.count
      blockers.first += found.prefix(ValidationFailure.mostBlockers - blockers.first.count)
    }
    return blockers
  }

  /// The partners in the store, without loading any of them.
  ///
  /// - Returns: nil if unsaved changes of the context may concern them.
  private mutating func storedBlockers(of object: ManagedObject, _ relationship: Relationship) throws -> Blockers? {
    guard relationship.isToMany, let inverse = graph.runtime.inverse(of: relationship), inverse.isColumn,
      object.phase == .persistent || object.phase == .deleted, graph.parent == nil
    else { return nil }
    if let list = object.list(of: relationship.property), list.isLoaded || list.hasChanges { return nil }
    guard !mayDiffer(from: inverse) else { return nil }
    let isOwn = Comparison(
      .path(PropertyPath(variable: 0).appending(inverse.property)), .equal, .value(.integer(object._key)),
      kind: .integer)
    let connection = try graph.connection()
    var blockers = Blockers()
    blockers.count = try connection.count(
      StoreRequest(entity: relationship.destination, predicate: .comparison(isOwn)))
    if blockers.count == 0 { return blockers }
    var keys: [Int64] = []
    struct Enough: Error {}
    do {
      try connection.memberKeys(of: relationship.number, owners: [object._key]) { _, key, _ in
        keys.append(key)
        if keys.count == ValidationFailure.mostBlockers { throw Enough() }
      }
    } catch is Enough {}
    var entities: [Int64: Int] = [:]
    try connection.rows(of: relationship.destination, keys: keys.sorted()) { entities[$0.key] = $0.entity }
    blockers.first = keys.compactMap { key in
      entities[key].flatMap { entity in
        graph.runtime.entities.indices.contains(entity) ? AnyObjectID(key, graph.runtime.info(entity)) : nil
      }
    }
    return blockers
  }

  /// Whether unsaved changes may have set or cleared a reference, or have deleted an object that holds it.
  private mutating func mayDiffer(from reference: Relationship) -> Bool {
    let backlog = graph.backlog
    if graph.pending.deletions.hasCascades || hasUnloadedVictims || !backlog.isEmpty || !backlog.returning.isEmpty
      || !backlog.lostMembers.isEmpty
    {
      return true
    }
    if let known = differences[reference.number] { return known }
    let edited = [graph.inserted, graph.changed, graph.deleted].joined()
    let differs =
      edited.contains { graph.info(of: $0).relationships.contains(reference) }
      || leaving.contains { key in graph.map[key].map { graph.info(of: $0).relationships.contains(reference) } ?? true }
    differences[reference.number] = differs
    return differs
  }

  private mutating func checkHolders(of objects: [ManagedObject], _ reference: Relationship) throws {
    let keys = Set(objects.map(\._key))
    var blockers: [Int64: [AnyObjectID]] = [:]
    for holder in try graph.holders(of: keys, reference) where !isLeaving(holder._key) {
      let id = AnyObjectID(holder, graph.info(of: holder))
      blockers[graph.knownReference(of: holder, reference), default: []].append(id)
    }
    for object in objects {
      guard let blockers = blockers[object._key] else { continue }
      fail(
        object, "\(reference.entityName).\(reference.name)", .deniedDelete,
        "must lead elsewhere before the object can be deleted", blockers: Blockers(blockers).first,
        blockerCount: blockers.count)
    }
  }

  /// Checks the remaining partners of a deleted object: their required to-one relationships and their numbers of
  /// members.
  mutating func checkSurvivors(of object: ManagedObject) throws {
    for relationship in graph.info(of: object).allRelationships {
      guard let inverse = graph.runtime.inverse(of: relationship), inverse.isRequired || inverse.isCounted,
        !graph.survivorsKeep(object, relationship, inverse)
      else { continue }
      for key in try partners(of: object, relationship) where !isLeaving(key) {
        guard let survivor = try graph.object(key, entity: relationship.destination) else { continue }
        try checkLoss(of: survivor, inverse)
      }
    }
    try checkOneWaySurvivors(of: object)
  }

  /// Checks new and changed objects, because their references are cleared in memory. The store clears the references of
  /// other objects.
  private mutating func checkOneWaySurvivors(of object: ManagedObject) throws {
    let references = graph.oneWayReferences(to: [object]).filter { reference in
      reference.isToMany ? reference.isCounted : reference.isRequired && object.phase == .inserted
    }
    if references.isEmpty { return }
    for holder in graph.inserted + graph.changed where holder.isAlive && !isLeaving(holder._key) {
      for reference in references where graph.info(of: holder).relationships.contains(reference) {
        guard graph.presentPartners(of: holder, reference).contains(object._key) else { continue }
        try checkLoss(of: holder, reference)
      }
    }
  }

  /// Checks a relationship that loses a deleted object.
  private mutating func checkLoss(of survivor: ManagedObject, _ relationship: Relationship) throws {
    guard relationship.isToMany else { return fail(survivor, relationship.name, .required, "must be set") }
    let left = try partners(of: survivor, relationship).filter { !isLeaving($0) }
    checkCount(left.count, of: relationship, survivor)
  }

  private func isLeaving(_ key: Int64) -> Bool {
    leaving.contains(key) || graph.map[key]?.phase == .deleted
  }

  private func partners(of object: ManagedObject, _ relationship: Relationship) throws -> [Int64] {
    if relationship.isToMany {
      return Array(try graph.loadedList(of: object, relationship).keys)
    }
    let key = try graph.partnerKey(of: object, relationship)
    return key > 0 ? [key] : []
  }

  /// The identifiers of the existing objects among some keys.
  private func living(_ keys: [Int64], entity: Int) throws -> [AnyObjectID] {
    let missing = keys.filter { graph.map[$0] == nil }
    if !missing.isEmpty { try graph.loadObjects(missing, entity: entity) }
    return keys.compactMap { graph.map[$0] }.map { AnyObjectID($0, graph.info(of: $0)) }
  }
}

extension ObjectGraph {
  /// The living objects that refer to one of some objects by a one-way to-one relationship.
  fileprivate func holders(of keys: Set<Int64>, _ reference: Relationship) throws -> [ManagedObject] {
    var found: [Int64: ManagedObject] = [:]
    // Unsaved references are searched in memory, because in a predicate a reference to a deleted object is nil.
    for object in try stored(reference.holders(of: keys.sorted())) + inserted + changed where object.isAlive {
      guard info(of: object).relationships.contains(reference) else { continue }
      if keys.contains(knownReference(of: object, reference)) { found[object._key] = object }
    }
    return found.sortedByKey.map(\.value)
  }
}

// MARK: - Object rules

/// Checks objects against the rules of their model.
struct ObjectRules {
  let graph: ObjectGraph
  private(set) var failures: [ValidationFailure] = []
  /// Keys of objects that count as deleted already.
  var leaving: Set<Int64> = []
  /// Whether the delete cascades to objects that are not loaded.
  var hasUnloadedVictims = false
  /// Whether unsaved changes may concern a reference, as far as this was asked.
  private var differences: [RelationshipNumber: Bool] = [:]
  /// Whether the members of unchanged to-many relationships are counted as well.
  var countsUnchanged = false

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Checks a new or changed object.
  mutating func check(_ object: ManagedObject, _ info: EntityInfo) throws {
    guard info.isChecked else { return }
    for attribute in info.checkedAttributes { checkAttribute(attribute, of: object) }
    for group in info.optionalGroups {
      guard let failure = group.failure(object._value) else { continue }
      fail(object, info.entity.properties[failure.property].name, .required, failure.message)
    }
    if !info.checkedRelationships.isEmpty { try checkRelationships(of: object) }
  }

  /// Checks the relationships of an object.
  mutating func checkRelationships(of object: ManagedObject) throws {
    let info = graph.info(of: object)
    for relationship in info.checkedRelationships { try checkRelationship(relationship, of: object, info) }
  }

  mutating func add(_ failure: ValidationFailure) { failures.append(failure) }

  mutating func fail(
    _ object: ManagedObject, _ property: String, _ rule: ValidationFailure.Rule, _ message: String,
    blockers: [AnyObjectID] = [], blockerCount: Int? = nil
  ) {
    let id = AnyObjectID(object, graph.info(of: object))
    failures.append(
      ValidationFailure(
        id, property: property, rule: rule, message: message, blockers: blockers, blockerCount: blockerCount))
  }

  // MARK: Attributes

  private mutating func checkAttribute(_ attribute: CheckedAttribute, of object: ManagedObject) {
    for failure in attribute.failures(of: object._value(attribute.index)) {
      fail(object, attribute.name, ValidationFailure.Rule(failure.rule), failure.message)
    }
  }

  // MARK: Relationships

  private mutating func checkRelationship(
    _ relationship: Relationship, of object: ManagedObject, _ info: EntityInfo
  ) throws {
    guard relationship.isToMany else {
      if try relationship.isRequired && graph.partnerKey(of: object, relationship) == 0 {
        fail(object, relationship.name, .required, "must be set")
      }
      return
    }
    guard countsUnchanged || object.phase == .inserted || object.hasChangedList(relationship) else { return }
    let count = try graph.loadedList(of: object, relationship).keys.count
    checkCount(count, of: relationship, object)
  }

  /// Checks the required to-ones that partners' rows hold, as far as the context has noted them. Their number of partners
  /// in the store is checked by the save.
  mutating func checkNotedPartners(of object: ManagedObject) {
    for relationship in graph.info(of: object).checkedRelationships where relationship.isRequired {
      guard !relationship.isToMany, !relationship.isColumn, graph.holder(of: object, relationship) == 0 else {
        continue
      }
      fail(object, relationship.name, .required, "must be set")
    }
  }

  /// Checks a number of members.
  mutating func checkCount(_ count: Int, of relationship: Relationship, _ object: ManagedObject) {
    if let minimum = relationship.minimumCount, count < minimum, count > 0 || !relationship.isOptional {
      fail(object, relationship.name, .minimumCount, "must have at least \(minimum), and has \(count)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      fail(object, relationship.name, .maximumCount, "must have at most \(maximum), and has \(count)")
    }
  }
}

extension ManagedObject {
  fileprivate func hasChangedList(_ relationship: Relationship) -> Bool {
    list(of: relationship.property)?.hasChanges == true
  }
}

// MARK: - Validating a delete

extension ObjectGraph {
  /// Checks whether a save would refuse the delete of an object.
  func validateForDelete(_ object: ManagedObject) throws {
    try checkOwn(object, "cannot be deleted here")
    guard object.isAlive else { return }
    var deletion = Deletion()
    deletion.callsHooks = false
    try deletion.collect([object], in: self)
    try deletion.settle(in: self)
    var rules = ObjectRules(self)
    rules.leaving = Set(deletion.victims.map(\._key))
    rules.hasUnloadedVictims = !deletion.cascades.isEmpty
    for victim in deletion.victims { try rules.checkSurvivors(of: victim) }
    try rules.checkDeleted(deletion.victims.filter { $0.phase == .persistent })
    // A surviving object is checked once for each object that it loses.
    var seen: Set<ValidationFailure> = []
    let failures = rules.failures.filter { seen.insert($0).inserted }
    if !failures.isEmpty { throw ValidationError(failures: failures) }
  }
}
