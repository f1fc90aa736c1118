/// The members of one to-many of one object, by key: loaded from the store, or only what was changed since.
///
/// For a relationship whose reference lies in the members' rows the rows are the truth and this is a view of them; for one
/// in a join table this is the truth until it is saved.
final class MemberList {
  // Only the methods below touch the fields, and none calls out while it does: nothing can overlap, so nothing is checked.

  /// Whether ``keys`` are all members. If not, they are those that were added, and ``removed`` those that went.
  @exclusivity(unchecked) private(set) var isLoaded: Bool
  @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64> = []
  @exclusivity(unchecked) private(set) var removed: Set<Int64> = []
  /// Of the members added while not loaded, those that stay where they are if the store has them already.
  @exclusivity(unchecked) private(set) var unmoved: Set<Int64> = []
  /// Of the members added while not loaded, those that only move, if the store still has them.
  @exclusivity(unchecked) private var onlyMoved: Set<Int64> = []
  /// The members as they are in the store, kept from the first change of a loaded list until it is saved.
  @exclusivity(unchecked) private(set) var committed: ContiguousArray<Int64>?
  /// The order that was changed here, of a list that was unloaded since: as it was read, and as it is wanted.
  @exclusivity(unchecked) private(set) var arrangement: (base: ContiguousArray<Int64>, wanted: ContiguousArray<Int64>)?
  /// How many of the context's ``DeletionLog`` the list has looked at.
  @exclusivity(unchecked) var seenGone = 0
  /// The keys again, once there are too many to look through.
  @exclusivity(unchecked) private var lookup: Set<Int64>?

  private static let smallCount = 32

  private let isOrdered: Bool

  init(isLoaded: Bool, isOrdered: Bool) {
    self.isLoaded = isLoaded
    self.isOrdered = isOrdered
  }

  /// Another list that holds the same.
  func copy() -> MemberList {
    let list = MemberList(isLoaded: isLoaded, isOrdered: isOrdered)
    list.keys = keys
    list.removed = removed
    list.unmoved = unmoved
    list.onlyMoved = onlyMoved
    list.committed = committed
    list.arrangement = arrangement
    list.seenGone = seenGone
    return list
  }

  var hasChanges: Bool {
    if !isLoaded { return !keys.isEmpty || !removed.isEmpty || arrangement != nil }
    guard let committed, committed != keys else { return false }
    return isOrdered || committed.count != keys.count || Set(committed) != Set(keys)
  }

  /// Whether the key is among ``keys``.
  func contains(_ key: Int64) -> Bool {
    if keys.count <= Self.smallCount { return keys.contains(key) }
    if let lookup { return lookup.contains(key) }
    let made = Set(keys)
    lookup = made
    return made.contains(key)
  }

  /// Whether a member of the store was taken out here.
  func hasLost(_ key: Int64) -> Bool {
    isLoaded ? !contains(key) && committed?.contains(key) == true : removed.contains(key)
  }

  /// Where a key stands among ``keys``. The end is looked at first, where most changes are.
  func place(of key: Int64) -> Int? {
    if keys.last == key { return keys.count - 1 }
    return contains(key) ? keys.firstIndex(of: key) : nil
  }

  /// Where a key belongs that the store has among the members: behind the one that it is behind there.
  func committedPlace(of key: Int64) -> Int? {
    committed.flatMap { place(of: key, as: $0) }
  }

  /// Where a key belongs that had a place in another order: behind the one that it is behind there.
  func place(of key: Int64, as order: ContiguousArray<Int64>) -> Int? {
    guard let former = order.firstIndex(of: key) else { return nil }
    for before in order[..<former].reversed() { if let place = place(of: before) { return place + 1 } }
    return 0
  }

  // MARK: Changing

  /// Adds a member at a place, or at the end. One that is there already moves.
  func insert(_ key: Int64, at place: Int? = nil) {
    noteChange()
    if contains(key) { drop(key) }
    if let place, place < keys.count { keys.insert(key, at: max(0, place)) } else { keys.append(key) }
    lookup?.insert(key)
    if !isLoaded {
      // Most lists have noted nothing of the kind, and a set that is empty would hash the key all the same.
      if !removed.isEmpty { removed.remove(key) }
      if !unmoved.isEmpty { unmoved.remove(key) }
      if !onlyMoved.isEmpty { onlyMoved.remove(key) }
      // It goes to the end, whatever place was wanted before.
      arrangement?.wanted.removeAll { $0 == key }
    }
  }

  /// Adds a member at the end, unless it is there: then it stays where it is.
  func include(_ key: Int64) {
    guard !contains(key) else { return }
    let mayBeStored = !isLoaded && (removed.isEmpty || !removed.contains(key))
    let order = arrangement
    insert(key)
    if mayBeStored {
      unmoved.insert(key)
      arrangement = order
    }
  }

  /// Takes a member out.
  func remove(_ key: Int64) {
    noteChange()
    if contains(key) { drop(key) }
    if !isLoaded {
      removed.insert(key)
      if !unmoved.isEmpty { unmoved.remove(key) }
    }
  }

  /// Takes out members that are gone from the store; that is no change to be saved.
  func forget(_ gone: Set<Int64>) {
    keys.removeAll(where: gone.contains)
    committed?.removeAll(where: gone.contains)
    removed.subtract(gone)
    lookup = nil
  }

  /// Takes out members that are gone from the store. Those that were added here stay, so that a save refuses them.
  ///
  /// - Returns: the members that stay.
  func forgetStored(_ gone: Set<Int64>) -> [Int64] {
    if isLoaded {
      let base = committed.map { Set($0) }
      keys.removeAll { gone.contains($0) && base?.contains($0) != false }
      committed?.removeAll(where: gone.contains)
    }
    removed.subtract(gone)
    arrangement?.base.removeAll(where: gone.contains)
    lookup = nil
    return keys.filter(gone.contains)
  }

  /// Takes out members that were added here; those that the store has stay.
  func forgetAdded(_ gone: Set<Int64>) {
    let stored = isLoaded ? Set(committed ?? keys) : []
    keys.removeAll { gone.contains($0) && !stored.contains($0) }
    unmoved.subtract(gone)
    lookup = nil
  }

  /// Puts the members into another order.
  func reorder(_ order: ContiguousArray<Int64>) {
    noteChange()
    keys = order
  }

  /// Puts what a list that is not loaded has noted about a key to what it had noted before a change.
  func restoreNote(_ trace: MemberTrace) {
    let key = trace.key
    if contains(key) { drop(key) }
    if let place = trace.place { keys.insert(key, at: min(place, keys.count)) }
    if trace.wasRemoved { removed.insert(key) } else { removed.remove(key) }
    if trace.wasUnmoved { unmoved.insert(key) } else { unmoved.remove(key) }
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

  /// Takes over what the store holds; changes made here stay.
  ///
  /// - Parameter gone: Stored members that are none any more, by changes that were made on their side.
  func load(_ stored: ContiguousArray<Int64>, without gone: Set<Int64> = []) {
    guard !isLoaded else { return }
    let added = keys
    let isChanged = hasChanges || !gone.isEmpty
    keys = stored
    lookup = nil
    isLoaded = true
    guard isChanged else { return }
    committed = stored
    let moved = Set(added).subtracting(unmoved)
    keys.removeAll { removed.contains($0) || gone.contains($0) || moved.contains($0) }
    if let arrangement {
      let members = Set(keys).union(moved)
      let stored = Set(keys)
      let wanted = ContiguousArray(arrangement.wanted.filter(members.contains))
      var arranged = MemberOrder.moved(in: wanted, since: arrangement.base)
      // One that is in the order here and in the store no more was added here.
      for key in wanted where !stored.contains(key) { arranged.insert(key) }
      keys = MemberOrder.merged(arranged, as: wanted, into: keys)
    }
    let gone = onlyMoved.isEmpty ? [] : onlyMoved.subtracting(stored)
    for key in added where !contains(key) && !gone.contains(key) {
      keys.append(key)
      lookup?.insert(key)
    }
    removed = []
    unmoved = []
    onlyMoved = []
    arrangement = nil
  }

  /// Goes back to knowing only what was changed here, so that the members are read from the store again.
  ///
  /// - Parameters:
  ///   - keepsOrder: Whether the order is kept as well, where it is more than members at the end.
  ///   - isOwn: Whether a member is one by what was set here, even if the store has had it already.
  func unload(keepingOrder keepsOrder: Bool, own isOwn: (Int64) -> Bool) {
    guard isLoaded else {
      if !keepsOrder { arrangement = nil }
      return
    }
    let difference = difference
    let kept = committed == nil ? [] : keys.filter { isOwn($0) && !difference.added.contains($0) }
    if keepsOrder, isOrdered, let committed, isArranged(committed, difference.added) {
      arrangement = (committed, keys)
    }
    isLoaded = false
    keys = ContiguousArray(kept + difference.added)
    unmoved = Set(kept)
    removed = Set(difference.removed)
    committed = nil
    lookup = nil
  }

  /// Drops what a list that is not loaded has noted, as far as the members' rows do not say the same.
  func keepNotes(added isAdded: (Int64) -> Bool, removed isRemoved: (Int64) -> Bool) {
    guard !isLoaded else { return }
    // The list may be asked meanwhile.
    keys = keys.filter(isAdded)
    removed = removed.filter(isRemoved)
    unmoved.formIntersection(keys)
    onlyMoved.formIntersection(keys)
    lookup = nil
  }

  func onlyMoves(_ key: Int64) -> Bool { onlyMoved.contains(key) }

  /// Notes of a member added while not loaded that it is one in the store, so that it only moves.
  func noteOnlyMoved(_ key: Int64) {
    if !isLoaded && isOrdered && contains(key) && !unmoved.contains(key) { onlyMoved.insert(key) }
  }

  /// Drops the notes of members that were taken out of a list that is not loaded.
  func forgetRemoved(_ keys: Set<Int64>) { removed.subtract(keys) }

  /// Whether the order is another one than that of members taken out and members added at the end.
  private func isArranged(_ committed: ContiguousArray<Int64>, _ added: [Int64]) -> Bool {
    keys != committed.filter(contains) + added
  }

  /// What is in the list is in the store now.
  func didSave() {
    committed = nil
    if !isLoaded {
      keys = []
      removed = []
      unmoved = []
      onlyMoved = []
      arrangement = nil
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

  /// How the order differs from the stored one: the members from some place on come behind all others, in this order.
  ///
  /// - Returns: those members, and whether each goes there even if the store has it somewhere already.
  var tail: [(key: Int64, isMoved: Bool)] {
    guard isLoaded else { return keys.map { ($0, !unmoved.contains($0)) } }
    guard let committed, committed != keys else { return [] }
    var place = 0
    for key in committed where place < keys.count && keys[place] == key { place += 1 }
    return keys[place...].map { ($0, true) }
  }
}
