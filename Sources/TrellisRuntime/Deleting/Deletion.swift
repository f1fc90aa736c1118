import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Deletes an object in this context immediately, and in the store at the next save.
  func delete(_ object: ManagedObject) throws {
    try checkOwn(object, "was not deleted")
    try deleteAll([object])
  }

  /// Deletes objects of this context together. They stay linked to each other.
  ///
  /// - Parameters:
  ///   - callsHooks: Whether the hooks of the deleted objects are called before.
  ///   - cascades: Whether delete rules cascade to other objects.
  ///   - spared: The keys of objects that no cascade deletes.
  func deleteAll(
    _ objects: [ManagedObject], callsHooks: Bool = true, cascades: Bool = true, sparing spared: Set<Int64> = []
  ) throws {
    var deletion = Deletion(sparing: spared)
    defer { leaving.subtract(deletion.leaving) }
    deletion.callsHooks = callsHooks
    // Only objects that were loaded can be recreated after the save.
    deletion.loadsEverything = recorder != nil
    if cascades {
      try deletion.collect(objects.filter(\.isAlive), in: self)
      if deletion.victims.isEmpty { return }
      try deletion.settle(in: self)
    } else {
      deletion.collectOnly(objects.filter(\.isAlive))
      if deletion.victims.isEmpty { return }
    }
    var closure = DeletedClosure()
    try carryOut(deletion, into: &closure)
    pending.deletions.add(closure)
  }

  /// Deletes the collected objects.
  func carryOut(_ deletion: Deletion, into closure: inout DeletedClosure) throws {
    let holders = recorder == nil ? [] : try loadToRestore(deletion.victims)
    // The loads may have found that another context has deleted a victim.
    let isAnyGone = deletion.victims.contains { !$0.isAlive }
    let victims = isAnyGone ? deletion.victims.filter(\.isAlive) : deletion.victims
    closure.add(victims)
    closure.cascades += deletion.cascades
    let references = references(to: victims, closure) + oneWayReferences(to: victims, holders)
    if recorder != nil { recordLinks(of: victims, holders) }
    for victim in victims { markDeleted(victim) }
    for victim in victims { hide(victim) }
    for reference in references where reference.holder.isAlive {
      closure.note(reference)
      recorder?.noteCleared(reference)
      setReference(of: reference.holder, reference.relationship, to: 0, keepingPlace: true)
    }
  }

  /// The references of survivors that the delete of victims clears. The references of the victims themselves stay.
  private func references(
    to victims: [ManagedObject], _ closure: DeletedClosure
  ) -> [ClearedReference] {
    var found: [ClearedReference] = []
    for victim in victims {
      for relationship in info(of: victim).allRelationships {
        guard let inverse = runtime.inverse(of: relationship), inverse.isColumn,
          !survivorsKeep(victim, relationship, inverse)
        else { continue }
        forEachPresentPartner(of: victim, relationship) { key in
          guard !closure.keys.contains(key), let holder = map[key], holder.isAlive,
            knownReference(of: holder, inverse) == victim._key
          else { return }
          found.append(ClearedReference(holder: holder, relationship: inverse, victim: victim._key))
        }
      }
    }
    return found
  }

  /// Whether a survivor's to-one keeps its reference to the victim, although it reads nil: the rule `noAction` leaves
  /// the reference, and `deny` is checked by the references that still lead to the victim. A to-many never shows a
  /// deleted object.
  func survivorsKeep(
    _ victim: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) -> Bool {
    guard !inverse.isToMany else { return false }
    switch relationship.deleteAction {
    // A new victim has no row in the store, which could refuse its delete.
    case .refuse: return victim.phase == .persistent || victim.phase == .deleted
    case .leaveReferences: return true
    case .clearReferences, .deletePartners, .nothing: return false
    }
  }
}

// MARK: - Victims

/// The objects that one delete deletes. They are collected level by level, so that a chain of any length needs no stack
/// and the members of a whole level are loaded in one statement.
struct Deletion {
  /// Whether the hook of each victim is called before its partners are collected.
  var callsHooks = true
  /// Whether no cascade is left to the store.
  var loadsEverything = false
  private(set) var victims: [ManagedObject] = []
  /// The cascades that are left to the store.
  private(set) var cascades: [PendingCascade] = []
  /// The keys of objects that are not to be collected: the victims, and those that are spared.
  private var seen = KeySet()
  /// The keys that this delete has added to ``ObjectGraph/leaving``.
  private(set) var leaving: [Int64] = []

  init(sparing spared: Set<Int64> = []) { seen = KeySet(spared) }

  /// Collects the members of cascades that were left to the store until now.
  mutating func collect(membersOf cascades: [PendingCascade], in graph: ObjectGraph) throws {
    var members: [ManagedObject] = []
    for cascade in cascades {
      try graph.loadMembersIfNeeded(of: cascade.owners, cascade.relationship, .objects)
      for owner in cascade.owners {
        members += graph.presentPartners(of: owner, cascade.relationship).compactMap { graph.map[$0] }
      }
    }
    try collect(members.filter(\.isAlive), in: graph)
  }

  /// Checks the cascades that are left to the store again, once all victims are known: objects that were loaded since
  /// may be linked to their rows. If so, all cascades are loaded.
  mutating func settle(in graph: ObjectGraph) throws {
    for cascade in cascades {
      let members = try graph.registeredMembers(of: cascade.owners, cascade.relationship, cascade.rule)
      if members?.allSatisfy({ seen.contains($0._key) }) == true { continue }
      let left = cascades
      cascades = []
      loadsEverything = true
      return try collect(membersOf: left, in: graph)
    }
  }

  /// Collects objects without anything that their delete would cascade to.
  mutating func collectOnly(_ objects: [ManagedObject]) {
    for object in objects where seen.insert(object._key) { victims.append(object) }
  }

  mutating func collect(_ objects: [ManagedObject], in graph: ObjectGraph) throws {
    var level: [ManagedObject] = []
    for object in objects where seen.insert(object._key) { level.append(object) }
    while !level.isEmpty {
      if callsHooks && graph.runtime.hooks.contains(.willDelete) {
        // Objects that an outer delete is about to delete are left to that delete.
        level.removeAll { graph.leaving.contains($0._key) }
        note(level, in: graph)
        try graph.runWillDelete(&level)
        // Throws the failures inside of hooks that could not be thrown there.
        try graph.throwPendingFailure()
      }
      victims += level
      level = try nextLevel(after: level, in: graph)
    }
  }

  /// Marks objects as being deleted, before any hook can delete them again.
  private mutating func note(_ level: [ManagedObject], in graph: ObjectGraph) {
    for object in level {
      leaving.append(object._key)
      graph.leaving.insert(object._key)
    }
  }

  private mutating func nextLevel(
    after level: [ManagedObject], in graph: ObjectGraph
  ) throws -> [ManagedObject] {
    var next: [ManagedObject] = []
    for (entity, objects) in level.groupedByEntity {
      for relationship in graph.runtime.info(entity).allRelationships {
        if let members = try leaveToStore(relationship, of: objects, in: graph) {
          for member in members where seen.insert(member._key) { next.append(member) }
          continue
        }
        guard try loadIfNeeded(relationship, of: objects, in: graph) else { continue }
        guard relationship.deleteAction == .deletePartners else { continue }
        for object in objects {
          graph.forEachPresentPartner(of: object, relationship) { key in
            guard seen.insert(key), let partner = graph.map[key], partner.phase != .deleted else { return }
            next.append(partner)
          }
        }
      }
    }
    return next
  }

  /// Leaves a cascade along a relationship to the store, if it has many members and none of them is needed in memory.
  ///
  /// - Returns: the members that are in memory already; nil if all have to be loaded.
  private mutating func leaveToStore(
    _ relationship: Relationship, of objects: [ManagedObject], in graph: ObjectGraph
  ) throws -> [ManagedObject]? {
    guard !loadsEverything, let rule = graph.runtime.storeCascade(relationship) else { return nil }
    let owners = objects.filter { $0.phase == .persistent && !$0.hasLoadedList(of: relationship.property) }
    guard owners.count == objects.count else { return nil }
    if graph.leavesToStore(rule) {
      // Loading even a few members would load all pending cascades first.
      if try !graph.hasMembers(owners, relationship) { return [] }
    } else if try graph.loadFewMembers(of: owners, relationship) {
      return nil
    }
    guard let members = try graph.registeredMembers(of: owners, relationship, rule) else { return nil }
    cascades.append(PendingCascade(relationship: relationship, rule: rule, owners: owners))
    return members
  }
}

extension [ManagedObject] {
  /// The objects of each entity in their order, by the numbers of the entities.
  fileprivate var groupedByEntity: [(key: Int, value: [ManagedObject])] {
    // Objects that are deleted together mostly belong to one entity, which needs no dictionary.
    if let entity = first.map({ type(of: $0)._entity }), allSatisfy({ type(of: $0)._entity == entity }) {
      return [(entity, self)]
    }
    return Dictionary(grouping: self) { type(of: $0)._entity }.sortedByKey
  }
}

// MARK: - Pending cascades

extension ObjectGraph {
  /// The cascades that the next save leaves to the store.
  var pendingCascades: [PendingCascade] { pending.deletions.closures.flatMap(\.cascades) }

  /// Whether the next save leaves the deletion of unloaded objects to the store.
  package var leavesMembersToStore: Bool { pending.deletions.hasCascades }

  /// Whether a pending cascade may delete rows that this cascade may delete, too.
  func leavesToStore(_ rule: StoreCascade) -> Bool {
    pending.deletions.hasCascades && pendingCascades.contains { !$0.rule.roots.isDisjoint(with: rule.roots) }
  }

  /// Loads pending cascades if they may delete rows of an entity, or if none is given.
  func loadPendingCascades(reading entity: Int?) throws {
    guard pending.deletions.hasCascades else { return }
    if let entity {
      let root = runtime.info(entity).root
      guard pendingCascades.contains(where: { $0.rule.roots.contains(root) }) else { return }
    }
    try loadPendingCascades()
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
  func registeredMembers(of owners: [ManagedObject], _ relationship: Relationship, _ rule: StoreCascade) throws
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
        if map[key] == nil && rule.entities.contains(where: { runtime.info(parent.destination).includes($0) }) {
          isFree = false
        }
      }
    }
    return isFree ? members : nil
  }

  private func isTied(_ object: ManagedObject, _ info: EntityInfo, _ tie: Relationship) -> Bool {
    guard info.relationships.contains(tie) else { return false }
    if tie.isToMany { return object.list(of: tie.property).map { $0.isLoaded || !$0.keys.isEmpty } ?? false }
    // A fault holds no values that a save could write over the changes of the store.
    if tie.isColumn { return !object.accessFlags.contains(.fault) && object._reference(tie.property) > 0 }
    return holder(of: object, tie) > 0
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
