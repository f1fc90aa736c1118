import TrellisStorage

/// A cascade that the store carries out: the members of deleted owners that are not loaded.
struct PendingCascade {
  let relationship: RelationshipInfo
  let rule: StoreCascade
  let owners: [ManagedObject]
}

extension ManagedObjectContext {
  /// The cascades that the next save leaves to the store.
  var pendingCascades: [PendingCascade] { pending.deletions.closures.flatMap(\.cascades) }

  /// Whether the next save leaves the deletion of unloaded objects to the store.
  package var leavesMembersToStore: Bool { pending.deletions.hasCascades }

  /// The connection for reading rows of an entity. If pending cascades may delete such rows, their members are loaded
  /// and deleted first, so that results are the same as after a save.
  func connection(reading entity: Int) throws -> any StoreConnection {
    if !pending.deletions.hasCascades { return try connection() }
    let root = runtime.entities[entity].root
    if pendingCascades.contains(where: { $0.rule.roots.contains(root) }) {
      try loadPendingCascades()
    }
    return try connection()
  }

  /// Whether a pending cascade may delete rows that this cascade may delete, too.
  func leavesToStore(_ rule: StoreCascade) -> Bool {
    pending.deletions.hasCascades && pendingCascades.contains { !$0.rule.roots.isDisjoint(with: rule.roots) }
  }

  /// Loads pending cascades that may affect the results of a request, which may also read other entities.
  func loadPendingCascades(for request: StoreRequest) throws {
    if pending.deletions.hasCascades, request.looksAtOthers(of: runtime.entities[request.entity].entity) {
      try loadPendingCascades()
    }
    _ = try connection(reading: request.entity)
  }

  /// Carries out the pending cascades in memory: the members are loaded and deleted, with everything that they cascade
  /// to.
  func loadPendingCascades() throws {
    // The deletes were made while changes were not recorded, so their cascades belong to no undo step either.
    try withoutRecording { try loadCascades() }
  }

  private func loadCascades() throws {
    defer { pending.deletions.noteCascades() }
    for index in pending.deletions.closures.indices {
      let cascades = pending.deletions.closures[index].cascades
      if cascades.isEmpty { continue }
      // The cascades are removed first, so that loading does not ask for them again.
      pending.deletions.closures[index].cascades = []
      pending.deletions.noteCascades()
      do {
        var deletion = Deletion()
        defer { leaving.subtract(deletion.leaving) }
        deletion.loadsEverything = true
        try deletion.collect(membersOf: cascades, in: self)
        try carryOut(deletion, into: &pending.deletions.closures[index])
      } catch {
        pending.deletions.closures[index].cascades = cascades
        throw error
      }
    }
  }

  /// Checks that no object in memory is linked to the rows that a cascade would delete unseen, except for members of
  /// the owners themselves.
  ///
  /// - Returns: these members; nil if the cascade has to be loaded.
  /// - Complexity: linear in the number of objects in memory.
  func registeredMembers(of owners: [ManagedObject], _ relationship: RelationshipInfo, _ rule: StoreCascade) throws
    -> [ManagedObject]?
  {
    try refreshRows(faulting: rule)
    guard let reference = runtime.inverse(of: relationship) else { return nil }
    let keys = Set(owners.map(\._key))
    var isFree = true
    var members: [ManagedObject] = []
    map.forEach { object in
      guard isFree, object.isAlive else { return }
      let info = info(of: object)
      isFree = !rule.ties.contains { isTied(object, info, $0) }
      guard rule.entities.contains(info.number) else { return }
      for parent in rule.references where info.relationships.contains(parent) {
        let key = object._reference(parent.property)
        if key <= 0 { continue }
        if parent.isSame(as: reference) && keys.contains(key) { members.append(object) }
        // An object that is not in memory may be deleted by the cascade, and delete this object with it.
        if map[key] == nil && rule.entities.contains(where: { runtime.entities[parent.destination].includes($0) }) {
          isFree = false
        }
      }
    }
    return isFree ? members : nil
  }

  private func isTied(_ object: ManagedObject, _ info: EntityInfo, _ tie: RelationshipInfo) -> Bool {
    guard info.relationships.contains(tie) else { return false }
    if tie.isToMany { return object.extras?.list(tie.property).map { $0.isLoaded || !$0.keys.isEmpty } ?? false }
    // A fault holds no values that a save could write over the changes of the store.
    if tie.isColumn { return !object.accessFlags.contains(.fault) && object._reference(tie.property) > 0 }
    return (object.extras?.partner(tie.property) ?? 0) > 0
  }

  private func refreshRows(faulting rule: StoreCascade) throws {
    var faults: [Int: [ManagedObject]] = [:]
    map.forEach { object in
      guard object.accessFlags.contains(.fault), object.phase == .persistent else { return }
      let info = info(of: object)
      if rule.entities.contains(info.number) { faults[info.root, default: []].append(object) }
    }
    for objects in faults.values { try refreshRows(objects) }
  }
}

extension EntityInfo {
  /// Whether an entity is this one or a subentity.
  fileprivate func includes(_ other: Int) -> Bool { entity.subtree.contains(other) }
}

extension SavePlan {
  /// Adds the cascades that are left to the store to the request. Saved objects in memory that are alive are kept from
  /// them, even if their stored rows still refer to an owner.
  mutating func collectCascades(_ context: ManagedObjectContext) {
    guard context.pending.deletions.hasCascades else { return }
    var entities: Set<Int> = []
    for cascade in context.pendingCascades {
      request.cascades.append(
        SaveRequest.Cascades(
          relationship: context.number(of: cascade.relationship), owners: cascade.owners.map(\._key)))
      entities.formUnion(cascade.rule.entities)
    }
    request.keptFromCascades = updated.map(\.object).filter { entities.contains(type(of: $0)._entity) }.map(\._key)
  }
}
