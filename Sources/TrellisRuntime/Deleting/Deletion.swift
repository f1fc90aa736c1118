extension ManagedObjectContext {
  /// Deletes an object at once in this context, and in the store at the next save.
  ///
  /// What its relationships' rules demand happens at once too: cascades delete, nullified partners let go. A deny is judged
  /// at save. The object's values stay readable until it is released.
  ///
  /// - Throws: ``StoreError`` when partners have to be loaded and the store fails; then nothing is deleted.
  /// - Complexity: linear in the number of objects that are deleted or let go.
  public func delete(_ object: ManagedObject) throws {
    guard object.link === link else {
      return report(GraphProblem(.foreignObject, "\(object) was not deleted, since it belongs to another context."))
    }
    try deleteAll([object])
  }

  /// Deletes objects of this context together: they keep each other.
  ///
  /// - Parameter callsHooks: Whether those who are deleted are told before.
  func deleteAll(_ objects: [ManagedObject], callsHooks: Bool = true) throws {
    var deletion = Deletion()
    deletion.callsHooks = callsHooks
    // Only what was loaded can be made again after the save.
    deletion.loadsEverything = recorder != nil
    try deletion.collect(objects.filter(\.isAlive), in: self)
    if deletion.victims.isEmpty { return }
    try deletion.settle(in: self)
    var closure = DeletedClosure()
    try carryOut(deletion, into: &closure)
    deletions.add(closure)
  }

  /// Deletes what was collected.
  func carryOut(_ deletion: Deletion, into closure: inout DeletedClosure) throws {
    let holders = recorder == nil ? [] : try loadToRestore(deletion.victims)
    closure.add(deletion.victims)
    closure.cascades += deletion.cascades
    for victim in deletion.victims { loosen(victim, noting: &closure) }
    loosenOneWay(from: deletion.victims, inserted + changed + holders, noting: &closure)
    for victim in deletion.victims { markDeleted(victim) }
  }

  /// The partners of a victim that survive let go of it. Victims keep their own values, and each other.
  private func loosen(_ victim: ManagedObject, noting closure: inout DeletedClosure) {
    for relationship in info(of: victim).allRelationships {
      guard let inverse = runtime.inverse(of: relationship), !survivorsKeep(victim, relationship, inverse) else {
        continue
      }
      for key in presentPartners(of: victim, relationship) where !closure.keys.contains(key) {
        guard let partner = map[key], partner.isAlive else { continue }
        prepareRecording(victim, relationship, key)
        closure.note(link(partner, inverse, victim._key))
        letGo(partner, inverse, victim._key)
      }
    }
  }

  /// Whether a survivor's to-one goes on leading to the victim, although it reads nil: no action leaves it, and a denial
  /// is judged by who still refers to the victim. A to-many never shows who is deleted.
  func survivorsKeep(
    _ victim: ManagedObject, _ relationship: RelationshipInfo, _ inverse: RelationshipInfo
  ) -> Bool {
    guard !inverse.isToMany else { return false }
    switch relationship.deleteRule {
    // A new victim is in no store that could refuse its delete.
    case .deny: return victim.phase == .persistent
    case .noAction: return inverse.isColumn
    case .nullify, .cascade: return false
    }
  }

  func markDeleted(_ victim: ManagedObject) {
    recorder?.record(.deleted(victim))
    noteGone(victim)
    if victim.phase == .inserted { return detach(victim) }
    victim.phase = .deleted
    victim._attention.insert(.readOnly)
    deleted.append(victim)
  }

  /// The partners that are in memory, without asking the store.
  func presentPartners(of object: ManagedObject, _ relationship: RelationshipInfo) -> [Int64] {
    if relationship.isToMany { return object.extras?.list(relationship.property).map { Array($0.keys) } ?? [] }
    let known = knownReference(of: object, relationship)
    return known > 0 ? [known] : []
  }
}

/// The objects that one delete takes along, found level by level, so that a chain of any length needs no stack and the
/// members of a whole level come in one statement.
struct Deletion {
  /// Whether the hook of each victim is called before its partners are looked at.
  var callsHooks = true
  /// Whether nothing is left to the store.
  var loadsEverything = false
  private(set) var victims: [ManagedObject] = []
  /// What is left to the store.
  private(set) var cascades: [PendingCascade] = []
  private var seen: Set<Int64> = []

  /// Collects what cascades were to take along that have been left to the store until now.
  mutating func collect(membersOf cascades: [PendingCascade], in context: ManagedObjectContext) throws {
    var members: [ManagedObject] = []
    for cascade in cascades {
      try context.loadMembersIfNeeded(of: cascade.owners, cascade.relationship, .objects)
      for owner in cascade.owners {
        members += context.presentPartners(of: owner, cascade.relationship).compactMap { context.map[$0] }
      }
    }
    try collect(members.filter(\.isAlive), in: context)
  }

  /// Looks again at what is left to the store, once everybody is known: what was loaded since may have to do with it. Then
  /// all of it is loaded.
  mutating func settle(in context: ManagedObjectContext) throws {
    for cascade in cascades {
      let members = try context.registeredMembers(of: cascade.owners, cascade.relationship, cascade.rule)
      if members?.allSatisfy({ seen.contains($0._key) }) == true { continue }
      let left = cascades
      cascades = []
      loadsEverything = true
      return try collect(membersOf: left, in: context)
    }
  }

  mutating func collect(_ objects: [ManagedObject], in context: ManagedObjectContext) throws {
    var level: [ManagedObject] = []
    for object in objects where seen.insert(object._key).inserted { level.append(object) }
    while !level.isEmpty {
      if callsHooks { context.runWillDelete(&level) }
      victims += level
      level = try nextLevel(after: level, in: context)
    }
  }

  private mutating func nextLevel(
    after level: [ManagedObject], in context: ManagedObjectContext
  ) throws -> [ManagedObject] {
    var next: [ManagedObject] = []
    for (entity, objects) in Dictionary(grouping: level, by: { type(of: $0)._entity }).sorted(by: { $0.key < $1.key }) {
      for relationship in context.runtime.entities[entity].allRelationships {
        if let members = try leaveToStore(relationship, of: objects, in: context) {
          for member in members where seen.insert(member._key).inserted { next.append(member) }
          continue
        }
        guard try loadIfNeeded(relationship, of: objects, in: context) else { continue }
        guard relationship.deleteRule == .cascade else { continue }
        for object in objects {
          for key in context.presentPartners(of: object, relationship) where seen.insert(key).inserted {
            if let partner = context.map[key], partner.phase != .deleted { next.append(partner) }
          }
        }
      }
    }
    return next
  }

  /// Notes a cascade along a relationship for the store, when it has many members and nobody needs to see them.
  ///
  /// - Returns: those members that are in memory already; nil when all have to be loaded.
  private mutating func leaveToStore(
    _ relationship: RelationshipInfo, of objects: [ManagedObject], in context: ManagedObjectContext
  ) throws -> [ManagedObject]? {
    guard !loadsEverything, let rule = context.runtime.storeCascade(relationship) else { return nil }
    let owners = objects.filter { $0.phase == .persistent && $0.extras?.list(relationship.property)?.isLoaded != true }
    guard owners.count == objects.count else { return nil }
    if context.leavesToStore(rule) {
      // Loading a few of them would load all that waits for the store already.
      if try !context.hasMembers(owners, relationship) { return [] }
    } else if try context.loadMembers(of: owners, relationship, atMost: context.fewMembers) {
      return nil
    }
    guard let members = try context.registeredMembers(of: owners, relationship, rule) else { return nil }
    cascades.append(PendingCascade(relationship: relationship, rule: rule, owners: owners))
    return members
  }

  /// Brings into memory the partners that a rule has something to do with.
  ///
  /// - Returns: whether there is anything to do.
  private func loadIfNeeded(
    _ relationship: RelationshipInfo, of objects: [ManagedObject], in context: ManagedObjectContext
  ) throws -> Bool {
    for object in objects where object._attention.contains(.fault) { try context.refreshRows([object]) }
    let need = context.needOfDelete(relationship)
    guard need != .nothing else { return relationship.deleteRule == .cascade }
    if relationship.isToMany {
      try context.loadMembersIfNeeded(of: objects, relationship, need)
    } else {
      try context.loadPartnersIfNeeded(of: objects, relationship, needsObjects: need == .objects)
    }
    return true
  }
}

/// What of a victim's partners has to be in memory for a delete.
private enum PartnerNeed {
  case nothing, keys, objects
}

extension ManagedObjectContext {
  /// Whether owners have any members, in the store or new ones.
  fileprivate func hasMembers(_ owners: [ManagedObject], _ relationship: RelationshipInfo) throws -> Bool {
    if owners.contains(where: { !presentPartners(of: $0, relationship).isEmpty }) { return true }
    struct Found: Error {}
    do {
      try connection().memberKeys(of: number(of: relationship), owners: owners.map(\._key)) { _, _, _ in
        throw Found()
      }
    } catch is Found { return true }
    return false
  }

  fileprivate func needOfDelete(_ relationship: RelationshipInfo) -> PartnerNeed {
    if relationship.deleteRule == .cascade { return .objects }
    // What is one-way goes with the row or the pairs that hold it.
    guard let inverse = runtime.inverse(of: relationship) else { return .nothing }
    // The partner's members are counted at save.
    if inverse.isToMany && inverse.isCounted { return .objects }
    // Pairs go with the row, but lists in memory that show the victim have to be found.
    if relationship.isJoined { return listed.contains(number(of: inverse)) ? .keys : .nothing }
    guard relationship.deleteRule == .nullify else { return .nothing }
    return inverse.isColumn ? .objects : .keys
  }

  fileprivate func loadMembersIfNeeded(
    of objects: [ManagedObject], _ relationship: RelationshipInfo, _ need: PartnerNeed
  ) throws {
    let unloaded = objects.filter { !list(of: $0, relationship).isLoaded }
    guard need == .objects else { return try loadKeys(of: unloaded, relationship) }
    if !unloaded.isEmpty { try loadMembers(of: unloaded, relationship) }
    var members: Set<Int64> = []
    for object in objects { members.formUnion(list(of: object, relationship).keys) }
    try loadForChange(members.sorted(), of: relationship)
  }

  fileprivate func loadPartnersIfNeeded(
    of objects: [ManagedObject], _ relationship: RelationshipInfo, needsObjects: Bool
  ) throws {
    var partners: Set<Int64> = []
    for object in objects {
      let key = partnerKey(of: object, relationship)
      if key > 0 { partners.insert(key) }
    }
    try throwPendingFailure()
    if needsObjects { try loadForChange(partners.sorted(), of: relationship) }
  }
}
