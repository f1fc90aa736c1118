import TrellisStorage

extension ManagedObjectContext {
  /// The list of a to-many with all its keys. Those of the siblings are loaded as well.
  ///
  /// - Parameter isAsked: Whether the caller is the user of the object, and not the context itself.
  func loadedList(
    of object: ManagedObject, _ relationship: RelationshipInfo, isAsked: Bool = false
  ) -> MemberList {
    let list = list(of: object, relationship)
    if list.isLoaded || object.phase == .detached { return list }
    if isAsked { noteLazyLoad(of: object, relationship) }
    do {
      try loadKeys(of: ownersToLoad(like: object, relationship), relationship)
    } catch {
      reportFailure(of: relationship, error)
    }
    return list
  }

  /// The members of a to-many, with their rows. Those of the siblings are loaded as well. Empty if this fails, because
  /// some members would be more misleading than none.
  func memberObjects(of object: ManagedObject, _ relationship: RelationshipInfo) -> [ManagedObject] {
    let list = list(of: object, relationship)
    do {
      if !list.isLoaded && object.phase != .detached {
        noteLazyLoad(of: object, relationship)
        try loadMembers(of: ownersToLoad(like: object, relationship), relationship)
      }
      let keys = shownKeys(list)
      let members = registeredObjects(keys)
      if members.count == keys.count { return members }
      noteLazyLoad(of: object, relationship)
      let missing = missingMembers(like: object, relationship)
      try loadObjects(missing, entity: relationship.destination, cameBy: (object, relationship))
    } catch {
      reportFailure(of: relationship, error)
      return []
    }
    return registeredObjects(shownKeys(list))
  }

  /// The objects with these keys that are in memory, in the order of the keys.
  private func registeredObjects(_ keys: ContiguousArray<Int64>) -> [ManagedObject] {
    var found: [ManagedObject] = []
    found.reserveCapacity(keys.count)
    for key in keys { if let object = map[key] { found.append(object) } }
    return found
  }

  /// The keys of members without an object in memory, in lists of the object and its siblings that were loaded by key
  /// only.
  private func missingMembers(like object: ManagedObject, _ relationship: RelationshipInfo) -> [Int64] {
    var missing: [Int64] = []
    for owner in siblings(of: object, relationship, loading: .rows) {
      guard let list = owner.extras?.list(relationship.property), list.isLoaded || owner === object else { continue }
      for key in list.keys where map[key] == nil { missing.append(key) }
    }
    return missing.sortedWithoutRepeats
  }

  /// Loads the members of several owners with their rows, in a few statements.
  ///
  /// - Parameter limit: The maximum number of members. If there are more, some objects are loaded, but no list is.
  /// - Returns: whether all members were loaded.
  @discardableResult func loadMembers(
    of owners: [ManagedObject], _ relationship: RelationshipInfo, atMost limit: Int = .max
  ) throws -> Bool {
    struct TooMany: Error {}
    var count = 0
    let batch = FetchBatch()
    let batchNumber = batches.add(batch, keeping: map)
    inherit(batch, from: owners.first, relationship)
    var loading = ListLoading(relationship, runtime.inverse(of: relationship), owners)
    do {
      let connection = try connection(reading: relationship.destination)
      try connection.members(of: number(of: relationship), owners: owners.map(\._key)) { owner, row in
        count += 1
        if count > limit { throw TooMany() }
        let isNew = map[row.key] == nil
        let member = try object(of: row, batch: batchNumber)
        if isNew { batch.append(row.key) } else { refreshPlace(of: member, relationship, row) }
        loading.add(row.key, member, to: owner)
      }
    } catch is TooMany {
      return false
    }
    finish(loading, owners)
    return true
  }

  /// Loads the keys of the members of several owners, without their rows.
  func loadKeys(of owners: [ManagedObject], _ relationship: RelationshipInfo) throws {
    guard !owners.isEmpty else { return }
    var loading = ListLoading(relationship, runtime.inverse(of: relationship), owners)
    try connection(reading: relationship.destination).memberKeys(
      of: number(of: relationship), owners: owners.map(\._key)
    ) { owner, key, place in
      let member = map[key]
      if let member { refreshPlace(of: member, relationship, place) }
      loading.add(key, member, to: owner)
    }
    finish(loading, owners)
  }

  /// The position among the members is not part of a row's version, so a row in memory may have an older position.
  private func refreshPlace(of member: ManagedObject, _ relationship: RelationshipInfo, _ row: RowReader) {
    guard relationship.isOrdered, let inverse = runtime.inverse(of: relationship),
      case .column(_, let column?) = inverse.home
    else { return }
    refreshPlace(of: member, relationship, row.isNull(column) ? 0 : row.integer(column))
  }

  private func refreshPlace(of member: ManagedObject, _ relationship: RelationshipInfo, _ place: Int64) {
    // The parent of a child context keeps its order without stored positions.
    guard relationship.isOrdered, parent == nil, let inverse = runtime.inverse(of: relationship), inverse.isColumn,
      !member.accessFlags.contains(.fault), !member.hasOwnReference(inverse)
    else { return }
    member._setPlace(inverse.property, place == 0 ? nil : place)
  }

  private func finish(_ loading: ListLoading, _ owners: [ManagedObject]) {
    loading.forEachOwner { owner, keys in
      if let owner = map[owner] { take(keys, from: loading, for: owner) }
    }
    // Owners without members in the store.
    for owner in owners where !list(of: owner, loading.relationship).isLoaded { take([], from: loading, for: owner) }
  }

  private func take(_ keys: ContiguousArray<Int64>, from loading: ListLoading, for owner: ManagedObject) {
    let list = list(of: owner, loading.relationship)
    let unknown = membersUnknownToStore(of: owner._key, loading.relationship)
    let keys = unknown.isEmpty ? keys : keys + unknown.filter { !keys.contains($0) }
    let deleted = loading.deleted[owner._key] ?? []
    let gone = loading.gone[owner._key] ?? []
    checkNotes(list, of: owner, loading.relationship, keys)
    list.load(keys, without: deleted.isEmpty ? gone : gone.subtracting(deleted))
    if !deleted.isEmpty { takeOut(deleted, of: list, owner, loading.relationship) }
    // A rollback has to restore these members.
    if !gone.isEmpty { noteListChanged(owner) }
  }

  /// Removes the deleted members from a list that was just loaded, and keeps their positions.
  private func takeOut(
    _ deleted: [Int64], of list: MemberList, _ owner: ManagedObject, _ relationship: RelationshipInfo
  ) {
    let order = list.keys
    for key in deleted where list.contains(key) {
      pending.deletions.noteLate(owner, relationship, key, in: order)
      list.remove(key)
    }
  }

  private func ownersToLoad(like object: ManagedObject, _ relationship: RelationshipInfo) -> [ManagedObject] {
    siblings(of: object, relationship).filter { sibling in
      sibling === object || sibling.extras?.list(relationship.property)?.isLoaded != true
    }
  }

  func number(of relationship: RelationshipInfo) -> RelationshipNumber {
    RelationshipNumber(entity: relationship.entity, property: relationship.property)
  }

  private func reportFailure(of relationship: RelationshipInfo, _ error: any Error) {
    report(
      ContextError(.loadFailed, "\(relationship.entityName).\(relationship.name) could not be loaded.", cause: error))
  }
}

/// The keys that a load has found so far. The members of one owner are adjacent.
private struct ListLoading {
  let relationship: RelationshipInfo
  private let inverse: RelationshipInfo?
  private let deletedOwners: Set<Int64>
  /// The members in the store, grouped by owner.
  private var keys: ContiguousArray<Int64> = []
  /// The owners, and the positions where their keys begin.
  private var owners: ContiguousArray<(key: Int64, start: Int)> = []
  /// The members in the store that were removed by unsaved changes, by owner.
  private(set) var gone: [Int64: Set<Int64>] = [:]
  /// The members in the store that are deleted and would be members otherwise, by owner.
  private(set) var deleted: [Int64: [Int64]] = [:]

  init(_ relationship: RelationshipInfo, _ inverse: RelationshipInfo?, _ owners: [ManagedObject]) {
    deletedOwners = Set(owners.filter { $0.phase == .deleted }.map(\._key))
    self.relationship = relationship
    self.inverse = inverse.flatMap { $0.isColumn || $0.isJoined ? $0 : nil }
  }

  func forEachOwner(_ body: (_ owner: Int64, _ keys: ContiguousArray<Int64>) -> Void) {
    for (number, owner) in owners.enumerated() {
      let end = number + 1 < owners.count ? owners[number + 1].start : keys.count
      body(owner.key, ContiguousArray(keys[owner.start..<end]))
    }
  }

  mutating func add(_ key: Int64, _ member: ManagedObject?, to owner: Int64) {
    if owners.last?.key != owner { owners.append((owner, keys.count)) }
    keys.append(key)
    guard let member else { return }
    let refers = refers(member, to: owner)
    if refers && member.phase != .deleted { return }
    if refers { deleted[owner, default: []].append(key) }
    gone[owner, default: []].insert(key)
  }

  /// Whether a member, which may have changed since it was saved, still refers to the owner.
  private func refers(_ member: ManagedObject, to owner: Int64) -> Bool {
    guard let inverse else { return true }
    // Lists of other objects never show a deleted owner, whose own list is unchanged.
    if inverse.isJoined {
      guard let list = member.extras?.list(inverse.property), !deletedOwners.contains(owner) else { return true }
      // A list that was read before another context added the owner has no note of it.
      return !list.hasLost(owner)
    }
    return member.accessFlags.contains(.fault) || member._reference(inverse.property) == owner
  }
}
