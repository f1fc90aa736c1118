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
      return report(GraphProblem(.foreignObject, "An object of another context was not deleted."))
    }
    try deleteAll([object])
  }

  /// Deletes objects of this context together: they keep each other.
  ///
  /// - Parameter callsHooks: Whether those who are deleted are told before.
  func deleteAll(_ objects: [ManagedObject], callsHooks: Bool = true) throws {
    var deletion = Deletion()
    deletion.callsHooks = callsHooks
    try deletion.collect(objects.filter(\.isAlive), in: self)
    if deletion.victims.isEmpty { return }
    let holders = recorder == nil ? [] : try loadToRestore(deletion.victims)
    var closure = DeletedClosure(deletion.victims)
    for victim in deletion.victims { loosen(victim, noting: &closure) }
    loosenOneWay(from: deletion.victims, inserted + changed + holders, noting: &closure)
    for victim in deletion.victims { markDeleted(victim) }
    deletions.append(closure)
  }

  /// The partners of a victim that survive let go of it. Victims keep their own values, and each other.
  ///
  /// Where the model denies the delete partners keep a saved victim until the save has judged that there are none.
  private func loosen(_ victim: ManagedObject, noting closure: inout DeletedClosure) {
    for relationship in info(of: victim).allRelationships {
      if relationship.deleteRule == .noAction { continue }
      if relationship.deleteRule == .deny && victim.phase == .persistent { continue }
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      for key in presentPartners(of: victim, relationship) {
        guard let partner = map[key], partner.isAlive, !closure.keys.contains(key) else { continue }
        prepareRecording(victim, relationship, key)
        closure.note(partner, inverse, victim._key)
        letGo(partner, inverse, victim._key)
      }
    }
  }

  func markDeleted(_ victim: ManagedObject) {
    recorder?.record(.deleted(victim))
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
  private(set) var victims: [ManagedObject] = []
  private var seen: Set<Int64> = []

  mutating func collect(_ objects: [ManagedObject], in context: ManagedObjectContext) throws {
    var level = objects
    seen.formUnion(objects.map(\._key))
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
    let inverse = context.runtime.inverse(of: relationship)
    switch relationship.deleteRule {
    case .noAction: return false
    // Pairs of a join table go with the row, and a one-way reference goes with the row that holds it.
    case .nullify where inverse == nil || relationship.isJoined: return true
    case .deny: return true
    case .nullify, .cascade: break
    }
    if relationship.isToMany {
      try context.loadMembersIfNeeded(of: objects, relationship)
    } else {
      try context.loadPartnersIfNeeded(of: objects, relationship, needsObjects: relationship.deleteRule == .cascade)
    }
    return true
  }
}

extension ManagedObjectContext {
  fileprivate func loadMembersIfNeeded(of objects: [ManagedObject], _ relationship: RelationshipInfo) throws {
    let unloaded = objects.filter { !list(of: $0, relationship).isLoaded }
    if !unloaded.isEmpty { try loadMembers(of: unloaded, relationship) }
    var missing: [Int64] = []
    for object in objects {
      for key in list(of: object, relationship).keys where map[key] == nil { missing.append(key) }
    }
    if !missing.isEmpty { try loadObjects(missing, entity: relationship.destination) }
  }

  fileprivate func loadPartnersIfNeeded(
    of objects: [ManagedObject], _ relationship: RelationshipInfo, needsObjects: Bool
  ) throws {
    var missing: Set<Int64> = []
    for object in objects {
      let key = partnerKey(of: object, relationship)
      if key > 0 && map[key] == nil { missing.insert(key) }
    }
    try throwPendingFailure()
    if needsObjects && !missing.isEmpty {
      try loadObjects(missing.sorted(), entity: relationship.destination)
    }
  }
}
