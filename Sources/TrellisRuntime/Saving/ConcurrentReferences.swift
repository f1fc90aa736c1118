import TrellisStorage

/// Rows of other contexts that refer to objects which this save deletes, found after the store has refused the delete
/// because of them.
///
/// The delete rules are applied to these rows as to all others, with hooks and checks, and the save is tried again:
/// `cascade` deletes the rows, `nullify` clears their references. If the save still fails, these changes are taken
/// back.
struct ConcurrentReferences {
  private let context: ManagedObjectContext
  private var deleted: [ManagedObject] = []
  private var loosened: [(object: ManagedObject, relationship: RelationshipInfo, partner: Int64)] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Applies the delete rules to the rows that refer to the objects which a plan deletes.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``ValidationError`` if a rule denies the delete.
  mutating func applyDeleteRules(after plan: SavePlan) throws -> Bool {
    var rules = ObjectRules(context)
    var isAny = false
    for (entity, victims) in Dictionary(grouping: plan.deleted, by: { type(of: $0)._entity })
      .sorted(by: { $0.key < $1.key })
    {
      for relationship in context.runtime.entities[entity].allRelationships {
        guard let inverse = context.runtime.inverse(of: relationship), inverse.isColumn else { continue }
        let found = try holders(of: victims, relationship, inverse)
        if found.isEmpty { continue }
        isAny = true
        switch relationship.deleteRule {
        case .cascade: try delete(found.map(\.holder))
        case .nullify: for (holder, victim) in found { unlink(holder, inverse, victim) }
        case .deny: deny(victims, relationship, found, &rules)
        case .noAction: break
        }
      }
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
    return isAny
  }

  /// Deletes the partners that rows of join tables link to deleted objects, where the delete rule is `cascade`.
  ///
  /// - Returns: whether there were any.
  mutating func applyDeleteRules(_ pairs: [ConstraintViolations.Denial]) throws -> Bool {
    var isAny = false
    for (number, links) in Dictionary(grouping: pairs, by: \.relationship)
      .sorted(by: { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) })
    {
      guard let relationship = context.runtime.relationship(number), relationship.deleteRule == .cascade else {
        continue
      }
      let partners = Set(links.map(\.partner)).sorted()
      try context.loadForChange(partners, of: relationship)
      let found = partners.compactMap { context.map[$0] }.filter(\.isAlive)
      if found.isEmpty { continue }
      try delete(found)
      isAny = true
    }
    return isAny
  }

  /// Takes back the changes to these rows, because the save has failed.
  func takeBack() {
    for object in deleted { context.undelete(object) }
    for (object, relationship, partner) in loosened where object.isAlive {
      // If a merge began before, taking it back has already restored this reference.
      guard context.knownReference(of: object, relationship) == 0 else { continue }
      context.take(object, relationship, partner)
    }
    context.forgetUnchanged(loosened.map(\.object))
  }

  // MARK: Steps

  /// The rows in the store that refer to a victim, without the objects that are deleted here or refer to another object
  /// here. An edited object counts if it has merged the reference from the store.
  private func holders(
    of victims: [ManagedObject], _ relationship: RelationshipInfo, _ inverse: RelationshipInfo
  ) throws -> [(holder: ManagedObject, victim: Int64)] {
    if relationship.deleteRule == .noAction { return [] }
    var links: [(holder: Int64, victim: Int64)] = []
    try context.connection().memberKeys(of: context.number(of: relationship), owners: victims.map(\._key)) {
      owner, holder, _ in
      links.append((holder, owner))
    }
    let unknown = links.filter { link in
      context.map[link.holder].map { $0.phase == .persistent } ?? true
    }
    if unknown.isEmpty { return [] }
    // Rows that are in memory already are refreshed by this.
    try context.loadObjects(unknown.map(\.holder), entity: relationship.destination)
    return unknown.compactMap { link in
      guard let holder = context.map[link.holder], holder.isAlive,
        context.knownReference(of: holder, inverse) == link.victim
      else { return nil }
      return (holder, link.victim)
    }
  }

  private mutating func delete(_ holders: [ManagedObject]) throws {
    // All together, so that they do not deny each other's delete. The delete of one may include others.
    deleted += holders
    try context.deleteAll(holders)
  }

  private mutating func unlink(_ holder: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64) {
    loosened.append((holder, relationship, victim))
    context.unlink(holder, relationship, victim)
  }

  private func deny(
    _ victims: [ManagedObject], _ relationship: RelationshipInfo, _ found: [(holder: ManagedObject, victim: Int64)],
    _ rules: inout ObjectRules
  ) {
    for victim in victims {
      let blockers = found.filter { $0.victim == victim._key }.map(\.holder)
      if blockers.isEmpty { continue }
      rules.deny(victim, relationship, blockers.map { AnyObjectID($0, context.info(of: $0)) })
    }
  }
}
