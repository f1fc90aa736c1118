import TrellisModel
import TrellisStorage

/// The objects that one call of delete has deleted, and the links that it has removed, so that it can be reverted as a
/// whole.
struct DeletedClosure {
  struct Victim {
    let object: ManagedObject
    let wasInserted: Bool
  }

  /// One end of a relationship that was unlinked from a victim.
  struct Link {
    let owner: ManagedObject
    let relationship: Relationship
    let victim: Int64
    /// What a to-many held of the victim before.
    let trace: MemberTrace?
    /// The list of a to-many that was found only later to contain the victim. Once the list is dropped, the store tells
    /// whether the victim is a member.
    var list: MemberList?

    /// Whether the owner still has the list that this was noted of.
    var isCurrent: Bool { list == nil || owner.list(of: relationship.property) === list }
  }

  private(set) var victims: [Victim] = []
  private(set) var keys = KeySet()
  private(set) var links: [Link] = []
  /// The cascades that the store carries out with this delete.
  var cascades: [PendingCascade] = []

  init() {}

  init(_ objects: [ManagedObject]) { add(objects) }

  /// Adds objects that are about to be deleted.
  mutating func add(_ objects: [ManagedObject]) {
    keys.reserve(objects.count)
    victims.reserveCapacity(victims.count + objects.count)
    for object in objects {
      _ = keys.insert(object._key)
      victims.append(Victim(object: object, wasInserted: object.phase == .inserted))
    }
  }

  /// Notes that a partner is about to be unlinked from a victim.
  mutating func note(_ link: Link) { links.append(link) }

  /// Removes victims that are restored.
  ///
  /// - Returns: the links that were removed from them.
  fileprivate mutating func removeVictims(_ restored: Set<Int64>) -> [Link] {
    let theirs = links.filter { restored.contains($0.victim) }
    victims.removeAll { restored.contains($0.object._key) }
    keys.subtract(restored)
    links.removeAll { restored.contains($0.victim) }
    return theirs
  }

  mutating func removeLinks(where isRemoved: (Link) -> Bool) { links.removeAll(where: isRemoved) }
}

/// The unsaved deletes of a context.
struct PendingDeletes {
  var closures: [DeletedClosure] = []
  /// Whether any delete leaves a cascade to the store.
  private(set) var hasCascades = false
  /// Loads and deletes the members of the cascades that may delete rows of an entity; of all cascades if it is nil.
  typealias CascadeLoad = (_ graph: ObjectGraph, _ entity: Int?) throws -> Void
  private var load: CascadeLoad?

  var isEmpty: Bool { closures.isEmpty && !hasCascades && load == nil }

  /// Updates ``hasCascades``, after closures or their cascades have changed.
  mutating func noteCascades() { hasCascades = closures.contains { !$0.cascades.isEmpty } }

  /// - Parameter load: Loads the cascades that the closure leaves to the store, when an object or a row of them is
  ///   needed.
  mutating func add(_ closure: DeletedClosure, load: @escaping CascadeLoad) {
    closures.append(closure)
    self.load = load
    if !closure.cascades.isEmpty { hasCascades = true }
  }

  /// Loads the cascades that may delete rows of an entity; all of them if it is nil.
  func loadCascades(of graph: ObjectGraph, reading entity: Int?) throws {
    if hasCascades { try load?(graph, entity) }
  }

  /// The to-manys that were found only later to contain a victim, by the key of the victim.
  private var late: [Int64: [DeletedClosure.Link]] = [:]

  /// Notes a list that was not known at the delete and that would show the victim if it were not deleted.
  ///
  /// - Parameter order: The members including the deleted ones, for the position to which the victim returns.
  mutating func noteLate(
    _ owner: ManagedObject, _ relationship: Relationship, _ victim: Int64,
    in order: ContiguousArray<Int64>
  ) {
    late[victim, default: []].append(
      DeletedClosure.Link(
        owner: owner, relationship: relationship, victim: victim, trace: MemberTrace(ofDeleted: victim, in: order),
        list: owner.list(of: relationship.property)))
  }

  /// Drops the links of a to-many to victims, since its members are read from the store again.
  ///
  /// - Parameter victims: Members in the store that the list notes as removed.
  /// - Returns: the victims that were removed by a delete.
  mutating func dropLinks(
    of owner: ManagedObject, _ relationship: Relationship, to victims: Set<Int64>
  ) -> Set<Int64> {
    var dropped: Set<Int64> = []
    func isDropped(_ link: DeletedClosure.Link) -> Bool {
      guard link.owner === owner, victims.contains(link.victim), link.relationship.isSame(as: relationship),
        let trace = link.trace, trace.wasLoaded || trace.place == nil
      else { return false }
      dropped.insert(link.victim)
      return true
    }
    for index in closures.indices where !closures[index].keys.isDisjoint(with: victims) {
      closures[index].removeLinks(where: isDropped)
    }
    for victim in victims { late[victim]?.removeAll(where: isDropped) }
    return dropped
  }

  /// Removes victims that an undo has restored.
  ///
  /// - Returns: the links that their deletes have removed.
  mutating func removeVictims(_ restored: Set<Int64>) -> [DeletedClosure.Link] {
    var links: [DeletedClosure.Link] = []
    for index in closures.indices where !closures[index].keys.isDisjoint(with: restored) {
      links += closures[index].removeVictims(restored)
    }
    closures.removeAll { $0.victims.isEmpty && $0.cascades.isEmpty }
    return links.filter(\.isCurrent)
  }

  /// The links to victims that were noted late.
  func lateLinks(to victims: KeySet) -> [DeletedClosure.Link] {
    late.isEmpty ? [] : victims.flatMap { late[$0] ?? [] }.filter(\.isCurrent)
  }

  /// Removes the links that were noted late, because the victim's delete is being reverted.
  ///
  /// - Returns: these links.
  mutating func takeLate(_ victim: Int64) -> [DeletedClosure.Link] {
    late.isEmpty ? [] : (late.removeValue(forKey: victim) ?? []).filter(\.isCurrent)
  }
}

extension ObjectGraph {
  /// The link of one end in its present state.
  func link(_ owner: ManagedObject, _ relationship: Relationship, _ victim: Int64) -> DeletedClosure.Link {
    let trace =
      relationship.isToMany ? list(of: owner, relationship).trace(of: victim, isComing: false, at: moment) : nil
    return DeletedClosure.Link(owner: owner, relationship: relationship, victim: victim, trace: trace)
  }
}

// MARK: - Deletion log

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

extension ObjectGraph {
  func logDeletion(_ victim: ManagedObject) {
    if info(of: victim).oneWayReferences.contains(where: { $0.relationship.isJoined }) {
      pending.deletionLog.add(victim._key)
    }
  }

  /// Removes the members of a one-way to-many that were deleted since it was last used. A deleted owner keeps them
  /// until its own delete is reverted.
  func dropDeleted(from list: MemberList, of owner: ManagedObject, _ relationship: Relationship) {
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
      for list in object.lists {
        guard let relationship = relationship(list.property, of: object), relationship.inverse == nil else { continue }
        dropDeleted(from: list, of: object, relationship)
      }
    }
  }
}

// MARK: - Pending cascade

/// A cascade that the store carries out: the members of deleted owners that are not loaded.
struct PendingCascade {
  let relationship: Relationship
  let rule: StoreCascade
  let owners: [ManagedObject]
}
