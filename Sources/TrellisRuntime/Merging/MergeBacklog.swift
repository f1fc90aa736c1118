/// The changes of other contexts that a context has not merged yet, because it has changed the same objects.
///
/// An object is merged as soon as none of its properties is changed in this context any more: its edits are saved,
/// rolled back, undone, or set back.
struct MergeBacklog {
  /// Objects whose stored rows have changed and are not read yet.
  private(set) var unread: Set<Int64> = []
  /// The properties of objects that were changed both here and in other contexts; a save resolves these conflicts.
  private(set) var conflicts: [Int64: Set<Int>] = [:]
  /// Objects that other contexts have deleted.
  private(set) var gone: Set<Int64> = []
  /// Objects that other contexts have deleted and that objects of this context still refer to. If they are inserted
  /// again, these objects become members again.
  var returning: Set<Int64> = []
  /// Objects that are deleted in this context and whose lists and partners are stale because of other contexts'
  /// changes.
  var staleDeleted: Set<Int64> = []
  /// Deleted objects that a to-many contains but does not show: they were added in this context and deleted by another
  /// one.
  var lostMembers: Set<Int64> = []

  /// Whether no object has changes to merge.
  var isEmpty: Bool { unread.isEmpty && conflicts.isEmpty && gone.isEmpty }

  func contains(_ key: Int64) -> Bool {
    !isEmpty && (unread.contains(key) || conflicts[key] != nil || gone.contains(key))
  }

  /// The keys of all objects with changes to merge, in ascending order.
  var keys: [Int64] { unread.union(conflicts.keys).union(gone).sorted() }

  /// Forgets the state of relationships, after a save made the store's relationships equal to those of the context.
  mutating func forgetLinks() {
    returning = []
    staleDeleted = []
    lostMembers = []
  }

  mutating func noteNewRow(_ key: Int64) {
    if !gone.contains(key) { unread.insert(key) }
  }

  mutating func noteConflict(_ key: Int64, _ properties: Set<Int>) {
    unread.remove(key)
    conflicts[key] = properties
  }

  mutating func noteDeletedInStore(_ key: Int64) {
    remove(key)
    gone.insert(key)
  }

  mutating func remove(_ key: Int64) {
    unread.remove(key)
    conflicts[key] = nil
    gone.remove(key)
  }
}
