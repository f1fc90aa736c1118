import TrellisModel
import TrellisStorage

/// Links and unlinks objects, whatever kind of relationship it is, so that both ends agree.
///
/// | relationship | what is written |
/// |---|---|
/// | stored in the object's row, or in the partner's | the reference, see ``setReference(of:_:to:at:placing:keepingPlace:)`` |
/// | a one-to-one that is its own inverse | the references in both rows |
/// | stored in a join table, or not stored | the pair, see ``setPair(_:_:_:isLinked:at:wasLinked:moving:)`` |
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
    try prepareRecording(object, relationship, partner._key)
    if !relationship.isToMany, try partnerKey(of: object, relationship) == partner._key { return }
    // Both may read the store, and nothing has changed yet.
    let former = try replacedPartners(of: object, relationship, unless: partner._key)
    let others = try inverse.map { try replacedPartners(of: partner, $0, unless: object._key) } ?? []
    switch relationship.home {
    case .column:
      if inverse?.isColumn == true {
        for key in former { try disconnect(object, relationship, key) }
      }
      if let inverse { for key in others { try disconnect(partner, inverse, key) } }
      setReference(of: object, relationship, to: partner._key)
      if let inverse, inverse.isColumn, partner !== object { setReference(of: partner, inverse, to: object._key) }
    case .inverseColumn:
      guard let inverse else { return }
      for key in former { try disconnect(object, relationship, key) }
      if knownReference(of: partner, inverse) == object._key {
        if relationship.isOrdered {
          move(partner._key, in: object, relationship, to: place)
        } else {
          showOwnMember(partner._key, of: object, relationship)
        }
      } else {
        setReference(of: partner, inverse, to: object._key, at: place)
      }
    case .joinTable, .transient:
      for key in former { try disconnect(object, relationship, key) }
      if let inverse { for key in others { try disconnect(partner, inverse, key) } }
      guard relationship.isToMany else { return link(object, relationship, partner._key) }
      var isMember = isKnownMember(partner._key, of: object, relationship)
      if isMember != true, let inverse, inverse.isToMany {
        isMember = isKnownMember(object._key, of: partner, inverse) ?? isMember
      }
      if isMember == true {
        // A pair that exists already is moved at one end only.
        if relationship.isOrdered { move(partner._key, in: object, relationship, to: place) }
      } else if relationship.isJoined {
        setPair(object, relationship, partner._key, isLinked: true, at: place, wasLinked: isMember)
      } else {
        link(object, relationship, partner._key, at: place)
      }
    }
  }

  /// Shows a member whose row refers to its owner. A complete list may not show it if the owner was inserted again after
  /// its delete left the reference in place.
  private func showOwnMember(_ key: Int64, of owner: ManagedObject, _ relationship: Relationship) {
    let isComplete = owner.list(of: relationship.property)?.isLoaded ?? (owner.phase == .inserted)
    guard isComplete, !list(of: owner, relationship).contains(key) else { return }
    owner.announce(relationship.property)
    list(of: owner, relationship).insert(key)
    noteListChanged(owner)
  }

  /// The partners of a to-one that another one replaces: the one that is shown, and another one whose row refers to the
  /// object as well. That is one to which another context has given the object, or one that is deleted here.
  func replacedPartners(
    of object: ManagedObject, _ relationship: Relationship, unless key: Int64 = 0
  ) throws -> [Int64] {
    if relationship.isToMany { return [] }
    let shown = try partnerKey(of: object, relationship)
    var former = shown > 0 ? [shown] : []
    if relationship.home == .inverseColumn {
      if let known = object.knownPartner(of: relationship.property), known.given > 0, known.stored < 0 {
        former.append(try otherPartner(of: object, relationship, than: known.given))
      }
      former += holders(of: object, relationship).map(\._key)
    }
    if former.isEmpty { return [] }
    var seen: Set<Int64> = [0, key]
    return former.filter { seen.insert($0).inserted }
  }

  /// Unlinks an object and the partner with a key from each other.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`, but not after ``prepare(toDisconnect:_:_:)``.
  func disconnect(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) throws {
    try prepareRecording(object, relationship, partner)
    guard let inverse = runtime.inverse(of: relationship) else { return unlink(object, relationship, partner) }
    // A row that holds the reference is loaded to be changed, and an owner whose members are counted at save to be
    // counted.
    if map[partner] == nil, inverse.isColumn || inverse.isCounted {
      _ = try storedObject(partner, entity: relationship.destination)
    }
    unlink(object, relationship, partner)
    if inverse.isColumn, relationship.isColumn, let partner = map[partner], partner !== object {
      unlink(partner, inverse, object._key)
    }
  }

  // MARK: One fact

  /// Links an object and the partner with a key, which is in memory if its row holds the reference. Of a one-to-one that
  /// is its own inverse this sets the reference of the object.
  func link(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64, at place: Int? = nil) {
    switch relationship.home {
    case .column: setReference(of: object, relationship, to: key)
    case .inverseColumn:
      guard let inverse = runtime.inverse(of: relationship), let holder = map[key] else { return }
      setReference(of: holder, inverse, to: object._key, at: place)
    case .joinTable:
      setPair(
        object, relationship, key, isLinked: true, at: place, wasLinked: isKnownMember(key, of: object, relationship))
    case .transient: setTransientLink(object, relationship, key, isLinked: true, at: place)
    }
  }

  /// Unlinks an object and a partner, as far as they are in memory. Of a one-to-one that is its own inverse this clears
  /// the reference of the object.
  func unlink(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    switch relationship.home {
    case .column:
      if knownReference(of: object, relationship) == key { setReference(of: object, relationship, to: 0) }
    case .inverseColumn:
      guard let inverse = runtime.inverse(of: relationship), let holder = map[key],
        knownReference(of: holder, inverse) == object._key
      else { return }
      setReference(of: holder, inverse, to: 0)
    case .joinTable: setPair(object, relationship, key, isLinked: false, wasLinked: true)
    case .transient: setTransientLink(object, relationship, key, isLinked: false, at: nil)
    }
  }

  private func setTransientLink(
    _ object: ManagedObject, _ relationship: Relationship, _ key: Int64, isLinked: Bool, at place: Int?
  ) {
    guard let inverse = runtime.inverse(of: relationship), !(relationship.isToMany && inverse.isToMany) else {
      if relationship.isToMany {
        return setPair(object, relationship, key, isLinked: isLinked, at: place, wasLinked: !isLinked)
      }
      return setTransient(object, relationship, to: isLinked ? key : 0)
    }
    if relationship.isToMany {
      setTransientMember(object, relationship, key, isLinked: isLinked, at: place)
    } else {
      setTransient(object, relationship, to: isLinked ? key : 0)
    }
    guard let partner = map[key], partner !== object || !inverse.isSame(as: relationship) else { return }
    if inverse.isToMany {
      setTransientMember(partner, inverse, object._key, isLinked: isLinked, at: nil)
    } else {
      setTransient(partner, inverse, to: isLinked ? object._key : 0)
    }
  }

  /// Changes the list of a to-many whose other end is a to-one, both in memory only.
  private func setTransientMember(
    _ owner: ManagedObject, _ relationship: Relationship, _ key: Int64, isLinked: Bool, at place: Int?
  ) {
    owner.announce(relationship.property)
    let list = list(of: owner, relationship)
    recordPair(owner, relationship, key, wasLinked: list.contains(key))
    recordAnchor(of: key, in: list, of: owner, relationship)
    if isLinked { list.insert(key, at: place) } else { list.remove(key, isStored: false) }
    noteListChanged(owner)
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
    return holder(of: object, relationship)
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

  /// The list of a to-many, created if it is nil. The list of a new object is complete from the start.
  func list(of object: ManagedObject, _ relationship: Relationship) -> MemberList {
    if let list = object.list(of: relationship.property) {
      if relationship.inverse == nil { hideDead(in: list, of: object) }
      return list
    }
    let adopted = adoptDeferredList(object._key, relationship)
    let list =
      adopted
      ?? MemberList(
        relationship, isLoaded: object.phase == .inserted || relationship.isTransient)
    list.seenDead = pending.deadTargets.changes
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
    if relationship.isJoined && relationship.isOrdered, let inverse, inverse.isToMany,
      isKnownMember(object._key, of: partner, inverse) == true
    {
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

  /// Loads both ends of a link before a change: ordered lists, because their order can only be restored if it is known,
  /// and lists in a join table, because only the store knows whether the two objects are linked already.
  func prepareRecording(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) throws {
    guard recorder != nil else { return }
    if relationship.isOrdered || relationship.isJoined { try loadedList(of: object, relationship) }
    guard let inverse = runtime.inverse(of: relationship), inverse.isOrdered || inverse.isJoined else { return }
    if let partner = try loading(relationship, { try self.object(partner, entity: relationship.destination) }) {
      try loadedList(of: partner, inverse)
    }
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
