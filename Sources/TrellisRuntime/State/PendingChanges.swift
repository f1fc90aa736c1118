/// Everything that a context has changed since its last save.
///
/// The arrays hold objects in the order in which they were first changed. An object is in at most one role:
///
/// | array | life-cycle state of its objects | besides |
/// |---|---|---|
/// | ``inserted`` | inserted; detached once the insertion was withdrawn or deleted again | |
/// | ``changed`` | persistent; deleted once the object was deleted after its change | `isInChangedList` is true |
/// | ``deleted`` | deleted | an object that was changed before is in ``changed`` too |
///
/// Only the methods below write them.
struct PendingChanges {
  /// Objects made since the last save; some may have been deleted again.
  private(set) var inserted: ContiguousArray<ManagedObject> = []
  /// Saved objects that were written to, or whose to-manys were.
  private(set) var changed: ContiguousArray<ManagedObject> = []
  /// Saved objects that the next save deletes.
  private(set) var deleted: ContiguousArray<ManagedObject> = []
  /// What each unsaved delete did, so that it can be taken back.
  var deletions = PendingDeletes()
  /// Deleted objects that one-way to-manys may still show.
  var deadTargets = DeadTargets()
  /// Changes of to-manys whose owners are not in memory.
  var deferredLists = DeferredMemberLists()

  /// Whether nothing was changed.
  var isEmpty: Bool { inserted.isEmpty && changed.isEmpty && deleted.isEmpty && deferredLists.lists.isEmpty }

  // MARK: Adding

  mutating func addInserted(_ object: ManagedObject) { inserted.append(object) }

  mutating func addChanged(_ object: ManagedObject) { changed.append(object) }

  mutating func addDeleted(_ object: ManagedObject) { deleted.append(object) }

  /// Moves objects that are new again behind all other new ones, where they are recorded last. They may still be listed
  /// as changed from before their delete.
  mutating func moveToEnd(ofInserted objects: [ManagedObject]) {
    let moved = Set(objects.lazy.map(ObjectIdentifier.init))
    inserted.removeAll { moved.contains(ObjectIdentifier($0)) }
    inserted += objects
    changed.removeAll { moved.contains(ObjectIdentifier($0)) }
  }

  // MARK: Removing

  /// Drops the object that was noted as changed last, if it is this one.
  mutating func removeLastChanged(_ object: ManagedObject) -> Bool {
    guard changed.last === object else { return false }
    changed.removeLast()
    return true
  }

  /// Drops objects that are not new any more: they were united with others, or are in the store.
  mutating func dropFormerInserts() { inserted.removeAll { $0.phase != .inserted } }

  /// Drops objects that have no changes any more, or belong to no context.
  mutating func dropUnchanged() { changed.removeAll { !$0.isInChangedList || $0.phase == .detached } }

  /// Drops objects that are not deleted any more.
  mutating func dropRevived() { deleted.removeAll { $0.phase != .deleted } }

  // MARK: All at once

  /// Everything was written.
  mutating func didSave() {
    deadTargets.removeAll()
    // Most saves are small and write one kind of change.
    if !deferredLists.lists.isEmpty { deferredLists = DeferredMemberLists() }
    if !inserted.isEmpty { inserted.removeAll(keepingCapacity: inserted.count < 1024) }
    if !changed.isEmpty { changed.removeAll(keepingCapacity: changed.count < 1024) }
    if !deleted.isEmpty { deleted.removeAll(keepingCapacity: deleted.count < 1024) }
    if !deletions.isEmpty { deletions = PendingDeletes() }
  }

  /// Everything was given up.
  mutating func didRollBack() {
    deadTargets.removeAll()
    let deadTargets = deadTargets
    self = PendingChanges()
    self.deadTargets = deadTargets
  }
}

extension ObjectGraph {
  var inserted: ContiguousArray<ManagedObject> { pending.inserted }
  var changed: ContiguousArray<ManagedObject> { pending.changed }
  var deleted: ContiguousArray<ManagedObject> { pending.deleted }

  /// The keys of the objects that a save would write or delete.
  var keysOfChanges: Set<Int64> {
    var keys: Set<Int64> = []
    for list in [inserted, changed, deleted] { keys.formUnion(list.lazy.map(\._key)) }
    keys.formUnion(pending.deferredLists.lists.keys.lazy.map(\.owner))
    return keys
  }
}

extension PendingChanges {
  /// Every object in one of the lists.
  var objects: ContiguousArray<ManagedObject> { inserted + changed + deleted }
}
