/// The members of one to-many of one object, by key: loaded from the store, or only what was changed since.
///
/// For a relationship whose reference lies in the members' rows the rows are the truth and this is a view of them; for one
/// in a join table this is the truth until it is saved.
final class MemberList {
  /// Whether ``keys`` are all members. If not, they are those that were added, and ``removed`` those that went.
  private(set) var isLoaded: Bool
  private(set) var keys: ContiguousArray<Int64> = []
  private(set) var removed: Set<Int64> = []
  /// The members as they are in the store, kept from the first change of a loaded list until it is saved.
  private(set) var committed: ContiguousArray<Int64>?
  /// The keys again, once there are too many to look through.
  private var lookup: Set<Int64>?

  private static let smallCount = 32

  init(isLoaded: Bool) { self.isLoaded = isLoaded }

  var hasChanges: Bool {
    if !isLoaded { return !keys.isEmpty || !removed.isEmpty }
    guard let committed else { return false }
    return committed != keys
  }

  /// Whether the key is among ``keys``.
  func contains(_ key: Int64) -> Bool {
    if keys.count <= Self.smallCount { return keys.contains(key) }
    if let lookup { return lookup.contains(key) }
    let made = Set(keys)
    lookup = made
    return made.contains(key)
  }

  /// Where a key stands among ``keys``. The end is looked at first, where most changes are.
  func place(of key: Int64) -> Int? {
    if keys.last == key { return keys.count - 1 }
    return contains(key) ? keys.firstIndex(of: key) : nil
  }

  // MARK: Changing

  /// Adds a member at a place, or at the end. One that is there already moves.
  func insert(_ key: Int64, at place: Int? = nil) {
    noteChange()
    if contains(key) { drop(key) }
    if let place, place < keys.count { keys.insert(key, at: max(0, place)) } else { keys.append(key) }
    lookup?.insert(key)
    if !isLoaded { removed.remove(key) }
  }

  /// Takes a member out.
  func remove(_ key: Int64) {
    noteChange()
    if contains(key) { drop(key) }
    if !isLoaded { removed.insert(key) }
  }

  /// Takes out members that are gone from the store; that is no change to be saved.
  func forget(_ gone: Set<Int64>) {
    keys.removeAll(where: gone.contains)
    committed?.removeAll(where: gone.contains)
    removed.subtract(gone)
    lookup = nil
  }

  /// Puts the members into another order.
  func reorder(_ order: ContiguousArray<Int64>) {
    noteChange()
    keys = order
  }

  /// Puts what a list that is not loaded has noted about a key to what it had noted before.
  func restoreNote(of key: Int64, wasAdded: Bool, wasRemoved: Bool) {
    if !wasAdded { drop(key) } else if !contains(key) { keys.append(key) }
    if wasRemoved { removed.insert(key) } else { removed.remove(key) }
    lookup = nil
  }

  private func drop(_ key: Int64) {
    if keys.last == key { keys.removeLast() } else if let place = keys.firstIndex(of: key) { keys.remove(at: place) }
    lookup?.remove(key)
  }

  private func noteChange() {
    if isLoaded && committed == nil { committed = keys }
  }

  // MARK: Loading and saving

  /// Takes over what the store holds; changes made meanwhile stay.
  func load(_ stored: ContiguousArray<Int64>) {
    guard !isLoaded else { return }
    let added = keys
    let isChanged = !added.isEmpty || !removed.isEmpty
    keys = stored
    lookup = nil
    isLoaded = true
    guard isChanged else { return }
    committed = stored
    keys.removeAll(where: removed.contains)
    for key in added where !contains(key) {
      keys.append(key)
      lookup?.insert(key)
    }
    removed = []
  }

  /// What is in the list is in the store now.
  func didSave() {
    committed = nil
    if !isLoaded {
      keys = []
      removed = []
      lookup = nil
    }
  }

  /// Members that came and went since the last save.
  var difference: (added: [Int64], removed: [Int64]) {
    guard isLoaded else { return (Array(keys), Array(removed)) }
    guard let committed, committed != keys else { return ([], []) }
    let before = Set(committed)
    let after = Set(keys)
    return (keys.filter { !before.contains($0) }, committed.filter { !after.contains($0) })
  }
}
