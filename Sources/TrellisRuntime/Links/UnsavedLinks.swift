import TrellisModel

/// The other ends of the references that this context has changed.
///
/// A changed row decides which objects its references lead to, and which ones they have left. What these objects note of it
/// is derived here as a whole after rows were merged, so no order of merges, rollbacks and loads leaves a note behind that
/// no row supports.
struct UnsavedReferences {
  private struct End: Hashable {
    let key: Int64
    let property: Int
  }

  /// The objects whose changed rows refer to an end, in the order of their changes.
  private var holders: [End: [ManagedObject]] = [:]
  /// The objects whose rows referred to an end when they were read.
  private var former: [End: [Int64]] = [:]
  private let graph: ObjectGraph

  /// - Complexity: linear in the number of changed objects.
  init(_ graph: ObjectGraph) {
    self.graph = graph
    for object in graph.pending.objects where object.phase != .detached && !object.accessFlags.contains(.fault) {
      for reference in graph.info(of: object).allRelationships where reference.isColumn {
        guard let inverse = graph.runtime.inverse(of: reference), inverse.home == .inverseColumn,
          graph.isUnsaved(object, reference)
        else { continue }
        let key = object._reference(reference.property)
        if key > 0 { holders[End(key: key, property: inverse.property), default: []].append(object) }
        let read = object.phase == .inserted ? 0 : object.committedRow?.value(reference.property).key ?? 0
        if read > 0, read != key { former[End(key: read, property: inverse.property), default: []].append(object._key) }
      }
    }
  }

  /// Makes the other ends follow the rows.
  func follow() {
    var owners = graph.pending.objects
    for key in Set(holders.keys.map(\.key) + former.keys.map(\.key)).sorted() {
      if let owner = graph.map[key], !owner.isInChangedList { owners.append(owner) }
    }
    for owner in owners where owner.isAlive {
      for relationship in graph.info(of: owner).allRelationships where relationship.home == .inverseColumn {
        guard let reference = graph.runtime.inverse(of: relationship) else { continue }
        let end = End(key: owner._key, property: relationship.property)
        let (coming, gone) = (holders[end] ?? [], former[end] ?? [])
        if !relationship.isToMany {
          follow(coming, owner, relationship, reference)
        } else if owner.list(of: relationship.property) != nil || !coming.isEmpty || !gone.isEmpty {
          follow(coming, gone, owner, relationship, reference)
        }
      }
    }
  }

  // MARK: To-ones

  private func follow(
    _ coming: [ManagedObject], _ owner: ManagedObject, _ relationship: Relationship, _ reference: Relationship
  ) {
    let known = owner.knownPartner(of: relationship.property)
    let given = known?.given ?? 0
    // A holder that is deleted here is not shown, and loses the owner to the next one.
    let candidates = coming.contains(where: \.isAlive) ? coming.filter(\.isAlive) : coming
    if candidates.contains(where: { $0._key == given }) { return }
    let next = candidates.first?._key ?? 0
    // No read of the store shows what others have left to an object that is new again.
    if next == given || next == 0 && owner.phase == .inserted && refers(given, reference, owner) == true { return }
    owner.announce(relationship.property)
    owner.changePartner(of: relationship.property) { $0.given = next }
    graph.noteListChanged(owner)
  }

  // MARK: To-manys

  private func follow(
    _ coming: [ManagedObject], _ gone: [Int64], _ owner: ManagedObject, _ relationship: Relationship,
    _ reference: Relationship
  ) {
    let list = graph.list(of: owner, relationship)
    var isChanged = false
    func change(_ body: () -> Void) {
      if !isChanged { owner.announce(relationship.property) }
      isChanged = true
      body()
    }
    let (added, removed) = list.difference
    let comes = Set(coming.lazy.map(\._key))
    for key in added where !comes.contains(key) {
      let refers = refers(key, reference, owner)
      // No read of the store shows what others have left to an object that is new again.
      if owner.phase == .inserted && refers != false { continue }
      change { if refers == true { list.settle(key, isStored: true) } else { list.remove(key, isStored: false) } }
    }
    let lost = Set(gone)
    for key in removed where !lost.contains(key) && !list.hiddenKeys.contains(key) {
      switch refers(key, reference, owner) {
      case true? where list.isLoaded: change { list.include(key, isStored: true) }
      case false? where list.isLoaded: continue
      default: change { list.forgetRemoval(key) }
      }
    }
    for holder in coming {
      let key = holder._key
      if !list.holds(key) || holder.isAlive && !list.contains(key) { change { list.include(key, isStored: false) } }
      if !holder.isAlive && !list.hiddenKeys.contains(key) { change { list.hide(key) } }
    }
    for key in gone where list.isLoaded ? list.holds(key) : !list.hasLost(key) {
      change { list.remove(key, isStored: true) }
    }
    if isChanged { graph.noteListChanged(owner) }
  }

  /// Whether the row of an object refers to an owner; nil if it is not in memory.
  private func refers(_ key: Int64, _ reference: Relationship, _ owner: ManagedObject) -> Bool? {
    guard let member = graph.map[key], !member.accessFlags.contains(.fault) else { return nil }
    return member._reference(reference.property) == owner._key
  }
}

extension ObjectGraph {
  /// Whether a reference in an object's row was set in this context and is not saved.
  func isUnsaved(_ object: ManagedObject, _ reference: Relationship) -> Bool {
    object.hasOwnReference(reference) || backlog.conflicts[object._key]?.contains(reference.property) == true
  }

  /// Makes both ends of all unsaved links agree, after rows or lists were read again, or changes were taken back.
  ///
  /// - Complexity: linear in the number of changed objects.
  func followUnsavedLinks() {
    withoutRecording {
      UnsavedReferences(self).follow()
      followUnsavedPairs()
    }
  }

  /// Makes both ends of unsaved pairs note them. An end that was read while the store had the pair already has no note
  /// of it, and the store may have lost the pair since.
  private func followUnsavedPairs() {
    for owner in pending.objects where owner.isAlive && owner.hasLists {
      for list in owner.lists {
        guard let relationship = relationship(list.property, of: owner), relationship.isJoined,
          let inverse = runtime.inverse(of: relationship)
        else { continue }
        let (added, removed) = list.difference
        for key in added { followPair(owner, key, relationship, inverse, isLinked: true) }
        for key in removed where !list.hiddenKeys.contains(key) {
          followPair(owner, key, relationship, inverse, isLinked: false)
        }
      }
    }
  }

  private func followPair(
    _ owner: ManagedObject, _ key: Int64, _ relationship: Relationship, _ inverse: Relationship, isLinked: Bool
  ) {
    // A pair of an object with itself has one end.
    guard let member = map[key], member.isAlive, !(member === owner && inverse.isSame(as: relationship)) else { return }
    let far = list(of: member, inverse)
    if far.contains(owner._key) == isLinked && (isLinked || far.isLoaded) { return }
    // Ends that contradict each other are left to a load of one of them, which settles the other.
    if far.hasLost(owner._key) || !isLinked && far.contains(owner._key) && far.hasRead(owner._key) != true { return }
    member.announce(inverse.property)
    if isLinked { far.include(owner._key) } else { far.remove(owner._key, isStored: true) }
    noteListChanged(member)
  }
}
