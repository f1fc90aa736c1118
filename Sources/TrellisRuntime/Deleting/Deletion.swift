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
    guard object.phase == .persistent || object.phase == .inserted else { return }
    var deletion = Deletion()
    try deletion.collect(object, in: self)
    for victim in deletion.victims { loosen(victim, among: deletion.keys) }
    clearOneWayReferences(to: deletion.victims)
    for victim in deletion.victims { markDeleted(victim) }
  }

  /// The partners of a victim that survive let go of it. The victim keeps its own values.
  private func loosen(_ victim: ManagedObject, among victims: Set<Int64>) {
    for relationship in info(of: victim).allRelationships {
      guard let inverse = runtime.inverse(of: relationship), !survivorsKeep(victim, relationship, inverse) else {
        continue
      }
      for key in presentPartners(of: victim, relationship) where !victims.contains(key) {
        guard let partner = map[key], partner.phase != .deleted else { continue }
        letGo(partner, inverse, victim._key)
      }
    }
  }

  /// Whether a survivor's to-one goes on leading to the victim, although it reads nil: no action leaves it, and a denial
  /// is judged by who still refers to the victim. A to-many never shows who is deleted.
  private func survivorsKeep(
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

  private func markDeleted(_ victim: ManagedObject) {
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
private struct Deletion {
  private(set) var victims: [ManagedObject] = []
  var keys: Set<Int64> { seen }
  private var seen: Set<Int64> = []

  mutating func collect(_ object: ManagedObject, in context: ManagedObjectContext) throws {
    var level = [object]
    seen.insert(object._key)
    while !level.isEmpty {
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
