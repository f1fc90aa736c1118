import TrellisSchema
import TrellisStorage

/// Merges objects that have the same unique key into one. The survivor keeps its identity and takes over values and
/// links of the others as far as the policy says. The others then belong to no context any more. No delete rule
/// applies.
struct UniqueKeyMerge {
  private let context: ManagedObjectContext
  private let policy: MergePolicy
  /// New objects and the survivors that replace them.
  private var unions: [(object: ManagedObject, survivor: ManagedObject)] = []
  private var survivors: [Int64: ManagedObject] = [:]
  /// Saved objects whose changes of a key are discarded.
  private var yielding: [(object: ManagedObject, key: UniqueKey)] = []

  init(_ context: ManagedObjectContext, _ policy: MergePolicy) {
    self.context = context
    self.policy = policy
  }

  // MARK: Deciding

  /// Decides on all conflicts before any change.
  ///
  /// - Throws: ``ValidationError`` with the conflicts that the policy does not settle.
  mutating func decide(_ clashes: [KeyClash]) throws {
    var rules = ObjectRules(context)
    for clash in clashes {
      for object in clash.others where survivors[object._key] == nil && clash.survivor !== survivor(object) {
        decide(object, clash, &rules)
      }
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
  }

  private mutating func decide(_ object: ManagedObject, _ clash: KeyClash, _ rules: inout ObjectRules) {
    let survivor = survivor(clash.survivor)
    // Two objects in the store are never merged into one.
    let isNew = object.phase == .inserted
    let yields = policy == .storeTrump || policy == .rollback
    guard policy != .error, isNew ? type(of: object) == type(of: survivor) : yields else {
      let entity = context.runtime.entities[clash.key.entity].entity
      let names = clash.key.properties.map { entity.properties[$0].name }
      rules.fail(
        object, names.joined(separator: ", "), .unique,
        names.count == 1 ? "must differ from every other object's" : "must not all be another object's",
        blockers: [AnyObjectID(survivor, context.info(of: survivor))])
      return
    }
    if isNew {
      unions.append((object, survivor))
      survivors[object._key] = survivor
    } else {
      yielding.append((object, clash.key))
    }
  }

  /// The object that finally replaces an object; the object itself if it is not replaced.
  private func survivor(_ object: ManagedObject) -> ManagedObject {
    var found = object
    while let next = survivors[found._key] { found = next }
    return found
  }

  // MARK: Doing

  /// The new objects that are replaced.
  var replaced: [ManagedObject] { unions.map(\.object) }

  mutating func carryOut(_ trace: MergeTrace) throws {
    for (object, key) in yielding {
      trace.note(object)
      if policy == .rollback {
        try context.rollbackEverything(of: object)
      } else {
        try context.rollback(object, key.properties)
      }
    }
    for (object, survivor) in unions {
      trace.note(object)
      trace.note(survivor)
      letGoPartners(of: survivor, asIn: object)
    }
    for (object, survivor) in unions {
      try move(object, to: survivor)
    }
    guard !unions.isEmpty else { return }
    for (object, survivor) in unions { retire(object, for: survivor) }
    context.pending.dropFormerInserts()
  }

  private func move(_ object: ManagedObject, to survivor: ManagedObject) throws {
    survivor._willRead(-1)
    moveValues(of: object, to: survivor)
    for relationship in context.info(of: object).allRelationships {
      try moveLinks(relationship, of: object, to: survivor)
    }
    moveOneWayReferences(from: object, to: survivor)
  }

  private func retire(_ object: ManagedObject, for survivor: ManagedObject) {
    context.map.remove(object._key)
    object.state.detach()
    object.needExtras().replacement = survivor._key
  }

  // MARK: Values

  private func moveValues(of object: ManagedObject, to survivor: ManagedObject) {
    let info = context.info(of: object)
    var mask = ColumnMask(bits: 0)
    for property in info.entity.properties.indices where info.relationships[property] == nil {
      if moves(property, of: object, to: survivor) { mask.bits |= ColumnMask.bit(of: property) }
    }
    guard mask.bits != 0 else { return }
    let references = survivor.references(context)
    survivor.willChangeValues()
    survivor._restore(mask, from: object._copyRow())
    if let transients = object._copyTransients() { survivor._restoreTransients(mask, from: transients) }
    survivor.state.markAssigned(mask.bits)
    // The last bit of the mask may include references. They are moved later, with their other ends.
    for (relationship, key) in references { survivor._setReference(relationship.property, key) }
  }

  private func moves(_ property: Int, of object: ManagedObject, to survivor: ManagedObject) -> Bool {
    let isAssigned = ColumnMask(bits: object.changedBits).contains(property)
    switch policy {
    case .objectTrump: return isAssigned
    case .overwrite: return true
    case .storeTrump: return isAssigned && survivor._value(property).isNull
    case .rollback, .error: return false
    }
  }

  // MARK: Relationships

  /// Clears the to-one relationships of the survivor that the object sets to nil. This is done before links are moved,
  /// because moving takes partners away.
  private func letGoPartners(of survivor: ManagedObject, asIn object: ManagedObject) {
    guard policy == .objectTrump || policy == .overwrite else { return }
    for relationship in context.info(of: object).allRelationships
    where context.presentPartners(of: object, relationship).isEmpty && gives(nothingIn: relationship, object) {
      let old = context.partnerKey(of: survivor, relationship)
      if old > 0 { context.disconnect(survivor, relationship, old) }
    }
  }

  private func moveLinks(
    _ relationship: RelationshipInfo, of object: ManagedObject, to survivor: ManagedObject
  ) throws {
    let partners = context.presentPartners(of: object, relationship)
    let places = try partners.map { try place(of: object, at: $0, relationship) }
    for (key, place) in zip(partners, places) {
      guard let partner = context.map[key] else { continue }
      let kept = self.survivor(partner)
      if isWanted(kept, isMoved: kept !== partner, by: survivor, relationship) {
        link(survivor, relationship, kept, place)
      }
      context.disconnect(object, relationship, key)
    }
    try context.throwPendingFailure()
  }

  /// Whether nil in a to-one relationship of an object counts as an assigned value.
  private func gives(nothingIn relationship: RelationshipInfo, _ object: ManagedObject) -> Bool {
    guard !relationship.isToMany else { return false }
    let isAssigned = relationship.property < 63 && ColumnMask(bits: object.changedBits).contains(relationship.property)
    return policy == .overwrite || policy == .objectTrump && relationship.isColumn && isAssigned
  }

  /// Whether a partner is linked to the survivor. A new member of a to-many relationship that is not replaced itself
  /// always is, because it has no other owner.
  private func isWanted(
    _ partner: ManagedObject, isMoved: Bool, by survivor: ManagedObject, _ relationship: RelationshipInfo
  ) -> Bool {
    guard partner.isAlive else { return false }
    if policy == .objectTrump || policy == .overwrite { return true }
    let inverse = context.runtime.inverse(of: relationship)
    // The survivor of a replaced partner keeps the partner that it already has.
    if isMoved, let inverse, !inverse.isToMany, context.partnerKey(of: partner, inverse) > 0 { return false }
    if relationship.isToMany { return policy != .rollback || !isMoved && partner.phase == .inserted }
    if policy == .rollback { return false }
    return context.partnerKey(of: survivor, relationship) == 0
  }

  /// The position of an object among its partner's members if the members are ordered.
  private func place(of object: ManagedObject, at partner: Int64, _ relationship: RelationshipInfo) throws -> Int? {
    guard let inverse = context.runtime.inverse(of: relationship), inverse.isOrdered, let partner = context.map[partner]
    else { return nil }
    return context.list(of: partner, inverse).place(of: object._key)
  }

  private func link(
    _ survivor: ManagedObject, _ relationship: RelationshipInfo, _ partner: ManagedObject, _ place: Int?
  ) {
    guard context.isReady(toConnect: survivor, relationship, partner) else { return }
    if let place, let inverse = context.runtime.inverse(of: relationship) {
      context.connect(partner, inverse, survivor, at: place)
    } else {
      context.connect(survivor, relationship, partner)
    }
  }

  /// Redirects one-way relationships from the object to the survivor.
  private func moveOneWayReferences(from object: ManagedObject, to survivor: ManagedObject) {
    let references = context.oneWayReferences(to: [object])
    if references.isEmpty { return }
    for holder in context.inserted + context.changed where holder.isAlive {
      for reference in references where context.info(of: holder).relationships.contains(reference) {
        guard context.presentPartners(of: holder, reference).contains(object._key) else { continue }
        let place = reference.isOrdered ? context.list(of: holder, reference).place(of: object._key) : nil
        context.connect(holder, reference, survivor, at: place)
        context.disconnect(holder, reference, object._key)
      }
    }
  }
}
