/// A to-one whose partner's row was set here, and that has another partner in the store since.
struct ContestedPartner: Hashable {
  let owner: Int64
  let property: Int
}

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
  /// Objects that others have deleted and that objects here still refer to. If they come back, these are members again.
  var returning: Set<Int64> = []
  /// To-ones whose partner here is not the one in the store.
  var contestedPartners: Set<ContestedPartner> = []
  /// Objects that are deleted here and whose views others have made stale.
  var staleDeleted: Set<Int64> = []
  /// Objects whose own half of a couple others have overwritten, and the partners whose halves were set here.
  var contestedHalves: [ContestedPartner: Int64] = [:]
  /// Deleted objects that a to-many holds and does not show, since they were added to it here and deleted by others.
  var lostMembers: Set<Int64> = []

  /// Whether no object waits.
  var isEmpty: Bool { unread.isEmpty && conflicts.isEmpty && gone.isEmpty }

  func contains(_ key: Int64) -> Bool {
    !isEmpty && (unread.contains(key) || conflicts[key] != nil || gone.contains(key))
  }

  /// All objects, in the order of their keys.
  var keys: [Int64] { unread.union(conflicts.keys).union(gone).sorted() }

  /// Nothing of the context is unsaved any more, so the store tells of all links.
  mutating func forgetLinks() {
    returning = []
    contestedPartners = []
    contestedHalves = [:]
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

  mutating func logDeletion(_ key: Int64) {
    remove(key)
    gone.insert(key)
  }

  mutating func remove(_ key: Int64) {
    unread.remove(key)
    conflicts[key] = nil
    gone.remove(key)
  }
}
