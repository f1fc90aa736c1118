import TrellisModel

/// The keys of the members of one object's to-many: all of them, or only the changes since the last save.
///
/// If the reference is stored in the members' rows, the rows are authoritative and this is a view of them; for a join
/// table this is authoritative until it is saved.
final class MemberList {
  // Only the methods below access the fields, and none calls other code while it does: accesses cannot overlap, so they
  // are not checked.

  @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64> = []
  /// The members in the store, kept from the first change of a loaded list until it is saved.
  @exclusivity(unchecked) private(set) var committed: ContiguousArray<Int64>?
  /// What few lists have to note; nil while there is nothing.
  @exclusivity(unchecked) private var notes: Notes?
  /// The number of entries of the context's ``DeletionLog`` that the list has processed.
  @exclusivity(unchecked) var seenGone = 0
  /// How ``keys`` is searched.
  @exclusivity(unchecked) private var lookup = Lookup.ascending
  /// The next list of the same object, in a ``ListChain``.
  @exclusivity(unchecked) var next: MemberList?

  /// What a list notes that was changed while it was not loaded, or whose order was changed.
  private final class Notes {
    @exclusivity(unchecked) var removed: Set<Int64> = []
    @exclusivity(unchecked) var unmoved: Set<Int64> = []
    @exclusivity(unchecked) var onlyMoved: Set<Int64> = []
    @exclusivity(unchecked) var arrangement: Arrangement?
    @exclusivity(unchecked) var inserted: Set<Int64>? = []

    func copy() -> Notes {
      let copy = Notes()
      copy.removed = removed
      copy.unmoved = unmoved
      copy.onlyMoved = onlyMoved
      copy.arrangement = arrangement
      copy.inserted = inserted
      return copy
    }
  }

  /// An order that was read, and the wanted one. The members that were moved or added to come from one to the other are
  /// nil if they are not known.
  typealias Arrangement = (base: ContiguousArray<Int64>, wanted: ContiguousArray<Int64>, moved: Set<Int64>?)

  private enum Lookup {
    case unknown
    /// The keys ascend, as those of members that are added in the order in which they were created.
    case ascending
    case mixed(MixedKeys)
  }

  /// The number of keys up to which they are always searched one by one.
  private static let smallCount = 32

  // The small fields come last and fill one word, since many objects have a list.

  private let propertyNumber: Int32
  let isOrdered: Bool
  /// Whether ``keys`` are all members. If not, they are the added members, and ``removed`` the removed ones.
  @exclusivity(unchecked) private(set) var isLoaded: Bool

  /// The number of the to-many among the owner's properties.
  var property: Int { Int(propertyNumber) }

  init(_ relationship: Relationship, isLoaded: Bool) {
    self.isLoaded = isLoaded
    propertyNumber = Int32(truncatingIfNeeded: relationship.property)
    isOrdered = relationship.isOrdered
  }

  private init(_ other: MemberList) {
    isLoaded = other.isLoaded
    propertyNumber = other.propertyNumber
    isOrdered = other.isOrdered
  }

  /// Adds a list of the same object, which is in no chain, at the end of the chain that this one is in.
  func append(toChain list: MemberList) {
    var last = self
    while let next = last.next { last = next }
    last.next = list
  }

  /// Returns another list with the same contents.
  func copy() -> MemberList {
    let list = MemberList(self)
    list.restore(self)
    return list
  }

  /// Takes over the contents of another list.
  func restore(_ other: MemberList) {
    isLoaded = other.isLoaded
    keys = other.keys
    committed = other.committed
    notes = other.notes?.copy()
    seenGone = other.seenGone
    lookup = .unknown
  }

  private func needNotes() -> Notes {
    if let notes { return notes }
    let made = Notes()
    notes = made
    return made
  }

  /// The members in the store that were removed while the list was not loaded.
  var removed: Set<Int64> { notes?.removed ?? [] }
  /// Of the members added while not loaded, those that keep their position if the store has them already.
  var unmoved: Set<Int64> { notes?.unmoved ?? [] }
  /// Of the members added while not loaded, those that are only moved, if the store still has them.
  private var onlyMoved: Set<Int64> { notes?.onlyMoved ?? [] }
  /// The changed order of a list that was unloaded since: the order that was read, and the wanted one.
  var arrangement: Arrangement? { notes?.arrangement }
  /// Of a loaded, ordered list that was not empty, the members that were inserted or moved since ``committed``. All others
  /// have the order that they have there. Nil if the order was changed in another way.
  var inserted: Set<Int64>? { if let notes { notes.inserted } else { [] } }

  /// Notes that the order was changed in another way than by inserting members.
  private func noteReordering() {
    if isOrdered { needNotes().inserted = nil }
  }

  var hasChanges: Bool {
    if !isLoaded { return !keys.isEmpty || notes.map { !$0.removed.isEmpty || $0.arrangement != nil } ?? false }
    guard let committed, committed != keys else { return false }
    return isOrdered || committed.count != keys.count || Set(committed) != Set(keys)
  }

  /// Whether a key is among ``keys``.
  func contains(_ key: Int64) -> Bool {
    decideLookup()
    switch lookup {
    case .unknown: return keys.contains(key)
    case .ascending:
      guard let last = keys.last, key < last else { return key == keys.last }
      return keys.containsInOrder(key)
    case .mixed(let mixed):
      if let isFound = mixed.contains(key) { return isFound }
      mixed.notePass(over: keys)
      return keys.contains(key)
    }
  }

  /// Finds out whether the keys ascend, unless they are few.
  @inline(__always) private func decideLookup() {
    if case .unknown = lookup, keys.count > Self.smallCount { examineKeys() }
  }

  @inline(never) private func examineKeys() {
    lookup = keys.isAscending ? .ascending : .mixed(MixedKeys(greatest: keys.max() ?? 0))
  }

  private func append(_ key: Int64) {
    switch lookup {
    case .unknown: break
    case .ascending: if let last = keys.last, last >= key { noteMixed(key) }
    case .mixed(let mixed): mixed.insert(key)
    }
    keys.append(key)
  }

  private func insertKey(_ key: Int64, at place: Int) {
    if place == keys.count { return append(key) }
    switch lookup {
    case .unknown: break
    case .ascending:
      let isInOrder = (place == 0 || keys[place - 1] < key) && key < keys[place]
      if !isInOrder { noteMixed(key) }
    case .mixed(let mixed): mixed.insert(key)
    }
    keys.insert(key, at: place)
  }

  /// Notes that keys that have ascended no longer do so with another one.
  private func noteMixed(_ key: Int64) {
    guard let last = keys.last, keys.count > Self.smallCount else { return lookup = .unknown }
    lookup = .mixed(MixedKeys(greatest: max(last, key)))
  }

  /// Whether a member of the store was removed in this context.
  func hasLost(_ key: Int64) -> Bool {
    isLoaded ? !contains(key) && committed?.contains(key) == true : removed.contains(key)
  }

  /// Whether a key was a member in the store when the list was loaded.
  func hasRead(_ key: Int64) -> Bool { isLoaded && (committed ?? keys).contains(key) }

  /// The position of a key among ``keys``. The end is checked first, because most changes are there.
  func place(of key: Int64) -> Int? {
    guard let last = keys.last, key != last else { return keys.isEmpty ? nil : keys.count - 1 }
    decideLookup()
    switch lookup {
    case .unknown: return keys.firstIndex(of: key)
    case .ascending:
      guard key < last else { return nil }
      let place = keys.firstIndex(notBefore: key)
      return keys[place] == key ? place : nil
    case .mixed(let mixed):
      if mixed.contains(key) == false { return nil }
      if let place = keys.firstIndex(of: key) { return place }
      mixed.notePass(over: keys)
      return nil
    }
  }

  /// The position of a key that is a member in the store: behind the member that it follows there, unless that one was
  /// moved since.
  func committedPlace(of key: Int64) -> Int? {
    guard let stored = committed ?? (isLoaded ? keys : nil) else { return nil }
    return place(of: key, as: stored, without: inserted ?? [])
  }

  /// Whether a member that the store has is where the store has it.
  func isAtStoredPlace(_ key: Int64) -> Bool { committed == nil || inserted?.contains(key) == false }

  /// The position of a key that had a position in another order: behind the member that it follows there.
  ///
  /// - Parameter moved: Members whose positions are others by now.
  func place(of key: Int64, as order: ContiguousArray<Int64>, without moved: Set<Int64> = []) -> Int? {
    guard let former = order.firstIndex(of: key) else { return nil }
    return place(of: key, behind: order[..<former].reversed().lazy.filter { !moved.contains($0) }) ?? 0
  }

  /// The position of a key behind the first of some members that is there; nil without any. The key itself does not
  /// count.
  func place(of key: Int64, behind members: some Sequence<Int64>) -> Int? {
    for member in members {
      guard let place = place(of: member) else { continue }
      return self.place(of: key).map { $0 < place } == true ? place : place + 1
    }
    return nil
  }

  /// The order that a list that is not loaded keeps for its members, if a key has a position in it.
  func keptOrder(with key: Int64) -> ContiguousArray<Int64>? {
    guard !isLoaded, let arrangement, arrangement.wanted.contains(key) else { return nil }
    return arrangement.wanted
  }

  // MARK: Changing

  /// Adds a member at a position, or at the end. A present member is moved.
  func insert(_ key: Int64, at place: Int? = nil) {
    noteChange()
    drop(key)
    if let place, place < keys.count { insertKey(key, at: max(0, place)) } else { append(key) }
    // In a list that was empty all members are inserted, and most lists of new objects have no other.
    if isLoaded && isOrdered && committed?.isEmpty == false { needNotes().inserted?.insert(key) }
    if !isLoaded, let notes {
      // An empty set would still hash the key.
      if !notes.removed.isEmpty { notes.removed.remove(key) }
      if !notes.unmoved.isEmpty { notes.unmoved.remove(key) }
      if !notes.onlyMoved.isEmpty { notes.onlyMoved.remove(key) }
      // The member moves to the end, whatever position was wanted before.
      notes.arrangement?.wanted.removeAll { $0 == key }
    }
  }

  /// Adds a member of the store at its position there, which is no change of the order; at the end if that is not known.
  func putBack(_ key: Int64) {
    let place = committedPlace(of: key)
    insert(key, at: place)
    if place != nil { notes?.inserted?.remove(key) }
  }

  /// Adds a member at the end, unless it is present: then it keeps its position.
  func include(_ key: Int64) {
    guard !contains(key) else {
      // A member that was only moved is added now, whether the store still has it or not.
      notes?.onlyMoved.remove(key)
      return
    }
    let mayBeStored = !isLoaded && (removed.isEmpty || !removed.contains(key))
    let order = arrangement
    insert(key)
    if mayBeStored {
      needNotes().unmoved.insert(key)
      notes?.arrangement = order
    }
  }

  /// Removes a member.
  func remove(_ key: Int64) {
    noteChange()
    drop(key)
    if !isLoaded {
      let notes = needNotes()
      notes.removed.insert(key)
      if !notes.unmoved.isEmpty { notes.unmoved.remove(key) }
    }
  }

  /// Removes members that are gone from the store; this is no change to be saved.
  func forget(_ gone: Set<Int64>) {
    removeKeys(where: gone.contains)
    committed?.removeAll(where: gone.contains)
    notes?.removed.subtract(gone)
  }

  /// Removes members that are gone from the store. Members that were added in this context stay, so that a save refuses
  /// them.
  ///
  /// - Returns: the members that stay.
  func forgetStored(_ gone: Set<Int64>) -> [Int64] {
    if isLoaded {
      let base = committed.map { Set($0) }
      removeKeys { gone.contains($0) && base?.contains($0) != false }
      committed?.removeAll(where: gone.contains)
    }
    notes?.removed.subtract(gone)
    notes?.arrangement?.base.removeAll(where: gone.contains)
    return keys.filter(gone.contains)
  }

  /// Removes members that were added in this context; members in the store stay.
  func forgetAdded(_ gone: Set<Int64>) {
    let stored = isLoaded ? Set(committed ?? keys) : []
    removeKeys { gone.contains($0) && !stored.contains($0) }
    notes?.unmoved.subtract(gone)
  }

  /// Puts the members into another order.
  ///
  /// - Parameter moved: The members that have other positions than in the store afterwards; nil if they are not known.
  func reorder(_ order: ContiguousArray<Int64>, moving moved: Set<Int64>?) {
    noteChange()
    keys = order
    if case .ascending = lookup { lookup = .unknown }
    if isLoaded && keys == committed { return forgetChanges() }
    if let moved { needNotes().inserted = moved } else { noteReordering() }
  }

  /// Notes that the members are those of the store, in the same order.
  private func forgetChanges() {
    committed = nil
    notes = nil
  }

  /// Restores the notes of an unloaded list about a key to those before a change.
  func restoreNote(_ trace: MemberTrace) {
    let key = trace.key
    drop(key)
    if let place = trace.place { insertKey(key, at: min(place, keys.count)) }
    if trace.wasRemoved { needNotes().removed.insert(key) } else { notes?.removed.remove(key) }
    if trace.wasUnmoved { needNotes().unmoved.insert(key) } else { notes?.unmoved.remove(key) }
    noteReordering()
  }

  /// Removes keys, which leaves the others in their order.
  private func removeKeys(where isRemoved: (Int64) -> Bool) {
    keys.removeAll(where: isRemoved)
    if case .mixed(let mixed) = lookup { mixed.forgetSet() }
  }

  /// Removes a key if it is there.
  private func drop(_ key: Int64) {
    guard let place = place(of: key) else { return }
    keys.remove(at: place)
    if case .mixed(let mixed) = lookup { mixed.remove(key) }
  }

  private func noteChange() {
    if isLoaded && committed == nil { committed = keys }
  }

  // MARK: Loading and saving

  /// Merges the members in the store with the changes of this context.
  ///
  /// - Parameter gone: Members in the store that are no longer members, by changes at their own end.
  func load(_ stored: ContiguousArray<Int64>, without gone: Set<Int64> = []) {
    guard !isLoaded else { return }
    let added = keys
    let isChanged = hasChanges || !gone.isEmpty
    keys = stored
    lookup = .unknown
    isLoaded = true
    guard isChanged else {
      notes = nil
      return
    }
    committed = stored
    // Members that were only moved here and that another context has removed.
    let lost = onlyMoved.isEmpty ? [] : onlyMoved.subtracting(stored)
    let moved = Set(added).subtracting(unmoved).subtracting(lost)
    let removed = removed
    removeKeys { removed.contains($0) || gone.contains($0) || moved.contains($0) }
    // All other members keep the order of the store, and so their positions.
    var inserted = moved
    if let arrangement {
      let members = Set(keys).union(moved)
      let stored = Set(keys)
      let wanted = ContiguousArray(arrangement.wanted.filter(members.contains))
      var arranged =
        arrangement.moved?.intersection(wanted) ?? MemberOrder.moved(in: wanted, since: arrangement.base)
      // A member of the wanted order that is not in the store was added in this context.
      for key in wanted where !stored.contains(key) { arranged.insert(key) }
      keys = MemberOrder.merged(arranged, as: wanted, into: keys)
      inserted.formUnion(arranged)
      lookup = .unknown
    }
    for key in added where !contains(key) && !lost.contains(key) {
      append(key)
      inserted.insert(key)
    }
    notes = nil
    if isOrdered { needNotes().inserted = inserted }
  }

  /// Unloads the list, so that it only holds the changes of this context and the members are read from the store again.
  ///
  /// - Parameters:
  ///   - keepsOrder: Whether the order is kept as well, if it is more than members added at the end.
  ///   - isOwn: Whether a key is a member because of a change in this context, even if the store has it already.
  func unload(keepingOrder keepsOrder: Bool, own isOwn: (Int64) -> Bool) {
    guard isLoaded else {
      if !keepsOrder { notes?.arrangement = nil }
      return
    }
    let difference = difference
    let kept = committed == nil ? [] : keys.filter { isOwn($0) && !difference.added.contains($0) }
    let moved = committed?.isEmpty == false ? inserted : nil
    notes = nil
    if keepsOrder, isOrdered, let committed, isArranged(committed, difference.added) {
      needNotes().arrangement = (committed, keys, moved)
    }
    isLoaded = false
    keys = ContiguousArray(kept + difference.added)
    if !kept.isEmpty { needNotes().unmoved = Set(kept) }
    if !difference.removed.isEmpty { needNotes().removed = Set(difference.removed) }
    committed = nil
    lookup = .unknown
  }

  /// Drops the notes of an unloaded list that the members' rows do not confirm.
  func keepNotes(added isAdded: (Int64) -> Bool, removed isRemoved: (Int64) -> Bool) {
    guard !isLoaded else { return }
    // The predicates may read the list meanwhile.
    keys = keys.filter(isAdded)
    if let notes {
      notes.removed = notes.removed.filter(isRemoved)
      notes.unmoved.formIntersection(keys)
      notes.onlyMoved.formIntersection(keys)
    }
    lookup = .unknown
  }

  /// Whether the list was reordered before it was loaded.
  var isReordered: Bool { !isLoaded && (arrangement != nil || !onlyMoved.isEmpty) }

  func onlyMoves(_ key: Int64) -> Bool { onlyMoved.contains(key) }

  /// Notes that a member, added while not loaded, is a member in the store, so that it is only moved.
  func noteOnlyMoved(_ key: Int64) {
    if !isLoaded && isOrdered && contains(key) && !unmoved.contains(key) { needNotes().onlyMoved.insert(key) }
  }

  /// Drops the notes of members that were removed from an unloaded list.
  func forgetRemoved(_ keys: Set<Int64>) { notes?.removed.subtract(keys) }

  /// Whether the order differs from the stored one by more than removed members and members added at the end.
  private func isArranged(_ committed: ContiguousArray<Int64>, _ added: [Int64]) -> Bool {
    keys != committed.filter(contains) + added
  }

  /// Makes the present members the committed ones, after a save.
  func didSave() {
    committed = nil
    notes = nil
    if !isLoaded {
      keys = []
      lookup = .ascending
    }
  }

  /// The members that were added and removed since the last save.
  var difference: (added: [Int64], removed: [Int64]) {
    guard isLoaded else { return (Array(keys), Array(removed)) }
    guard let committed, committed != keys else { return ([], []) }
    let before = Set(committed)
    let after = Set(keys)
    return (keys.filter { !before.contains($0) }, committed.filter { !after.contains($0) })
  }

  /// The difference from the stored order: the members from some position on stand last, in this order.
  ///
  /// - Returns: those members, and whether each is moved there even if the store has it at another position.
  var tail: [(key: Int64, isMoved: Bool)] {
    guard isLoaded else { return keys.map { ($0, !unmoved.contains($0)) } }
    guard let committed, committed != keys else { return [] }
    var place = 0
    for key in committed where place < keys.count && keys[place] == key { place += 1 }
    return keys[place...].map { ($0, true) }
  }
}

// MARK: - Deferred member lists

/// The changes of to-manys whose owners are not in memory, until the owners are loaded.
///
/// Only relationships in join tables need this: if members hold the reference in their own rows, those rows record the
/// changes.
struct DeferredMemberLists {
  struct ID: Hashable {
    let owner: Int64
    let entity: Int
    let property: Int

    init(_ owner: Int64, _ relationship: Relationship) {
      self.owner = owner
      entity = relationship.entity
      property = relationship.property
    }
  }

  var lists: [ID: MemberList] = [:]

  func copy() -> DeferredMemberLists {
    lists.isEmpty ? self : DeferredMemberLists(lists: lists.mapValues { $0.copy() })
  }
}

extension ObjectGraph {
  func deferredList(of owner: Int64, _ relationship: Relationship) -> MemberList {
    let id = DeferredMemberLists.ID(owner, relationship)
    if let list = pending.deferredLists.lists[id] { return list }
    let list = MemberList(relationship, isLoaded: false)
    pending.deferredLists.lists[id] = list
    return list
  }

  func adoptDeferredList(_ owner: Int64, _ relationship: Relationship) -> MemberList? {
    guard !pending.deferredLists.lists.isEmpty else { return nil }
    return pending.deferredLists.lists.removeValue(
      forKey: DeferredMemberLists.ID(owner, relationship))
  }
}

// MARK: - Member order

/// The three-way merge of an ordered to-many.
///
/// A member that was moved or added on one side follows the member that it follows there, or stands at the end if only
/// such members follow it. All other members have the order of the other side.
enum MemberOrder {
  /// The members that an order has moved or added: the fewest whose moves lead from the base to the order, and those
  /// that are not in the base.
  ///
  /// - Complexity: n log n in the number of members.
  static func moved(in order: ContiguousArray<Int64>, since base: ContiguousArray<Int64>) -> Set<Int64> {
    let places = Dictionary(base.enumerated().map { ($1, Int64($0 + 1) << 32) }) { first, _ in first }
    let former = order.map { places[$0] }
    return Set(zip(order, zip(former, PlaceNumbering.arrange(former))).filter { $1.0 != $1.1 }.map(\.0))
  }

  /// Merges moved members into another order.
  ///
  /// - Parameters:
  ///   - moved: The members that `mine` has moved or added.
  ///   - mine: The order of the moved members; its other members are in `theirs` as well.
  ///   - theirs: The order of all other members. Moved members in it are ignored.
  /// - Returns: The members of both, each once.
  /// - Complexity: linear in the number of members.
  static func merged(
    _ moved: Set<Int64>, as mine: ContiguousArray<Int64>, into theirs: ContiguousArray<Int64>
  ) -> ContiguousArray<Int64> {
    let tail = (mine.lastIndex { !moved.contains($0) } ?? -1) + 1
    var followers: [Int64: [Int64]] = [:]
    var result: ContiguousArray<Int64> = []
    var predecessor: Int64?
    for key in mine[..<tail] {
      if !moved.contains(key) {
        predecessor = key
      } else if let predecessor {
        followers[predecessor, default: []].append(key)
      } else {
        result.append(key)
      }
    }
    for key in theirs where !moved.contains(key) {
      result.append(key)
      if let behind = followers[key] { result += behind }
    }
    return result + mine[tail...]
  }
}
