import TrellisModel
import TrellisStorage

/// Rows of other contexts that refer to objects which this save deletes, found after the store has refused the delete
/// because of them.
///
/// The delete rules are applied to these rows as to all others, with hooks and checks, and the save is tried again:
/// `cascade` deletes the rows, `nullify` clears their references.
struct ConcurrentReferences {
  private let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Applies the delete rules to the rows that refer to the objects which a plan deletes.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``ValidationError`` if a rule denies the delete.
  func applyDeleteRules(after plan: SavePlan) throws -> Bool {
    var rules = ObjectRules(graph)
    var isAny = false
    for (entity, victims) in Dictionary(grouping: plan.deleted, by: { type(of: $0)._entity })
      .sortedByKey
    {
      for relationship in graph.runtime.info(entity).allRelationships {
        guard let inverse = graph.runtime.inverse(of: relationship), inverse.isColumn else { continue }
        let found = try holders(of: victims, relationship, inverse)
        if found.isEmpty { continue }
        isAny = true
        switch relationship.deleteAction {
        // All together, so that they do not deny each other's delete. The delete of one may include others.
        case .deletePartners: try graph.deleteAll(found.map(\.holder))
        case .clearReferences: for (holder, victim) in found { graph.unlink(holder, inverse, victim) }
        case .refuse: deny(victims, relationship, found, &rules)
        case .leaveReferences, .nothing: break
        }
      }
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
    return isAny
  }

  /// Deletes the partners that rows of join tables link to deleted objects, where the delete rule is `cascade`.
  ///
  /// - Returns: whether there were any.
  func applyDeleteRules(_ pairs: [ConstraintViolations.Denial]) throws -> Bool {
    var isAny = false
    for (number, links) in Dictionary(grouping: pairs, by: \.relationship)
      .sortedByKey
    {
      guard let relationship = graph.runtime.relationship(number), relationship.deleteAction == .deletePartners else {
        continue
      }
      let partners = Set(links.map(\.partner)).sorted()
      try graph.loadForChange(partners, of: relationship)
      let found = partners.compactMap { graph.map[$0] }.filter(\.isAlive)
      if found.isEmpty { continue }
      try graph.deleteAll(found)
      isAny = true
    }
    return isAny
  }

  // MARK: Steps

  /// The rows in the store that refer to a victim, without the objects that are deleted here or refer to another object
  /// here. An edited object counts if it has merged the reference from the store.
  private func holders(
    of victims: [ManagedObject], _ relationship: Relationship, _ inverse: Relationship
  ) throws -> [(holder: ManagedObject, victim: Int64)] {
    if relationship.deleteAction == .leaveReferences { return [] }
    var links: [(holder: Int64, victim: Int64)] = []
    try graph.connection().memberKeys(of: relationship.number, owners: victims.map(\._key)) {
      owner, holder, _ in
      links.append((holder, owner))
    }
    let unknown = links.filter { link in
      graph.map[link.holder].map { $0.phase == .persistent } ?? true
    }
    if unknown.isEmpty { return [] }
    // Rows that are in memory already are refreshed by this.
    try graph.loadObjects(unknown.map(\.holder), entity: relationship.destination)
    return unknown.compactMap { link in
      guard let holder = graph.map[link.holder], holder.isAlive,
        graph.knownReference(of: holder, inverse) == link.victim
      else { return nil }
      return (holder, link.victim)
    }
  }

  private func deny(
    _ victims: [ManagedObject], _ relationship: Relationship, _ found: [(holder: ManagedObject, victim: Int64)],
    _ rules: inout ObjectRules
  ) {
    for victim in victims {
      let blockers = found.filter { $0.victim == victim._key }.map(\.holder)
      if blockers.isEmpty { continue }
      rules.deny(victim, relationship, .init(blockers.map { AnyObjectID($0, graph.info(of: $0)) }))
    }
  }
}

// MARK: - Lost partners

extension SavePlan {
  /// Finds the written references whose targets other contexts have deleted meanwhile. The store has refused a
  /// reference without a target but does not report which one.
  func lostPartners(_ graph: ObjectGraph) throws -> [ValidationFailure] {
    var search = LostPartnerSearch(graph)
    for object in inserted { search.add(object, graph.info(of: object).storedMask) }
    for (object, mask) in updated { search.add(object, mask) }
    for pairs in request.pairs { search.add(pairs) }
    return try search.failures()
  }
}

extension SavePlan {
  /// Finds the owners of one-way to-many relationships that the plan adds members to and that other contexts have
  /// deleted meanwhile. These owners count as edited, although the save does not write their rows.
  func lostOwners(_ graph: ObjectGraph) throws -> [SaveConflict.Row] {
    var lost: [Int64: SaveConflict.Row] = [:]
    for pairs in request.pairs {
      let table = graph.runtime.model.joinTables[pairs.table]
      guard table.second == nil else { continue }
      let entity = graph.runtime.info(table.first.entity).root
      var owners = Set(pairs.added.map(\.first).filter { graph.map[$0]?.phase == .persistent })
      try graph.connection().rows(of: entity, keys: owners.sorted()) { owners.remove($0.key) }
      for key in owners { lost[key] = SaveConflict.Row(entity: entity, key: key) }
    }
    return lost.sortedByKey.map(\.value)
  }
}

private struct LostPartnerSearch {
  private struct Reference {
    let object: ManagedObject
    let relationship: Relationship
    let partner: Int64
  }

  private let graph: ObjectGraph
  private var references: [Reference] = []

  init(_ graph: ObjectGraph) { self.graph = graph }

  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    for relationship in graph.info(of: object).allRelationships
    where relationship.isColumn && mask.contains(relationship.property) {
      add(object, relationship, object._reference(relationship.property))
    }
  }

  mutating func add(_ pairs: SaveRequest.Pairs) {
    let table = graph.runtime.model.joinTables[pairs.table]
    for pair in pairs.added {
      add(pair.first, table.first, pair.partner)
      if let second = table.second { add(pair.partner, second, pair.first) }
    }
  }

  private mutating func add(_ key: Int64, _ end: JoinTable.End, _ partner: Int64) {
    let number = RelationshipNumber(entity: end.entity, property: end.property)
    guard let object = graph.map[key], let relationship = graph.runtime.relationship(number) else { return }
    add(object, relationship, partner)
  }

  private mutating func add(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) {
    guard partner > 0, object.isAlive, graph.map[partner]?.phase != .inserted else { return }
    references.append(Reference(object: object, relationship: relationship, partner: partner))
  }

  func failures() throws -> [ValidationFailure] {
    var rules = ObjectRules(graph)
    for (entity, group) in Dictionary(
      grouping: references, by: { graph.runtime.info($0.relationship.destination).root }
    )
    .sortedByKey {
      var missing = Set(group.map(\.partner))
      try graph.connection().rows(of: entity, keys: missing.sorted()) { missing.remove($0.key) }
      for reference in group where missing.contains(reference.partner) {
        let partner = graph.runtime.info(reference.relationship.destination)
        rules.fail(
          reference.object, reference.relationship.name, .deletedPartner,
          "leads to an object that another writer has deleted",
          blockers: [AnyObjectID(reference.partner, partner)])
      }
    }
    return rules.failures
  }
}

// MARK: - Rules in store

extension SavePlan {
  /// Collects the checks that the store repeats inside the transaction, when no other writer can interfere: the numbers
  /// of members, and partners that deny a delete. Other writers may have changed them since they were loaded.
  ///
  /// New owners are not checked, because no other context knows them. References are not checked, because the store
  /// never accepts a reference without a target.
  func collectChecks(_ graph: ObjectGraph) {
    guard graph.runtime.needsStoreChecks else { return }
    var asking = RulesToAsk(graph)
    for (object, mask) in updated { asking.addChange(of: object, mask) }
    for object in relinked { asking.addChange(of: object, ColumnMask(bits: 0)) }
    for object in deleted { asking.addDelete(of: object) }
    request.counts = asking.counts
    request.denials = asking.denials
  }
}

private struct RulesToAsk {
  private struct Owners {
    let relationship: Relationship
    var owners: Set<Int64> = []
    var leaving: [Int64] = []
  }

  private let graph: ObjectGraph
  private var counted: [RelationshipNumber: Owners] = [:]
  private var denied: [RelationshipNumber: [Int64]] = [:]

  init(_ graph: ObjectGraph) { self.graph = graph }

  mutating func addChange(of object: ManagedObject, _ mask: ColumnMask) {
    let checks = graph.info(of: object).storeChecks
    guard checks.concernsChanges else { return }
    for relationship in checks.counted where object.list(of: relationship.property)?.hasChanges == true {
      add(object._key, to: relationship)
    }
    for reference in checks.needed where mask.contains(reference.property) { addOwners(of: object, reference) }
  }

  mutating func addDelete(of object: ManagedObject) {
    let checks = graph.info(of: object).storeChecks
    guard checks.concernsDeletes else { return }
    for reference in checks.needed { addOwners(of: object, reference) }
    for keeper in checks.keepers { self[keeper].leaving.append(object._key) }
    for relationship in checks.denials { denied[relationship.number, default: []].append(object._key) }
  }

  /// Adds the object that a reference leads to, and the one that it leads to in the store.
  private mutating func addOwners(of object: ManagedObject, _ reference: Relationship) {
    guard let inverse = graph.runtime.inverse(of: reference) else { return }
    add(object._reference(reference.property), to: inverse)
    if case .integer(let former)? = object.committedRow?.value(reference.property) { add(former, to: inverse) }
  }

  private mutating func add(_ owner: Int64, to relationship: Relationship) {
    guard owner > 0 else { return }
    let phase = graph.map[owner]?.phase
    if phase == nil || phase == .persistent { self[relationship].owners.insert(owner) }
  }

  private subscript(relationship: Relationship) -> Owners {
    get { counted[relationship.number] ?? Owners(relationship: relationship) }
    _modify { yield &counted[relationship.number, default: Owners(relationship: relationship)] }
  }

  // MARK: The result

  var counts: [SaveRequest.CountChecks] {
    counted.sortedByKey.map { number, owners in
      let relationship = owners.relationship
      return SaveRequest.CountChecks(
        relationship: number, owners: owners.owners.sorted(), leaving: owners.leaving,
        least: relationship.isRequired ? 1 : relationship.minimumCount ?? 0, most: relationship.maximumCount ?? .max,
        mayBeEmpty: relationship.isToMany && relationship.isOptional)
    }
  }

  var denials: [SaveRequest.RestrictChecks] {
    denied.sortedByKey
      .map { SaveRequest.RestrictChecks(relationship: $0.key, owners: $0.value) }
  }
}

extension ObjectGraph {
  /// The violations that the store has found, as the error that the checks before the write throw.
  func validationError(for broken: ConstraintViolations) throws -> ValidationError {
    var rules = ObjectRules(self)
    for count in broken.counts {
      guard let relationship = runtime.relationship(count.relationship) else { continue }
      guard let owner = try object(count.owner, entity: relationship.entity) else { continue }
      if relationship.isToMany {
        rules.checkCount(count.found, of: relationship, owner)
      } else {
        rules.fail(owner, relationship.name, .required, "must be set")
      }
    }
    let denials = Dictionary(grouping: broken.denials) { SingleDenial(relationship: $0.relationship, owner: $0.owner) }
    for (denial, partners) in denials.sorted(by: { $0.key.owner < $1.key.owner }) {
      guard let relationship = runtime.relationship(denial.relationship), let owner = map[denial.owner] else {
        continue
      }
      let blockers = try partners.compactMap { try object($0.partner, entity: relationship.destination) }
      rules.deny(owner, relationship, .init(blockers.map { AnyObjectID($0, info(of: $0)) }))
    }
    return ValidationError(failures: rules.failures)
  }
}

private struct SingleDenial: Hashable {
  let relationship: RelationshipNumber
  let owner: Int64
}

// MARK: - Conflict names

extension ObjectGraph {
  /// The error that a save throws, with the names of entities: a store knows entities only by number.
  func withNames(_ error: any Error) -> any Error {
    guard var conflict = error as? SaveConflict else { return error }
    for place in conflict.rows.indices {
      let entity = conflict.rows[place].entity
      if runtime.entities.indices.contains(entity) { conflict.rows[place].entityName = runtime.info(entity).name }
    }
    return conflict
  }
}
