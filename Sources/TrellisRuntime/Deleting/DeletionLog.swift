/// Deleted objects that one-way to-manys may still contain, in the order of their deletion.
///
/// The holders of a one-way reference to an object are not known. Each list therefore scans this log when it is next
/// used, from the position where it stopped last time.
struct DeletionLog {
  private(set) var keys: ContiguousArray<Int64> = []
  /// The number of keys whose delete is saved.
  private(set) var savedCount = 0
  /// The last position of each key, once any delete was reverted.
  private var places: [Int64: Int]?

  var count: Int { keys.count }

  mutating func add(_ key: Int64) {
    places?[key] = keys.count
    keys.append(key)
  }

  mutating func didSave() { savedCount = keys.count }

  /// Removes the keys whose delete is not saved. Their positions stay, since lists count them.
  mutating func rollBack() {
    for index in savedCount..<keys.count { keys[index] = 0 }
    savedCount = keys.count
  }

  /// Removes the keys of objects whose deletes were reverted, even if saved.
  ///
  /// - Complexity: linear in the number of these keys; in the number of all keys the first time.
  mutating func remove(_ back: Set<Int64>) {
    if keys.isEmpty { return }
    var known = places ?? [:]
    if places == nil { for (place, key) in keys.enumerated() { known[key] = place } }
    places = known
    for key in back { if let place = known[key] { keys[place] = 0 } }
  }
}

extension ManagedObjectContext {
  func logDeletion(_ victim: ManagedObject) {
    if info(of: victim).oneWayReferences.contains(where: { $0.relationship.isJoined }) {
      pending.deletionLog.add(victim._key)
    }
  }

  /// Removes the members of a one-way to-many that were deleted since it was last used. A deleted owner keeps them
  /// until its own delete is reverted.
  func dropDeleted(from list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo) {
    guard list.seenGone < pending.deletionLog.count, owner.isAlive else { return }
    let unseen = list.seenGone..<pending.deletionLog.count
    let order = list.keys
    list.seenGone = pending.deletionLog.count
    for index in unseen where list.contains(pending.deletionLog.keys[index]) {
      if index < pending.deletionLog.savedCount {
        list.forget([pending.deletionLog.keys[index]])
      } else {
        let key = pending.deletionLog.keys[index]
        pending.deletions.noteLate(owner, relationship, key, in: order)
        list.remove(key)
        noteListChanged(owner)
      }
    }
  }

  /// Removes deleted objects from every one-way to-many that is about to be saved.
  func dropGoneFromChangedLists() {
    guard pending.deletionLog.savedCount < pending.deletionLog.count else { return }
    for object in inserted + changed where object.isAlive {
      for case let (property, list) in object.extras?.lists ?? [] {
        guard let relationship = relationship(property, of: object), relationship.inverse == nil else { continue }
        dropDeleted(from: list, of: object, relationship)
      }
    }
  }
}
