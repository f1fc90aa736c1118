import TrellisModel
import TrellisStorage

/// The rule for using a relationship that was not loaded with its object.
///
/// Lazy loads include the siblings, so a loop costs a few statements. A context can also forbid lazy loads:
///
/// ```swift
/// context.lazyLoading = .forbidden
/// for image in try context.fetch(DiaryImage.all) { print(image.diary?.content ?? "") }
/// try context.save()   // throws: DiaryImage.diary was loaded when it was used … fetch with .prefetching { $0.diary }
/// ```
public enum LazyLoading: UInt8, Sendable, Comparable {
  /// The relationship is loaded, together with those of the siblings.
  case allowed
  /// The relationship is loaded, and the container's error handler is called.
  case reported
  /// The relationship is loaded, the error handler is called, and the next fetch or save of the context throws the same
  /// error.
  case forbidden

  public static func < (left: LazyLoading, right: LazyLoading) -> Bool { left.rawValue < right.rawValue }
}

extension ObjectGraph {
  /// Reports that a relationship of an object is about to be lazily loaded, if the rule demands it.
  @inline(never) func noteLazyLoad(of object: ManagedObject, _ relationship: Relationship) {
    let batch = batches[object.state.batch]
    let rule = max(lazyLoading, batch?.lazyLoading ?? .allowed)
    guard rule != .allowed, object.phase == .persistent, runningHook == nil, !isEvaluating else { return }
    let problem = ContextError(.lazyLoad, message(object, relationship, batch))
    if rule == .forbidden { reportToThrow(problem) } else { report(problem) }
  }

  private func message(_ object: ManagedObject, _ relationship: Relationship, _ batch: FetchBatch?) -> String {
    let siblings = max(0, (batch?.keys.count ?? 1) - 1)
    let others = siblings == 0 ? "" : ", which came with \(siblings) \(siblings == 1 ? "sibling" : "siblings")"
    let (entity, path) = origin(of: object, relationship)
    return "\(relationship.entityName).\(relationship.name) was loaded when it was used, of an object\(others); "
      + "fetch \(entity) with \(Self.prefetch(path))."
  }

  /// The fetched entity, and the path from there to a relationship of an object that was loaded as a result.
  private func origin(of object: ManagedObject, _ relationship: Relationship) -> (String, [Relationship]) {
    var path = [relationship]
    var batch = batches[object.state.batch]
    // Longer paths than this are cycles.
    while let step = batch?.cameBy, path.count < 8 {
      path.insert(step.relationship, at: 0)
      batch = batches[step.batch]
    }
    let first = path[0]
    return (path.count == 1 ? info(of: object).name : first.entityName, path)
  }

  /// The modifier of a request that prefetches a path.
  private static func prefetch(_ path: [Relationship]) -> String {
    var parts: [[String]] = [[]]
    for step in path {
      parts[parts.count - 1].append(step.name)
      if step.isToMany && step !== path.last { parts.append([]) }
    }
    let closures = parts.map { "{ $0.\($0.joined(separator: ".")) }" }
    guard closures.count > 1 else { return ".prefetching \(closures[0])" }
    return ".prefetching(\(closures[0]), then: \(closures.dropFirst().joined(separator: ", then: ")))"
  }
}

// MARK: - Lazy to many

extension ObjectGraph {
  /// The list of a to-many with all its keys. Those of the siblings are loaded as well.
  ///
  /// - Parameter isAsked: Whether the caller is the user of the object, and not the context itself.
  /// - Throws: ``ContextError`` with the code `load-failed`.
  @discardableResult func loadedList(
    of object: ManagedObject, _ relationship: Relationship, isAsked: Bool = false
  ) throws -> MemberList {
    let list = list(of: object, relationship)
    if list.isLoaded || object.phase == .detached { return list }
    if isAsked { noteLazyLoad(of: object, relationship) }
    try loading(relationship) {
      let owners = ownersToLoad(like: object, relationship)
      if isAsked, try loadChain(of: owners, like: object, relationship) { return }
      try loadKeys(of: owners, relationship)
    }
    return list
  }

  /// The members of a to-many, with their rows. Those of the siblings are loaded as well.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  @discardableResult func memberObjects(
    of object: ManagedObject, _ relationship: Relationship
  ) throws -> [ManagedObject] {
    let list = list(of: object, relationship)
    return try loading(relationship) {
      if !list.isLoaded && object.phase != .detached {
        noteLazyLoad(of: object, relationship)
        try loadMembers(of: ownersToLoad(like: object, relationship), relationship, goingOn: true)
      }
      let keys = shownKeys(list)
      let members = registeredObjects(keys)
      if members.count == keys.count { return members }
      noteLazyLoad(of: object, relationship)
      let missing = missingMembers(like: object, relationship)
      try loadObjects(missing, entity: relationship.destination, cameBy: (object, relationship))
      return registeredObjects(shownKeys(list))
    }
  }

  /// The objects with these keys that are in memory, in the order of the keys.
  func registeredObjects(_ keys: ContiguousArray<Int64>) -> [ManagedObject] {
    Array(unsafeUninitializedCapacity: keys.count) { found, count in
      for key in keys {
        guard let object = map[key] else { continue }
        found.initializeElement(at: count, to: object)
        count += 1
      }
    }
  }

  /// The keys of members without an object in memory, in lists of the object and its siblings that were loaded by key
  /// only.
  private func missingMembers(like object: ManagedObject, _ relationship: Relationship) -> [Int64] {
    var missing: [Int64] = []
    let property = relationship.property
    for owner in siblings(of: object, relationship, loading: .rows, where: { $0.hasLoadedList(of: property) }) {
      guard let list = owner.list(of: property) else { continue }
      for key in list.keys where !map.contains(key) { missing.append(key) }
    }
    return missing.sortedWithoutRepeats
  }

  /// Loads the members of several owners with their rows, in a few statements.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of members. If there are more, some objects are loaded, but no list is.
  ///   - goesOn: Whether the members of the members are likely to be used next. If the owners were loaded along the same
  ///     relationship, several levels are loaded.
  /// - Returns: whether all members were loaded.
  @discardableResult func loadMembers(
    of owners: [ManagedObject], _ relationship: Relationship, atMost limit: Int = .max, goingOn goesOn: Bool = false
  ) throws -> Bool {
    if relationship.isJoined && limit == .max && owners.count >= Self.manyOwners {
      try loadKeysFirst(of: owners, relationship)
      return true
    }
    struct TooMany: Error {}
    var count = 0
    let batch = FetchBatch()
    let batchNumber = batches.add(batch, keeping: map)
    inherit(batch, from: owners.first, relationship)
    var loading = ListLoading(relationship, runtime.inverse(of: relationship), owners)
    // An object that was just made from its row in a store has no changes that could contradict the store.
    let mayNewOnesDiffer = parent != nil
    do {
      try connection(reading: relationship.destination).scatteredMembers(
        of: relationship.number, owners: owners.map(\._key)
      ) { owner, row in
        count += 1
        if count > limit { throw TooMany() }
        let known = map.count
        let member = try object(of: row, batch: batchNumber)
        let isNew = map.count > known
        loading.add(row.key, to: owner)
        if isNew { batch.append(row.key) } else { refreshPlace(of: member, relationship, row) }
        if !isNew || mayNewOnesDiffer { loading.check(member, of: owner) }
      }
    } catch is TooMany {
      return false
    }
    finish(loading, owners)
    if goesOn { try loadLevels(below: owners, relationship, batch, batchNumber) }
    return true
  }

  /// Loads the members of objects that are about to be deleted, if they are few. A loop that deletes one sibling after
  /// the other loads the members of the next ones as well: of none at first, then of four times as many each time, up to
  /// 64, and of none any more once they were too many.
  ///
  /// - Returns: whether the members were loaded.
  func loadFewMembers(of owners: [ManagedObject], _ relationship: Relationship) throws -> Bool {
    if owners.count == 1 {
      let next = ownersToLoad(like: owners[0], relationship, loading: .deletes)
      if next.count > 1 {
        if try loadMembers(of: next, relationship, atMost: fewMembers) { return true }
        batches[owners[0].state.batch]?.endWindow(of: relationship.property, loading: .deletes)
      }
    }
    return try loadMembers(of: owners, relationship, atMost: fewMembers, goingOn: true)
  }

  /// From this number of owners on, their members mostly have several of them as owners.
  private static let manyOwners = 64

  /// Loads the keys of the members of many owners, and then the rows that are not in memory, so that a row is read once
  /// however many owners it has, and in the order of the table.
  private func loadKeysFirst(of owners: [ManagedObject], _ relationship: Relationship) throws {
    let missing = try loadKeys(of: owners, relationship)
    guard !missing.isEmpty else { return }
    try loadObjects(
      missing.sortedWithoutRepeats, entity: relationship.destination, cameBy: owners.first.map { ($0, relationship) })
  }

  /// Loads the keys of the members of several owners, without their rows.
  ///
  /// - Returns: the keys of members in the store that are not in memory, as often as they are members.
  @discardableResult func loadKeys(of owners: [ManagedObject], _ relationship: Relationship) throws -> [Int64] {
    guard !owners.isEmpty else { return [] }
    var missing: [Int64] = []
    var loading = ListLoading(relationship, runtime.inverse(of: relationship), owners)
    try connection(reading: relationship.destination).memberKeys(
      of: relationship.number, owners: owners.map(\._key)
    ) { owner, key, place in
      let member = map[key]
      loading.add(key, to: owner)
      guard let member else { return missing.append(key) }
      refreshPlace(of: member, relationship, place)
      loading.check(member, of: owner)
    }
    finish(loading, owners)
    return missing
  }

  /// The position among the members is not part of a row's version, so a row in memory may have an older position.
  func refreshPlace(of member: ManagedObject, _ relationship: Relationship, _ row: RowReader) {
    guard relationship.isOrdered, let inverse = runtime.inverse(of: relationship),
      case .column(_, let column?) = inverse.home
    else { return }
    refreshPlace(of: member, relationship, row.isNull(column) ? 0 : row.integer(column))
  }

  private func refreshPlace(of member: ManagedObject, _ relationship: Relationship, _ place: Int64) {
    // The parent of a child context keeps its order without stored positions.
    guard relationship.isOrdered, parent == nil, let inverse = runtime.inverse(of: relationship), inverse.isColumn,
      !member.accessFlags.contains(.fault), !member.hasOwnReference(inverse)
    else { return }
    member._setPlace(inverse.property, place == 0 ? nil : place)
  }

  func finish(_ loading: ListLoading, _ owners: [ManagedObject]) {
    var loaded = 0
    loading.forEachOwner { owner, keys in
      guard let owner = map[owner] else { return }
      take(keys, from: loading, for: owner)
      loaded += 1
    }
    if loaded == owners.count { return }
    // Owners without members in the store.
    for owner in owners where !owner.hasLoadedList(of: loading.relationship.property) {
      take([], from: loading, for: owner)
    }
  }

  private func ownersToLoad(
    like object: ManagedObject, _ relationship: Relationship, loading what: SiblingLoad = .members
  ) -> [ManagedObject] {
    siblings(of: object, relationship, loading: what) { !$0.hasLoadedList(of: relationship.property) }
  }

  /// The keys of objects whose rows refer to an owner in this context, but not in the store: other contexts have
  /// deleted them while this one keeps them, or the reference was set here while the owner was deleted.
  func membersUnknownToStore(of owner: Int64, _ relationship: Relationship) -> [Int64] {
    if backlog.gone.isEmpty && !backlog.returning.contains(owner) { return [] }
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { return [] }
    let subtree = runtime.info(relationship.destination).entity.subtree
    var keys = backlog.gone
    if backlog.returning.contains(owner) {
      for member in inserted + changed where info(of: member).relationships.contains(inverse) {
        if member.hasOwnReference(inverse) { keys.insert(member._key) }
      }
    }
    return keys.sorted().filter { key in
      guard let member = map[key], member.isAlive, subtree.contains(type(of: member)._entity) else { return false }
      return member._reference(inverse.property) == owner
    }
  }
}

/// The keys that a load has found so far.
struct ListLoading {
  let relationship: Relationship
  private let inverse: Relationship?
  private let deletedOwners: Set<Int64>
  /// The members in the store, in runs of one owner each.
  private var keys: ContiguousArray<Int64> = []
  /// The owners of the runs, and the positions where these begin.
  private var owners: ContiguousArray<(key: Int64, start: Int)> = []
  /// Whether the owners are in ascending order, so that each has one run.
  private var isGrouped = true
  /// The members in the store that were removed by unsaved changes, by owner.
  private(set) var gone: [Int64: Set<Int64>] = [:]
  /// The members in the store that are deleted and would be members otherwise, by owner.
  private(set) var deleted: [Int64: Set<Int64>] = [:]

  init(_ relationship: Relationship, _ inverse: Relationship?, _ owners: [ManagedObject]) {
    let isJoined = inverse?.isJoined ?? false
    deletedOwners = isJoined ? Set(owners.lazy.filter { $0.phase == .deleted }.map(\._key)) : []
    self.relationship = relationship
    self.inverse = inverse.flatMap { $0.isColumn || $0.isJoined ? $0 : nil }
  }

  /// Whether any members in the store were removed or deleted by unsaved changes.
  var hasDepartures: Bool { !gone.isEmpty || !deleted.isEmpty }

  /// Calls a closure with the keys of each owner.
  func forEachOwner(_ body: (_ owner: Int64, _ keys: ContiguousArray<Int64>) -> Void) {
    if isGrouped {
      // An array of a slice of the array itself would retain it for each owner.
      return keys.withUnsafeBufferPointer { keys in
        for number in owners.indices {
          body(owners[number].key, ContiguousArray(UnsafeBufferPointer(rebasing: keys[run(number)])))
        }
      }
    }
    // A stable sort keeps the order of each owner's keys.
    let sorted = owners.indices.sorted { (owners[$0].key, $0) < (owners[$1].key, $1) }
    var next = sorted.startIndex
    while next < sorted.endIndex {
      let owner = owners[sorted[next]].key
      var members: ContiguousArray<Int64> = []
      while next < sorted.endIndex, owners[sorted[next]].key == owner {
        members += keys[run(sorted[next])]
        next += 1
      }
      body(owner, members)
    }
  }

  private func run(_ number: Int) -> Range<Int> {
    owners[number].start..<(number + 1 < owners.count ? owners[number + 1].start : keys.count)
  }

  /// Adds the key of a member.
  mutating func add(_ key: Int64, to owner: Int64) {
    if owners.last?.key != owner {
      if let last = owners.last, last.key > owner { isGrouped = false }
      owners.append((owner, keys.count))
    }
    keys.append(key)
  }

  /// Notes whether a member that was added, and may have changed since it was saved, left its owner since.
  mutating func check(_ member: ManagedObject, of owner: Int64) {
    let refers = refers(member, to: owner)
    if refers && member.phase != .deleted { return }
    let key = member._key
    if refers { deleted[owner, default: []].insert(key) } else { gone[owner, default: []].insert(key) }
  }

  /// Whether a member, which may have changed since it was saved, still refers to the owner.
  private func refers(_ member: ManagedObject, to owner: Int64) -> Bool {
    guard let inverse else { return true }
    // Lists of other objects never show a deleted owner, whose own list is unchanged.
    if inverse.isJoined {
      guard let list = member.list(of: inverse.property), !deletedOwners.contains(owner) else { return true }
      // A list that was read before another context added the owner has no note of it.
      return !list.hasLost(owner)
    }
    return member.accessFlags.contains(.fault) || member._reference(inverse.property) == owner
  }
}

// MARK: - Lazy to one

extension ObjectGraph {
  /// Loads the partner of a to-one, together with the partners of the object's siblings in the same statements.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func loadPartner(_ key: Int64, of object: ManagedObject, _ relationship: Relationship) throws -> ManagedObject? {
    try loading(relationship) {
      let wanted = partnersWanted(key, object, relationship)
      try loadObjects(wanted, entity: relationship.destination, cameBy: (object, relationship))
    }
    return map[key].flatMap { $0.phase == .deleted ? nil : $0 }
  }

  private func partnersWanted(_ key: Int64, _ object: ManagedObject, _ relationship: Relationship) -> [Int64] {
    guard let batch = batches[object.state.batch] else { return [key] }
    var wanted: [Int64] = [key]
    var last = key
    for sibling in batch.siblings(from: object._key, of: relationship.property, loading: .members) {
      guard let sibling = map[sibling], !sibling.accessFlags.contains(.fault) else { continue }
      let reference = sibling._reference(relationship.property)
      // Adjacent siblings often share a partner: skipping repeats here keeps the sort below small.
      if reference > 0 && reference != last && !map.contains(reference) { wanted.append(reference) }
      last = reference
    }
    return wanted.sortedWithoutRepeats
  }

  /// Loads the partner's key of a to-one whose reference is stored in the partner's row, together with those of the
  /// siblings.
  ///
  /// - Returns: the partner's key; 0 for nil.
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func loadPartnerKeys(like object: ManagedObject, _ relationship: Relationship) throws -> Int64 {
    let owners = siblings(of: object, relationship) { holder(of: $0, relationship) < 0 }.map(\._key)
    let number = RelationshipNumber(entity: relationship.entity, property: relationship.property)
    let inverse = runtime.inverse(of: relationship)
    try loading(relationship) {
      var found: [Int64: Int64] = [:]
      try connection(reading: relationship.destination).members(of: number, owners: owners) { owner, row in
        let partner = try self.object(of: row, batch: 0)
        found[owner] = row.key
        // A rollback has to restore a partner that was linked to another object here.
        if let inverse, partner._reference(inverse.property) != owner, let owner = map[owner] { noteListChanged(owner) }
      }
      for owner in owners {
        let unknown = membersUnknownToStore(of: owner, relationship).first
        if let owner = map[owner] { take(found[owner._key] ?? 0, unknown, for: owner, relationship) }
      }
    }
    return max(0, holder(of: object, relationship))
  }

  /// The key of another partner of a to-one whose reference is stored in the partner's row: an object in the store, or
  /// one that only this context knows; 0 for none.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func otherPartner(of object: ManagedObject, _ relationship: Relationship, than shown: Int64) throws -> Int64 {
    guard let inverse = runtime.inverse(of: relationship) else { return 0 }
    var stored: Int64 = 0
    try loading(relationship) {
      try connection(reading: relationship.destination).members(of: relationship.number, owners: [object._key]) {
        _, row in
        let partner = try self.object(of: row, batch: 0)
        if row.key != shown && partner._reference(inverse.property) == object._key { stored = row.key }
      }
    }
    guard let unknown = membersUnknownToStore(of: object._key, relationship).first(where: { $0 != shown }),
      stored == 0 || map[unknown]?.hasOwnReference(inverse) == true
    else { return stored }
    return unknown
  }

  /// The object and the siblings of its batch that one load includes.
  ///
  /// - Parameter isWanted: Whether a sibling is included.
  func siblings(
    of object: ManagedObject, _ relationship: Relationship, loading what: SiblingLoad = .members,
    where isWanted: (ManagedObject) -> Bool
  ) -> [ManagedObject] {
    guard let batch = batches[object.state.batch] else { return [object] }
    var found = [object]
    for key in batch.siblings(from: object._key, of: relationship.property, loading: what) where key != object._key {
      guard let sibling = map[key], sibling.phase == .persistent,
        read(sibling, { $0.relationships.indices.contains(relationship.property) }), isWanted(sibling)
      else { continue }
      found.append(sibling)
    }
    return found
  }
}

/// The kind of a load for an object and its siblings. Each kind has its own window sizes.
enum SiblingLoad {
  /// The members of a relationship, by key or with their rows.
  case members
  /// The rows of members that are known by key.
  case rows
  /// The rows of faults.
  case faults
  /// The members of objects that are about to be deleted.
  case deletes

  /// The number of siblings of the first load: few, in case a loop ends early.
  var firstWindow: Int { self == .deletes ? 1 : 256 }

  /// Each further load includes this many times as many siblings: a loop that has gone through the first window mostly
  /// goes on to the end, and each load of many passes over the table of the members.
  var growth: Int { self == .deletes ? 4 : 16 }

  /// The largest number of siblings of a load. Those of a delete have few members in all.
  var largestWindow: Int { self == .deletes ? 64 : 1 << 16 }
}

// MARK: - Prefetching

extension ObjectGraph {
  /// Loads the objects at the end of relationship paths, for all objects at once.
  ///
  /// - Throws: ``StoreError`` if the store fails; the objects themselves are loaded then.
  func prefetch(_ paths: [PropertyPath], for objects: [ManagedObject]) throws {
    let announced = paths.count > 1 ? membersToLoad(paths, of: objects) : []
    if announced.count > 1 { try connection().willReadMembers(announced) }
    defer { if announced.count > 1 { try? connection().willReadMembers([]) } }
    for path in paths {
      var objects = objects
      for (number, property) in path.steps.enumerated() {
        guard let entity = objects.first.map(info), entity.relationships.indices.contains(property),
          let relationship = entity.relationships[property]
        else { break }
        try load(relationship, of: objects)
        if number < path.count - 1 { objects = try partners(relationship, of: objects) }
      }
    }
  }

  /// The members that the first steps of paths load with their rows, so that a store can read them together.
  private func membersToLoad(_ paths: [PropertyPath], of objects: [ManagedObject]) -> [MemberRequest] {
    var requests: [MemberRequest] = []
    for path in paths {
      guard let property = path.steps.first, let entity = objects.first.map(info),
        entity.relationships.indices.contains(property), let relationship = entity.relationships[property],
        relationship.isToMany, !relationship.isTransient
      else { continue }
      let owners = ownersToLoad(relationship, of: objects)
      guard !owners.isEmpty, !relationship.isJoined || owners.count < Self.manyOwners else { continue }
      let request = MemberRequest(of: relationship.number, owners: owners.map(\._key))
      if !requests.contains(request) { requests.append(request) }
    }
    return requests
  }

  private func ownersToLoad(_ relationship: Relationship, of objects: [ManagedObject]) -> [ManagedObject] {
    objects.filter { $0.phase == .persistent && !list(of: $0, relationship).isLoaded }
  }

  private func load(_ relationship: Relationship, of objects: [ManagedObject]) throws {
    if relationship.isToMany {
      let owners = ownersToLoad(relationship, of: objects)
      if !owners.isEmpty { try loadMembers(of: owners, relationship) }
    }
    let missing = try partnerKeys(relationship, of: objects) { !map.contains($0) }
    if !missing.isEmpty {
      try loadObjects(missing, entity: relationship.destination, cameBy: objects.first.map { ($0, relationship) })
    }
  }

  /// The partners in ascending order of their keys, each once.
  private func partners(_ relationship: Relationship, of objects: [ManagedObject]) throws -> [ManagedObject] {
    try partnerKeys(relationship, of: objects) { _ in true }.compactMap { map[$0] }
  }

  private func partnerKeys(
    _ relationship: Relationship, of objects: [ManagedObject], where isWanted: (Int64) -> Bool
  ) throws -> [Int64] {
    var keys: [Int64] = []
    var last: Int64 = 0
    for object in objects {
      if relationship.isToMany {
        for key in list(of: object, relationship).keys where isWanted(key) { keys.append(key) }
        continue
      }
      let key = try partnerKey(of: object, relationship)
      // Adjacent objects often share a partner.
      if key > 0 && key != last && isWanted(key) { keys.append(key) }
      last = key
    }
    return keys.sortedWithoutRepeats
  }
}
