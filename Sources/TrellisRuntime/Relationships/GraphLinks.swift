import TrellisStorage

/// Keeps both ends of relationships in step, for every shape by the same four steps: who holds the old partner lets go on
/// both sides, then both sides take the new one.
///
/// Nothing here loads a to-many; an end whose members are not loaded notes what came and went.
extension ManagedObjectContext {
  // MARK: Whole links

  /// Makes two objects partners. Partners that a to-one end had before let go.
  ///
  /// - Parameter place: where the partner goes among the members of an ordered to-many; nil for the end.
  func connect(
    _ object: ManagedObject, _ relationship: RelationshipInfo, _ partner: ManagedObject, at place: Int? = nil
  ) {
    let inverse = runtime.inverse(of: relationship)
    // Without an order there is nothing to do for a member that is one already.
    if relationship.isToMany, !relationship.isOrdered, relationship.home == .inverseColumn, let inverse,
      knownReference(of: partner, inverse) == object._key, showsOwnMember(partner._key, of: object, relationship)
    {
      return
    }
    prepareRecording(object, relationship, partner._key)
    if !relationship.isToMany {
      let old = partnerKey(of: object, relationship)
      if old == partner._key { return }
      if old != 0 { disconnect(object, relationship, old) }
    }
    if let inverse, !inverse.isToMany {
      let old = partnerKey(of: partner, inverse)
      if old != 0 && old != object._key { disconnect(partner, inverse, old) }
    }
    // A pair that is there already moves at one end only.
    let isMove =
      relationship.isJoined
      && (isKnownMember(partner._key, of: object, relationship)
        || inverse.map { isKnownMember(object._key, of: partner, $0) } == true)
    if isMove && !relationship.isOrdered { return }
    take(object, relationship, partner._key, at: place)
    if isMove { return }
    if let inverse, object !== partner || !inverse.isSame(as: relationship) { follow(partner, inverse, object._key) }
  }

  /// Whether a to-many shows a member whose row refers to its owner. A list that is complete may not, where the owner is made anew
  /// after the reference was left to it.
  private func showsOwnMember(_ key: Int64, of object: ManagedObject, _ relationship: RelationshipInfo) -> Bool {
    guard let list = object.extras?.list(relationship.property) else { return object.phase != .inserted }
    return !list.isLoaded || list.contains(key)
  }

  /// Whether a list that is loaded has a member.
  func isKnownMember(_ key: Int64, of object: ManagedObject, _ relationship: RelationshipInfo) -> Bool {
    guard let list = object.extras?.list(relationship.property), list.isLoaded else { return false }
    return list.contains(key)
  }

  /// Makes an object and the partner of a key let go of each other.
  func disconnect(_ object: ManagedObject, _ relationship: RelationshipInfo, _ partner: Int64) {
    prepareRecording(object, relationship, partner)
    unlink(object, relationship, partner)
    guard let inverse = runtime.inverse(of: relationship) else { return }
    unlink(ofOtherEnd: partner, inverse, object._key, entity: relationship.destination)
  }

  // MARK: One end

  func take(_ object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64, at place: Int? = nil) {
    if relationship.isToMany {
      object.announce(relationship.property)
      let list = list(of: object, relationship)
      recorder?.recordMember(
        key, isComing: true, list: list, owner: object, object._key, relationship, saves: saveCount)
      list.insert(key, at: place)
      noteListChanged(object)
    } else {
      setReference(of: object, relationship, key)
    }
  }

  /// The other end takes a partner, too. Who is a member of a many-to-many already stays where it is, since each end has an
  /// order of its own.
  private func follow(_ object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64) {
    guard relationship.isToMany && (relationship.isJoined || relationship.isTransient) else {
      return take(object, relationship, key)
    }
    let list = list(of: object, relationship)
    object.announce(relationship.property)
    if !list.contains(key) {
      recorder?.recordMember(
        key, isComing: true, list: list, owner: object, object._key, relationship, saves: saveCount)
    }
    list.include(key)
    noteListChanged(object)
  }

  func unlink(_ object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64) {
    if relationship.isToMany {
      object.announce(relationship.property)
      let list = list(of: object, relationship)
      recorder?.recordMember(
        key, isComing: false, list: list, owner: object, object._key, relationship, saves: saveCount)
      list.remove(key)
      noteListChanged(object)
    } else if knownReference(of: object, relationship) == key {
      setReference(of: object, relationship, 0)
    }
  }

  /// The other end lets go, which may not be in memory: then a row that holds a reference is loaded to be changed, an owner
  /// whose members are counted at save is loaded to be counted, and a list of members notes who went.
  private func unlink(ofOtherEnd key: Int64, _ relationship: RelationshipInfo, _ gone: Int64, entity: Int) {
    if let partner = map[key] {
      unlink(partner, relationship, gone)
    } else if relationship.isColumn || relationship.isCounted {
      if let partner = loadObject(key, entity: entity) { unlink(partner, relationship, gone) }
    } else if relationship.isJoined {
      let list = waitingList(of: key, relationship)
      recorder?.recordMember(gone, isComing: false, list: list, owner: nil, key, relationship, saves: saveCount)
      list.remove(gone)
    }
  }

  private func setReference(of object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64) {
    if relationship.isColumn {
      // A deleted object, too, loses a partner that goes elsewhere: only so it stands in nobody's way any more.
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
      let extras = object.needExtras()
      if key == 0 && isContested(object, relationship) {
        extras.partners.removeAll { $0.property == relationship.property }
      } else {
        extras.setPartner(relationship.property, key)
      }
      noteListChanged(object)
    }
  }

  // MARK: Who is there

  /// The key of a to-one's partner, loaded if need be; 0 for nil.
  func partnerKey(of object: ManagedObject, _ relationship: RelationshipInfo) -> Int64 {
    let known = knownReference(of: object, relationship)
    return known >= 0 ? known : loadPartnerKeys(like: object, relationship)
  }

  /// The key of a to-one's partner as far as it is in memory; -1 where the store has to be asked.
  func knownReference(of object: ManagedObject, _ relationship: RelationshipInfo) -> Int64 {
    if relationship.isColumn {
      object._willRead(relationship.property)
      return object._reference(relationship.property)
    }
    if let known = object.extras?.partner(relationship.property) { return known }
    return object.phase == .inserted || relationship.isTransient ? 0 : -1
  }

  /// The list of a to-many, made if there is none. A new object's list is complete from the start.
  func list(of object: ManagedObject, _ relationship: RelationshipInfo) -> MemberList {
    let extras = object.needExtras()
    if let list = extras.list(relationship.property) {
      if relationship.inverse == nil { dropDeleted(from: list, of: object, relationship) }
      return list
    }
    let adopted = adoptWaitingList(object._key, relationship)
    let list =
      adopted
      ?? MemberList(
        isLoaded: object.phase == .inserted || relationship.isTransient, isOrdered: relationship.isOrdered)
    list.seenGone = pending.gone.count
    extras.lists.append((relationship.property, list))
    if relationship.isJoined { listed.insert(number(of: relationship)) }
    if adopted != nil { noteListChanged(object) }
    return list
  }
}

extension ObjectExtras {
  func list(_ property: Int) -> MemberList? {
    for entry in lists where entry.property == property { return entry.list }
    return nil
  }

  func partner(_ property: Int) -> Int64? {
    for entry in partners where entry.property == property { return entry.key }
    return nil
  }

  func setPartner(_ property: Int, _ key: Int64) {
    for index in partners.indices where partners[index].property == property {
      partners[index].key = key
      return
    }
    partners.append((property, key))
  }
}
