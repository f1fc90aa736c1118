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
  /// What of the context's ``ManagedObjectContext/leaving`` was noted here.
  private(set) var leaving: [Int64] = []

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

  /// Collects objects and nothing that would go with them.
  mutating func collectOnly(_ objects: [ManagedObject]) {
    for object in objects where seen.insert(object._key).inserted { victims.append(object) }
  }

  mutating func collect(_ objects: [ManagedObject], in context: ManagedObjectContext) throws {
    var level: [ManagedObject] = []
    for object in objects where seen.insert(object._key).inserted { level.append(object) }
    while !level.isEmpty {
      if callsHooks && context.runtime.hooks.contains(.willDelete) {
        // What a delete further out is about to delete is left to that.
        level.removeAll { context.leaving.contains($0._key) }
        note(level, in: context)
        try context.runWillDelete(&level)
        // What went wrong inside of them, and could not be thrown there.
        try context.throwPendingFailure()
      }
      victims += level
      level = try nextLevel(after: level, in: context)
    }
  }

  /// Notes whose delete is under way, before any hook can ask for it again.
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
}
