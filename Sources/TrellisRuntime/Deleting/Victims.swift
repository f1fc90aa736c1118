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
  private var seen: Set<Int64> = []
  /// The keys that this delete has added to ``ManagedObjectContext/leaving`` of the context.
  private(set) var leaving: [Int64] = []

  /// Collects the members of cascades that were left to the store until now.
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

  /// Checks the cascades that are left to the store again, once all victims are known: objects that were loaded since
  /// may be linked to their rows. If so, all cascades are loaded.
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

  /// Collects objects without anything that their delete would cascade to.
  mutating func collectOnly(_ objects: [ManagedObject]) {
    for object in objects where seen.insert(object._key).inserted { victims.append(object) }
  }

  mutating func collect(_ objects: [ManagedObject], in context: ManagedObjectContext) throws {
    var level: [ManagedObject] = []
    for object in objects where seen.insert(object._key).inserted { level.append(object) }
    while !level.isEmpty {
      if callsHooks && context.runtime.hooks.contains(.willDelete) {
        // Objects that an outer delete is about to delete are left to that delete.
        level.removeAll { context.leaving.contains($0._key) }
        note(level, in: context)
        try context.runWillDelete(&level)
        // Throws the failures inside of hooks that could not be thrown there.
        try context.throwPendingFailure()
      }
      victims += level
      level = try nextLevel(after: level, in: context)
    }
  }

  /// Marks objects as being deleted, before any hook can delete them again.
  private mutating func note(_ level: [ManagedObject], in context: ManagedObjectContext) {
    for object in level {
      leaving.append(object._key)
      context.leaving.insert(object._key)
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

  /// Leaves a cascade along a relationship to the store, if it has many members and none of them is needed in memory.
  ///
  /// - Returns: the members that are in memory already; nil if all have to be loaded.
  private mutating func leaveToStore(
    _ relationship: RelationshipInfo, of objects: [ManagedObject], in context: ManagedObjectContext
  ) throws -> [ManagedObject]? {
    guard !loadsEverything, let rule = context.runtime.storeCascade(relationship) else { return nil }
    let owners = objects.filter { $0.phase == .persistent && $0.extras?.list(relationship.property)?.isLoaded != true }
    guard owners.count == objects.count else { return nil }
    if context.leavesToStore(rule) {
      // Loading even a few members would load all pending cascades first.
      if try !context.hasMembers(owners, relationship) { return [] }
    } else if try context.loadMembers(of: owners, relationship, atMost: context.fewMembers) {
      return nil
    }
    guard let members = try context.registeredMembers(of: owners, relationship, rule) else { return nil }
    cascades.append(PendingCascade(relationship: relationship, rule: rule, owners: owners))
    return members
  }
}
