import TrellisStorage

/// What objects show of others' rows and of join rows, when these have changed elsewhere. What was not changed here is forgotten and
/// read again when it is next used; what was changed here stays, to be put on top of what is read.
extension ManagedObjectContext {
  /// All to-manys of a saved object, and its to-ones that lie in the partners' rows.
  func forgetViews(of owner: ManagedObject) {
    guard let extras = owner.extras, owner.phase == .persistent else { return }
    for entry in extras.lists {
      guard let relationship = relationship(entry.property, of: owner) else { continue }
      forgetList(entry.list, of: owner, relationship)
    }
    if !extras.lists.isEmpty {
      extras.lists.removeAll { entry in
        !entry.list.hasChanges && relationship(entry.property, of: owner)?.isTransient != true
      }
    }
    for entry in extras.partners {
      guard let relationship = relationship(entry.property, of: owner) else { continue }
      forgetPartner(entry.key, of: owner, relationship)
    }
  }

  /// The partners that show an object by what its row refers to, and the relationships in which they do.
  func partnersInRow(of object: ManagedObject) -> [(partner: ManagedObject, relationship: RelationshipInfo)] {
    guard !object._attention.contains(.fault) else { return [] }
    var partners: [(partner: ManagedObject, relationship: RelationshipInfo)] = []
    for relationship in info(of: object).allRelationships where relationship.isColumn {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      var keys: Set<Int64> = [object._reference(relationship.property)]
      if case .integer(let former)? = object.extras?.committed?.value(relationship.property) { keys.insert(former) }
      for key in keys where key > 0 { if let partner = map[key] { partners.append((partner, inverse)) } }
    }
    return partners
  }

  func forgetViews(of partners: [(partner: ManagedObject, relationship: RelationshipInfo)]) {
    for (partner, relationship) in partners { forgetView(relationship, of: partner) }
  }

  /// The partners that an object has had, or has got, by what others wrote.
  func forgetViews(of object: ManagedObject, _ before: [(relationship: RelationshipInfo, key: Int64)]) {
    for (relationship, former) in before {
      let present = object._reference(relationship.property)
      guard former != present, let inverse = runtime.inverse(of: relationship) else { continue }
      for key in [former, present] where key > 0 { if let partner = map[key] { forgetView(inverse, of: partner) } }
    }
  }

  /// Takes objects that are gone from the store out of the to-manys in join tables that show them.
  ///
  /// - Complexity: linear in the number of objects in memory, where such a to-many was ever used.
  func forgetStoredMembers(_ gone: [Int: Set<Int64>]) {
    let shown = listed.compactMap(runtime.relationship).filter { relationship in
      let subtree = runtime.entities[relationship.destination].entity.subtree
      return gone.keys.contains(where: subtree.contains)
    }
    if shown.isEmpty { return }
    let all = gone.values.reduce(into: Set<Int64>()) { $0.formUnion($1) }
    map.forEach { owner in
      guard let extras = owner.extras else { return }
      for entry in extras.lists {
        guard let relationship = relationship(entry.property, of: owner), shown.contains(where: relationship.isSame)
        else { continue }
        guard all.contains(where: entry.list.shows) else { continue }
        owner.announce(entry.property)
        entry.list.forgetStored(all)
      }
    }
  }

  // MARK: One view

  private func forgetView(_ relationship: RelationshipInfo, of owner: ManagedObject) {
    guard let extras = owner.extras, owner.phase == .persistent else { return }
    if relationship.isToMany {
      if let list = extras.list(relationship.property) { forgetList(list, of: owner, relationship) }
    } else if let key = extras.partner(relationship.property) {
      forgetPartner(key, of: owner, relationship)
    }
  }

  private func forgetList(_ list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo) {
    if relationship.isTransient { return }
    owner.announce(relationship.property)
    unload(list, of: owner, relationship, keepingOrder: true)
  }

  /// A to-many goes back to knowing only what was changed here.
  func unload(
    _ list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo, keepingOrder keepsOrder: Bool
  ) {
    let wasLoaded = list.isLoaded
    let inverse = relationship.home == .inverseColumn ? runtime.inverse(of: relationship) : nil
    list.unload(keepingOrder: keepsOrder) { key in
      guard let inverse, let member = map[key] else { return false }
      return member.hasOwnReference(inverse)
    }
    if list.arrangement != nil { hasArrangements = true }
    guard let inverse else { return }
    // The members' rows are the truth.
    list.keepNotes { key in
      guard let member = map[key], member.isAlive else { return false }
      // A member of a list that was not loaded may have been moved only, which its row does not say.
      if member._attention.contains(.fault) { return !wasLoaded && keepsOrder }
      guard member._reference(inverse.property) == owner._key else { return false }
      return !wasLoaded && keepsOrder || member.hasOwnReference(inverse)
    } removed: {
      isTakenOut($0, of: owner, inverse)
    }
  }

  /// Drops what a to-many has noted, as far as the members' rows, which are the truth, do not say the same.
  ///
  /// - Parameter stored: The members in the store.
  func checkNotes(
    _ list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo, _ stored: ContiguousArray<Int64>
  ) {
    guard !list.isLoaded, list.hasChanges, relationship.home == .inverseColumn,
      let inverse = runtime.inverse(of: relationship)
    else { return }
    let stored = Set(stored)
    list.keepNotes { key in
      guard let member = map[key], member.isAlive else { return false }
      if member._attention.contains(.fault) { return stored.contains(key) }
      return member._reference(inverse.property) == owner._key
        && (stored.contains(key) || member.hasOwnReference(inverse))
    } removed: {
      isTakenOut($0, of: owner, inverse)
    }
  }

  private func isTakenOut(_ key: Int64, of owner: ManagedObject, _ inverse: RelationshipInfo) -> Bool {
    guard let member = map[key], !member._attention.contains(.fault) else { return false }
    return member.phase == .deleted || member._reference(inverse.property) != owner._key
  }

  /// The partner whose row was set to the object here stays.
  private func forgetPartner(_ key: Int64, of owner: ManagedObject, _ relationship: RelationshipInfo) {
    guard !relationship.isTransient, let inverse = runtime.inverse(of: relationship) else { return }
    if key > 0, let partner = map[key], partner.isAlive, !partner._attention.contains(.fault),
      partner._reference(inverse.property) == owner._key, partner.hasOwnReference(inverse)
    {
      return
    }
    owner.announce(relationship.property)
    owner.extras?.partners.removeAll { $0.property == relationship.property }
  }
}

extension ManagedObject {
  /// Whether a reference in the object's row was set here since it was last read or saved.
  final func hasOwnReference(_ reference: RelationshipInfo) -> Bool {
    if phase == .inserted { return true }
    guard _changed & ColumnMask.bit(of: reference.property) != 0, let committed = extras?.committed else {
      return false
    }
    return !_value(reference.property).isSame(as: committed.value(reference.property))
  }
}

extension ManagedObject {
  /// Whether the object's own row was changed here, or pairs were added to it.
  ///
  /// Pairs that were taken out are no change of an object that is gone, and members that hold the reference are changes of
  /// their rows.
  final var hasChangesOfItsOwn: Bool {
    guard let context = link.context else { return false }
    if isEdited { return true }
    return extras?.lists.contains { entry in
      context.relationship(entry.property, of: self)?.home != .inverseColumn && !entry.list.difference.added.isEmpty
    } == true
  }
}

extension MemberList {
  /// Whether the list holds a key, or has noted one.
  func shows(_ key: Int64) -> Bool { contains(key) || removed.contains(key) }
}
