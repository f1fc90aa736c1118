/// What others saved and a context has not taken over, since it has changed the same objects.
///
/// An object in it is taken over as soon as nothing of it is changed here: its edits are saved, rolled back, undone, or set back.
struct MergeBacklog {
  /// Objects whose rows have others' values, still to be read.
  private(set) var unread: Set<Int64> = []
  /// The properties of objects that were changed here and by others; a save settles that.
  private(set) var conflicts: [Int64: Set<Int>] = [:]
  /// Objects that others have deleted.
  private(set) var gone: Set<Int64> = []

  var isEmpty: Bool { unread.isEmpty && conflicts.isEmpty && gone.isEmpty }

  /// All objects, in the order of their keys.
  var keys: [Int64] { unread.union(conflicts.keys).union(gone).sorted() }

  mutating func noteNewRow(_ key: Int64) {
    if !gone.contains(key) { unread.insert(key) }
  }

  mutating func noteConflict(_ key: Int64, _ properties: Set<Int>) {
    unread.remove(key)
    conflicts[key] = properties
  }

  mutating func noteGone(_ key: Int64) {
    remove(key)
    gone.insert(key)
  }

  mutating func remove(_ key: Int64) {
    unread.remove(key)
    conflicts[key] = nil
    gone.remove(key)
  }
}
