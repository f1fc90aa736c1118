/// Deleted objects that one-way to-manys may show, in the order in which they were deleted.
///
/// Nobody knows who holds a one-way reference to an object. So each list looks through this when it is next used, from where
/// it stopped last time.
struct GoneTargets {
  private(set) var keys: ContiguousArray<Int64> = []
  /// How many of them are deleted in the store, too.
  private(set) var savedCount = 0

  var count: Int { keys.count }

  mutating func add(_ key: Int64) { keys.append(key) }

  mutating func didSave() { savedCount = keys.count }

  /// Those whose delete was not saved are back. Their places stay, since lists count them.
  mutating func rollBack() {
    for index in savedCount..<keys.count { keys[index] = 0 }
    savedCount = keys.count
  }
}

extension ManagedObjectContext {
  func noteGone(_ victim: ManagedObject) {
    if info(of: victim).oneWayReferences.contains(where: { $0.relationship.isJoined }) { gone.add(victim._key) }
  }

  /// Takes those out of a one-way to-many that were deleted since it was last used.
  func dropGone(from list: MemberList, of owner: ManagedObject) {
    guard list.seenGone < gone.count else { return }
    for index in list.seenGone..<gone.count where list.contains(gone.keys[index]) {
      if index < gone.savedCount {
        list.forget([gone.keys[index]])
      } else {
        list.remove(gone.keys[index])
        noteListChanged(owner)
      }
    }
    list.seenGone = gone.count
  }

  /// Takes deleted objects out of every one-way to-many that is to be saved.
  func dropGoneFromChangedLists() {
    guard gone.savedCount < gone.count else { return }
    for object in inserted + changed where object.phase != .detached && object.phase != .deleted {
      for case let (property, list) in object.extras?.lists ?? []
      where relationship(property, of: object)?.inverse == nil {
        dropGone(from: list, of: object)
      }
    }
  }

  /// One-way to-ones that are to be saved let go of the victims. Others keep the reference until the save clears it in the
  /// store, and read nil. A required one to a saved victim stays, and denies the delete.
  func clearOneWayReferences(to victims: [ManagedObject]) {
    guard victims.contains(where: hasOneWayColumns) else { return }
    let phases = Dictionary(victims.map { ($0._key, $0.phase) }) { first, _ in first }
    for holder in inserted + changed where holder.phase == .inserted || holder.phase == .persistent {
      for relationship in info(of: holder).allRelationships where relationship.inverse == nil && relationship.isColumn {
        let key = knownReference(of: holder, relationship)
        guard let phase = phases[key], !(relationship.isRequired && phase == .persistent) else { continue }
        letGo(holder, relationship, key)
      }
    }
  }

  /// The store has cleared one-way references to what was deleted; objects in memory follow.
  func forgetOneWayReferences(to victims: [ManagedObject]) {
    guard victims.contains(where: hasOneWayColumns) else { return }
    let keys = Set(victims.map(\._key))
    map.forEach { holder in
      guard !holder._attention.contains(.fault) else { return }
      for relationship in info(of: holder).allRelationships where relationship.inverse == nil && relationship.isColumn {
        if keys.contains(holder._reference(relationship.property)) { holder._setReference(relationship.property, 0) }
      }
    }
  }

  private func hasOneWayColumns(_ object: ManagedObject) -> Bool {
    info(of: object).oneWayReferences.contains { $0.relationship.isColumn }
  }
}
