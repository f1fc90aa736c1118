import TrellisModel
import TrellisStorage

/// Keeps both ends of relationships consistent, for every kind by the same four steps: the old partners are unlinked at
/// both ends, then the new ones are linked at both ends.
///
/// No function here loads a to-many; an end whose members are not loaded notes which were added and removed.
extension ObjectGraph {
  // MARK: Whole links

  /// Links two objects. A to-one end is unlinked from its former partner first.
  ///
  /// - Parameter place: The position of the partner among the members of an ordered to-many; nil for the end.
  /// - Throws: ``ContextError`` with the code `load-failed`, but not after ``prepare(toConnect:_:_:)``.
  func connect(
    _ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject, at place: Int? = nil
  ) throws {
    let inverse = runtime.inverse(of: relationship)
    // Adding a present member to an unordered to-many changes nothing.
    if relationship.isToMany, !relationship.isOrdered, relationship.home == .inverseColumn, let inverse,
      knownReference(of: partner, inverse) == object._key, showsOwnMember(partner._key, of: object, relationship)
    {
      return
    }
    try prepareRecording(object, relationship, partner._key)
    if !relationship.isToMany, try partnerKey(of: object, relationship) == partner._key { return }
    // Both may read the store, and nothing has changed yet.
    let former = try formerPartners(of: object, relationship, unless: partner._key)
    let others = try inverse.map { try formerPartners(of: partner, $0, unless: object._key) } ?? []
    for key in former { try disconnect(object, relationship, key) }
    if let inverse { for key in others { try disconnect(partner, inverse, key) } }
    // A pair that exists already is moved at one end only.
    let isMove =
      relationship.isJoined
      && (isKnownMember(partner._key, of: object, relationship)
        || inverse.map { isKnownMember(object._key, of: partner, $0) } == true)
    if isMove && !relationship.isOrdered { return }
    linkEnd(object, relationship, partner._key, at: place)
    if isMove { return }
    if let inverse, object !== partner || !inverse.isSame(as: relationship) { follow(partner, inverse, object._key) }
  }

  /// Whether a to-many shows a member whose row refers to its owner. A complete list may not show it if the owner was
  /// inserted again after its delete left the reference in place.
  private func showsOwnMember(_ key: Int64, of object: ManagedObject, _ relationship: Relationship) -> Bool {
    guard let list = object.list(of: relationship.property) else { return object.phase != .inserted }
    return !list.isLoaded || list.contains(key)
  }

  /// Whether a loaded list contains a member.
  func isKnownMember(_ key: Int64, of object: ManagedObject, _ relationship: Relationship) -> Bool {
    guard let list = object.list(of: relationship.property), list.isLoaded else { return false }
    return list.contains(key)
  }

  /// The partner of a to-one that another one replaces. If it was set in this context while another context has set
  /// another one, that one as well.
  private func formerPartners(
    of object: ManagedObject, _ relationship: Relationship, unless key: Int64
  ) throws -> [Int64] {
    if relationship.isToMany { return [] }
    let shown = try partnerKey(of: object, relationship)
    if shown == 0 || shown == key { return [] }
    guard isContested(object, relationship) else { return [shown] }
    let other = try otherPartner(of: object, relationship, than: shown)
    return other == 0 || other == key ? [shown] : [shown, other]
  }

  /// Unlinks an object and the partner with a key from each other.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`, but not after ``prepare(toDisconnect:_:_:)``.
  func disconnect(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) throws {
    try prepareRecording(object, relationship, partner)
    unlink(object, relationship, partner)
    guard let inverse = runtime.inverse(of: relationship) else { return }
    try unlink(ofOtherEnd: partner, inverse, object._key, entity: relationship.destination)
  }

  // MARK: One end

  func linkEnd(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64, at place: Int? = nil) {
    if relationship.isToMany {
      object.announce(relationship.property)
      let list = list(of: object, relationship)
      recordMember(key, isComing: true, list: list, owner: object, object._key, relationship)
      list.insert(key, at: place)
      noteListChanged(object)
    } else {
      setReference(of: object, relationship, key)
    }
  }

  /// Links the other end. A present member of a many-to-many keeps its position, since each end has its own order.
  private func follow(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    guard relationship.isToMany && (relationship.isJoined || relationship.isTransient) else {
      return linkEnd(object, relationship, key)
    }
    let list = list(of: object, relationship)
    object.announce(relationship.property)
    if !list.contains(key) {
      recordMember(key, isComing: true, list: list, owner: object, object._key, relationship)
    }
    list.include(key)
    noteListChanged(object)
  }

  func unlink(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    if relationship.isToMany {
      object.announce(relationship.property)
      let list = list(of: object, relationship)
      recordMember(key, isComing: false, list: list, owner: object, object._key, relationship)
      list.remove(key)
      noteListChanged(object)
    } else if knownReference(of: object, relationship) == key {
      setReference(of: object, relationship, 0)
    }
  }

  /// Unlinks the other end, which may not be in memory: a row that holds a reference is loaded to be changed, an owner
  /// whose members are counted at save is loaded to be counted, and a list in a join table notes the removed member.
  private func unlink(ofOtherEnd key: Int64, _ relationship: Relationship, _ gone: Int64, entity: Int) throws {
    if let partner = map[key] {
      unlink(partner, relationship, gone)
    } else if relationship.isColumn || relationship.isCounted {
      if let partner = try storedObject(key, entity: entity) { unlink(partner, relationship, gone) }
    } else if relationship.isJoined {
      let list = deferredList(of: key, relationship)
      recordMember(gone, isComing: false, list: list, owner: nil, key, relationship)
      list.remove(gone)
    }
  }

  private func setReference(of object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    if relationship.isColumn {
      // A deleted object also loses a partner that is linked elsewhere. Otherwise it would still prevent the partner's
      // delete.
      if object.phase == .deleted {
        object.willChangeValues()
        object.state.markAssigned(ColumnMask.bit(of: relationship.property))
      } else if !object._willWrite(relationship.property) {
        return
      }
      object._setReference(relationship.property, key)
      object._setPlace(relationship.property, nil)
      if relationship.isOwnInverse && !backlog.contestedHalves.isEmpty {
        releaseContestedHalf(of: object, relationship)
      }
    } else {
      object.announce(relationship.property)
      recorder?.record(.partner(object, relationship, max(0, knownReference(of: object, relationship))))
      if key == 0 && isContested(object, relationship) {
        object.removePartners { $0.property == relationship.property }
      } else {
        object.setPartner(of: relationship.property, key)
      }
      noteListChanged(object)
    }
  }

  // MARK: Present partners

  /// The key of a to-one's partner, loaded if necessary; 0 for nil.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func partnerKey(of object: ManagedObject, _ relationship: Relationship) throws -> Int64 {
    if relationship.isColumn { try fulfilIfFault(object) }
    let known = knownReference(of: object, relationship)
    return known >= 0 ? known : try loadPartnerKeys(like: object, relationship)
  }

  /// The key of a to-one's partner as far as it is in memory; -1 if the store has to be read.
  func knownReference(of object: ManagedObject, _ relationship: Relationship) -> Int64 {
    if relationship.isColumn {
      object._willRead(relationship.property)
      return object._reference(relationship.property)
    }
    if let known = object.notedPartner(of: relationship.property) { return known }
    return object.phase == .inserted || relationship.isTransient ? 0 : -1
  }

  /// The keys of the partners that are in memory, without reading the store.
  func presentPartners(of object: ManagedObject, _ relationship: Relationship) -> [Int64] {
    if relationship.isToMany { return object.list(of: relationship.property).map { Array($0.keys) } ?? [] }
    let known = knownReference(of: object, relationship)
    return known > 0 ? [known] : []
  }

  /// Calls a function with the key of each partner that is in memory, without reading the store. The function may
  /// change the relationship.
  func forEachPresentPartner(
    of object: ManagedObject, _ relationship: Relationship, _ body: (Int64) throws -> Void
  ) rethrows {
    if relationship.isToMany {
      guard let keys = object.list(of: relationship.property)?.keys else { return }
      for key in keys { try body(key) }
    } else {
      let known = knownReference(of: object, relationship)
      if known > 0 { try body(known) }
    }
  }

  /// The list of a to-many, created if there is none. The list of a new object is complete from the start.
  func list(of object: ManagedObject, _ relationship: Relationship) -> MemberList {
    if let list = object.list(of: relationship.property) {
      if relationship.inverse == nil { dropDeleted(from: list, of: object, relationship) }
      return list
    }
    let adopted = adoptDeferredList(object._key, relationship)
    let list =
      adopted
      ?? MemberList(
        relationship, isLoaded: object.phase == .inserted || relationship.isTransient)
    list.seenGone = pending.deletionLog.count
    object.add(list)
    if relationship.isJoined { listed.insert(relationship.number) }
    if adopted != nil { noteListChanged(object) }
    return list
  }
}

// MARK: - Link preloading

/// Loads the objects that a change of links needs before anything changes, so that a failing load leaves nothing half
/// done.
extension ObjectGraph {
  /// Loads the other objects that linking two objects changes.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func prepare(
    toConnect object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject
  ) throws {
    let inverse = runtime.inverse(of: relationship)
    if !relationship.isToMany {
      let old = try partnerKey(of: object, relationship)
      if old > 0 && old != partner._key {
        try prepareOtherEnd([old], relationship)
        try prepareRecording(object, relationship, old)
      }
    }
    if let inverse, !inverse.isToMany {
      let old = try partnerKey(of: partner, inverse)
      if old > 0 && old != object._key {
        try prepareOtherEnd([old], inverse)
        try prepareRecording(partner, inverse, old)
      }
    }
    try prepareRecording(object, relationship, partner._key)
    // A pair that the other end contains already is only moved, which needs the order.
    if relationship.isJoined && relationship.isOrdered, let inverse, isKnownMember(object._key, of: partner, inverse) {
      try loadedList(of: object, relationship)
    }
  }

  /// Loads what unlinking partners changes at their end.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  func prepare(
    toDisconnect object: ManagedObject, _ relationship: Relationship, _ partners: [Int64]
  ) throws {
    try prepareOtherEnd(partners, relationship)
    if recorder != nil { for partner in partners { try prepareRecording(object, relationship, partner) } }
  }

  /// Loads what linking two objects needs, and links them.
  func prepareAndConnect(
    _ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject
  ) throws {
    try prepare(toConnect: object, relationship, partner)
    try connect(object, relationship, partner)
  }

  /// Loads what unlinking a partner needs, and unlinks it.
  func prepareAndDisconnect(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) throws {
    try prepare(toDisconnect: object, relationship, [partner])
    try disconnect(object, relationship, partner)
  }

  private func prepareOtherEnd(_ partners: [Int64], _ relationship: Relationship) throws {
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn || inverse.isCounted else { return }
    try loading(relationship) { try loadForChange(partners, of: relationship) }
  }

  /// Loads the rows of partners, in a few statements.
  func loadForChange(_ partners: some Sequence<Int64>, of relationship: Relationship) throws {
    try loadForChange(partners, entity: relationship.destination)
  }

  /// Loads the rows of objects of an entity and its subentities.
  func loadForChange(_ keys: some Sequence<Int64>, entity: Int) throws {
    var missing: [Int64] = []
    var faults: [ManagedObject] = []
    for key in keys {
      guard let partner = map[key] else {
        missing.append(key)
        continue
      }
      if partner.accessFlags.contains(.fault) { faults.append(partner) }
    }
    if !missing.isEmpty { try loadObjects(missing, entity: entity) }
    try refreshRows(faults)
  }
}
