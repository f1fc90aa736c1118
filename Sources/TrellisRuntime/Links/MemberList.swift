import TrellisModel

/// The members of one object's to-many: those that were last read, and what this context has changed since.
///
/// | part | what it is |
/// |---|---|
/// | ``base`` | the members in the store when they were last read |
/// | the order | the members here, those that are deleted here included, each behind the one that it follows |
/// | placed members | those whose position was chosen here; all others have the order of the base |
/// | hidden members | those that are deleted here: they keep their position and are not shown |
///
/// A member that is in the order and not in the base was added here; one that is in the base and not in the order was
/// removed here. So a list has the same form whether it is loaded or not: dropping the base loses no change, and a new
/// base is merged with the order by ``load(_:without:hiding:)``.
///
/// If the reference is stored in the members' rows, the rows are authoritative and this is a view of them; for a join
/// table this is authoritative until it is saved.
final class MemberList {
  // Only the methods below access the fields, and none calls other code while it does: accesses cannot overlap, so they
  // are not checked.

  /// The members in the store when the list was read. Of a list that is not loaded, those among which members were
  /// placed.
  @exclusivity(unchecked) private(set) var base: ContiguousArray<Int64> = [] {
    didSet { notes?.baseLookup = .unknown }
  }
  /// The members in their order.
  @exclusivity(unchecked) private var order: ContiguousArray<Int64> = []
  /// What few lists have; nil while there is nothing.
  @exclusivity(unchecked) private var notes: Notes?
  /// The number of changes of the context's ``DeadTargets`` that the list has processed.
  @exclusivity(unchecked) var seenDead = 0
  /// How ``order`` is searched.
  @exclusivity(unchecked) private var lookup = Lookup.ascending
  /// The next list of the same object, in a ``ListChain``.
  @exclusivity(unchecked) var next: MemberList?

  private final class Notes {
    @exclusivity(unchecked) var placed: Set<Int64> = []
    @exclusivity(unchecked) var hidden: Set<Int64> = []
    /// The members removed here that are not in the base, because they were removed while the list was not loaded.
    @exclusivity(unchecked) var removed: Set<Int64> = []
    /// Of a list that is not loaded, the members of the base that are members whether the store still has them or not.
    @exclusivity(unchecked) var kept: Set<Int64> = []
    /// How the base is searched.
    @exclusivity(unchecked) var baseLookup = BaseLookup.unknown
    /// The members that are shown, if any is hidden; nil while this is not computed.
    @exclusivity(unchecked) var shown: ContiguousArray<Int64>?

    func copy() -> Notes {
      let copy = Notes()
      copy.placed = placed
      copy.hidden = hidden
      copy.removed = removed
      copy.kept = kept
      return copy
    }
  }

  private enum BaseLookup {
    case unknown, ascending
    case set(Set<Int64>)
  }

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
  /// Whether the order has all members. If not, it has only those that were added or placed here, and those among which
  /// they were placed.
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
    order = other.order
    base = other.base
    notes = other.notes?.copy()
    seenDead = other.seenDead
    lookup = .unknown
  }

  private func needNotes() -> Notes {
    if let notes { return notes }
    let made = Notes()
    notes = made
    return made
  }

  // MARK: What is shown

  /// The keys of the members; of a list that is not loaded, those of the added ones.
  var keys: ContiguousArray<Int64> {
    if isLoaded {
      guard let notes, !notes.hidden.isEmpty else { return order }
      if let shown = notes.shown { return shown }
      let shown = ContiguousArray(order.filter { !notes.hidden.contains($0) })
      notes.shown = shown
      return shown
    }
    guard !base.isEmpty || notes?.hidden.isEmpty == false else { return order }
    let stored = Set(base)
    return ContiguousArray(order.filter { (!stored.contains($0) || isAsserted($0)) && !isHidden($0) })
  }

  /// The keys in the order with those that are hidden.
  var keysWithHidden: ContiguousArray<Int64> { order }

  /// Whether a key is among ``keys``.
  func contains(_ key: Int64) -> Bool {
    isInOrder(key) && !isHidden(key) && (isLoaded || !isInBase(key) || isAsserted(key))
  }

  private func isAsserted(_ key: Int64) -> Bool { notes?.kept.contains(key) == true }

  /// Whether a key is a member; nil if the store has to be read.
  func knows(_ key: Int64) -> Bool? {
    if isLoaded { return contains(key) }
    if order.isEmpty && notes == nil { return nil }
    return contains(key) ? true : hasLost(key) ? false : nil
  }

  /// Whether a key has a position, also if it is hidden.
  func holds(_ key: Int64) -> Bool { isInOrder(key) }

  private func isHidden(_ key: Int64) -> Bool {
    guard let notes, !notes.hidden.isEmpty else { return false }
    return notes.hidden.contains(key)
  }

  /// The position of a key among ``keys``.
  func place(of key: Int64) -> Int? {
    if let notes, !notes.hidden.isEmpty || !isLoaded { return keys.firstIndex(of: key) }
    return position(of: key)
  }

  // MARK: What has changed

  var hasChanges: Bool {
    if !isLoaded {
      return !order.isEmpty || !base.isEmpty || notes.map { !$0.removed.isEmpty || !$0.hidden.isEmpty } ?? false
    }
    if base == order && notes?.hidden.isEmpty != false { return false }
    let keys = keys
    return isOrdered ? base != keys : base.count != keys.count || Set(base) != Set(keys)
  }

  /// The members that were added and removed since the last save.
  var difference: (added: [Int64], removed: [Int64]) {
    if isLoaded && base == order && notes?.hidden.isEmpty != false { return ([], []) }
    if !isLoaded && base.isEmpty && notes == nil { return (Array(order), []) }
    let (before, keys) = (Set(base), keys)
    let added = isLoaded ? keys.filter { !before.contains($0) } : keys
    let after = Set(isLoaded ? keys : order.filter { !isHidden($0) })
    var removed = base.filter { !after.contains($0) }
    if !isLoaded, let notes { removed += notes.removed.union(notes.hidden.subtracting(before).subtracting(order)) }
    return (Array(added), Array(removed))
  }

  /// The members that were removed from a list that is not loaded.
  var removed: Set<Int64> {
    isLoaded || base.isEmpty && notes == nil ? [] : Set(difference.removed)
  }

  /// Whether a member of the store was removed in this context.
  func hasLost(_ key: Int64) -> Bool {
    if isInOrder(key) { return isHidden(key) && (isInBase(key) || !isLoaded) }
    return isInBase(key) || notes?.removed.contains(key) == true
  }

  /// Whether a key was a member in the store when the list was loaded; nil if it is not loaded.
  func hasRead(_ key: Int64) -> Bool? { isLoaded ? isInBase(key) : nil }

  /// Whether a key was added or removed in this context.
  func isEdited(_ key: Int64) -> Bool { knows(key) != hasRead(key) }

  /// The members whose position was chosen here.
  var placed: Set<Int64> { notes?.placed ?? [] }

  /// Whether the position of a member was chosen here.
  func isPlaced(_ key: Int64) -> Bool { notes?.placed.contains(key) == true }

  /// Of a loaded, ordered list that is not empty in the store, the members whose position is not that of the base: they were
  /// placed or added here.
  var placedOrAdded: Set<Int64> {
    if base.isEmpty { return Set(keys) }
    guard let notes else { return [] }
    // A member that comes to a loaded list is placed.
    return notes.hidden.isEmpty ? notes.placed : notes.placed.subtracting(notes.hidden)
  }

  /// Whether members were placed among others before these were loaded. Only a complete list gives a position to each.
  var isReordered: Bool { !isLoaded && !base.isEmpty }

  /// The difference from the stored order: the members from some position on stand last, in this order.
  ///
  /// - Returns: those members, and whether each stands there even if the store has it at another position.
  var tail: [(key: Int64, isMoved: Bool)] {
    let keys = keys
    guard isLoaded else { return keys.map { ($0, isPlaced($0)) } }
    if base == keys { return [] }
    var place = 0
    for key in base where place < keys.count && keys[place] == key { place += 1 }
    return keys[place...].map { ($0, true) }
  }

  // MARK: Changing

  /// Adds a member at a position among ``keys``, or at the end. A present member is moved.
  ///
  /// - Parameter isStored: Whether the store has it, so that it is only placed; nil if this is not known.
  func insert(_ key: Int64, at place: Int? = nil, isStored: Bool? = nil) {
    drop(key)
    if !isLoaded {
      if !base.isEmpty { base.removeAll { $0 == key } }
      if isStored == true && isOrdered { base.append(key) }
    }
    if let place, place < order.count { insertKey(key, at: position(at: place)) } else { append(key) }
    // Of a list that is empty in the store, all members are added, and most lists of new objects have no other.
    if isOrdered && !(isLoaded && base.isEmpty) { needNotes().placed.insert(key) }
    guard let notes else { return }
    // An empty set would still hash the key.
    if !notes.removed.isEmpty { notes.removed.remove(key) }
    if !notes.hidden.isEmpty { notes.hidden.remove(key) }
    notes.shown = nil
  }

  /// Adds a member, unless it is present.
  ///
  /// - Parameter isStored: Whether the store has it, so that it gets its position there; nil if this is not known.
  func include(_ key: Int64, isStored: Bool? = nil) {
    if let notes, !notes.removed.isEmpty { notes.removed.remove(key) }
    if isLoaded {
      if isInOrder(key) { return }
      if !base.isEmpty && isInBase(key) { return putBack(key) }
      append(key)
      if isOrdered && !base.isEmpty { needNotes().placed.insert(key) }
      return
    }
    if isStored == true { return }
    if isInOrder(key) { if isInBase(key) { needNotes().kept.insert(key) } } else { append(key) }
  }

  /// Removes a member.
  ///
  /// - Parameter isStored: Whether the store has it; nil if this is not known.
  func remove(_ key: Int64, isStored: Bool? = nil) {
    drop(key)
    if !isLoaded && isStored != false && !isInBase(key) { needNotes().removed.insert(key) }
    guard let notes else { return }
    if !notes.placed.isEmpty { notes.placed.remove(key) }
    if !notes.hidden.isEmpty { notes.hidden.remove(key) }
    if !notes.kept.isEmpty { notes.kept.remove(key) }
    notes.shown = nil
  }

  /// Adds a member of the base at its position there.
  private func putBack(_ key: Int64) {
    append(key)
    if isOrdered { settleOrder() }
  }

  /// Notes what the store has of a key, after it was read elsewhere. What equals it is no change any more.
  func settle(_ key: Int64, isStored: Bool) {
    if isLoaded {
      let isKnown = isInBase(key)
      if isStored && !isKnown && isInOrder(key) { base.append(key) }
      if !isStored && isKnown && !isInOrder(key) { base.removeAll { $0 == key } }
    } else if !isStored {
      notes?.removed.remove(key)
    } else if isAsserted(key) {
      notes?.kept.remove(key)
    } else if isInOrder(key), !isInBase(key) {
      if isPlaced(key) { base.append(key) } else { drop(key) }
    }
  }

  /// Forgets that a member was removed here.
  func forgetRemoval(_ key: Int64) {
    notes?.removed.remove(key)
    if isLoaded { putBack(key) } else { base.removeAll { $0 == key } }
  }

  /// Hides a member that is deleted here. It keeps its position.
  func hide(_ key: Int64) {
    if isLoaded && !isInOrder(key) { return }
    let notes = needNotes()
    notes.hidden.insert(key)
    notes.shown = nil
  }

  /// Shows a member that was hidden.
  ///
  /// - Returns: whether the list held it.
  @discardableResult func show(_ key: Int64) -> Bool {
    guard let notes, !notes.hidden.isEmpty, notes.hidden.remove(key) != nil else { return false }
    notes.shown = nil
    return true
  }

  var hiddenKeys: Set<Int64> { notes?.hidden ?? [] }

  /// Puts the members into another order.
  ///
  /// - Parameter placed: The members whose position is chosen here afterwards; nil to add those that are moved or hidden.
  func reorder(_ keys: ContiguousArray<Int64>, placing placed: Set<Int64>? = nil) {
    let notes = needNotes()
    // Hidden members stay behind the ones that they follow, which may pass others of the base.
    notes.placed =
      placed ?? notes.placed.union(MemberOrder.moved(in: keys, since: self.keys)).union(notes.hidden)
    order = notes.hidden.isEmpty ? keys : MemberOrder.merged(notes.hidden, as: order, into: keys)
    notes.shown = nil
    if case .ascending = lookup { lookup = .unknown }
    if isLoaded && order == base && notes.hidden.isEmpty { self.notes = nil }
  }

  // MARK: Positions

  /// The position of a member as it is now; nil in a list without an order, and if there is no such member.
  func anchor(of key: Int64) -> MemberAnchor? {
    guard isOrdered, let position = position(of: key) else { return nil }
    return anchor(of: key, at: position)
  }

  /// The positions of members as they are now, the last one first.
  ///
  /// - Complexity: linear in the number of members.
  func anchors(of keys: Set<Int64>) -> [MemberAnchor] {
    guard isOrdered else { return [] }
    if keys.count == 1 { return keys.compactMap(anchor) }
    return order.indices.reversed().compactMap { keys.contains(order[$0]) ? anchor(of: order[$0], at: $0) : nil }
  }

  private func anchor(of key: Int64, at position: Int) -> MemberAnchor {
    guard notes?.hidden.isEmpty == false else {
      let before = order[..<position].suffix(MemberAnchor.most)
      return MemberAnchor(
        key: key, before: ContiguousArray(before), isWhole: before.startIndex == 0, wasPlaced: isPlaced(key))
    }
    var before: ContiguousArray<Int64> = []
    var place = position
    while place > 0 && before.count < MemberAnchor.most {
      place -= 1
      // A hidden member returns later than this one, to a position of its own.
      if !isHidden(order[place]) { before.append(order[place]) }
    }
    before.reverse()
    return MemberAnchor(key: key, before: before, isWhole: place == 0, wasPlaced: isPlaced(key))
  }

  /// Moves a member to a position that it had before. After all of them, ``settleOrder()`` is called.
  ///
  /// - Parameter isToMove: Whether a member is moved later, so that nothing is placed behind it now.
  func move(to anchor: MemberAnchor, besides isToMove: (Int64) -> Bool = { _ in false }) {
    let key = anchor.key
    guard position(of: key) != nil else { return }
    let nearest = anchor.before.last { $0 != key && isInOrder($0) && !isHidden($0) && !isToMove($0) }
    if nearest != nil || anchor.isWhole {
      drop(key)
      let place = nearest.flatMap { position(of: $0) }.map { $0 + 1 } ?? 0
      insertKey(key, at: place)
    }
    if anchor.wasPlaced || !isInBase(key) { needNotes().placed.insert(key) } else { notes?.placed.remove(key) }
    notes?.shown = nil
  }

  /// Counts the positions that differ from those of the base as chosen here.
  ///
  /// - Complexity: n log n in the number of members.
  func placeMoved() {
    guard isLoaded, isOrdered, !base.isEmpty else { return }
    let moved = MemberOrder.moved(in: keys, since: base)
    if !moved.isEmpty { needNotes().placed.formUnion(moved) }
  }

  /// Gives the members that are not placed here the order of the base.
  ///
  /// - Complexity: linear in the number of members.
  func settleOrder() {
    guard isLoaded, isOrdered, !base.isEmpty else { return }
    merge(base)
  }

  /// Makes the order the one of the members of the store, with the members that were placed and added here.
  private func merge(_ stored: ContiguousArray<Int64>) {
    let known = Set(stored)
    var placed = notes?.placed ?? []
    for key in order where !known.contains(key) { placed.insert(key) }
    let present = Set(order)
    order = MemberOrder.merged(
      placed.intersection(present), as: order, into: ContiguousArray(stored.filter(present.contains)))
    lookup = .unknown
    notes?.shown = nil
  }

  // MARK: Searching

  private func isInBase(_ key: Int64) -> Bool {
    if base.count <= Self.smallCount { return base.contains(key) }
    let notes = needNotes()
    if case .unknown = notes.baseLookup { notes.baseLookup = base.isAscending ? .ascending : .set(Set(base)) }
    switch notes.baseLookup {
    case .set(let keys): return keys.contains(key)
    case .ascending, .unknown: return base.containsInOrder(key)
    }
  }

  private func isInOrder(_ key: Int64) -> Bool {
    decideLookup()
    switch lookup {
    case .unknown: return order.contains(key)
    case .ascending:
      guard let last = order.last, key < last else { return key == order.last }
      return order.containsInOrder(key)
    case .mixed(let mixed):
      if let isFound = mixed.contains(key) { return isFound }
      mixed.notePass(over: order)
      return order.contains(key)
    }
  }

  /// The position of a key in the order. The end is checked first, because most changes are there.
  private func position(of key: Int64) -> Int? {
    guard let last = order.last, key != last else { return order.isEmpty ? nil : order.count - 1 }
    decideLookup()
    switch lookup {
    case .unknown: return order.firstIndex(of: key)
    case .ascending:
      guard key < last else { return nil }
      let place = order.firstIndex(notBefore: key)
      return order[place] == key ? place : nil
    case .mixed(let mixed):
      if mixed.contains(key) == false { return nil }
      if let place = order.firstIndex(of: key) { return place }
      mixed.notePass(over: order)
      return nil
    }
  }

  /// The position in the order of a position among ``keys``.
  private func position(at place: Int) -> Int {
    guard isLoaded, let notes, !notes.hidden.isEmpty else { return max(0, place) }
    var left = place
    for (position, key) in order.enumerated() where !notes.hidden.contains(key) {
      if left <= 0 { return position }
      left -= 1
    }
    return order.count
  }

  /// Finds out whether the keys ascend, unless they are few.
  @inline(__always) private func decideLookup() {
    if case .unknown = lookup, order.count > Self.smallCount { examineKeys() }
  }

  @inline(never) private func examineKeys() {
    lookup = order.isAscending ? .ascending : .mixed(MixedKeys(greatest: order.max() ?? 0))
  }

  private func append(_ key: Int64) {
    switch lookup {
    case .unknown: break
    case .ascending: if let last = order.last, last >= key { noteMixed(key) }
    case .mixed(let mixed): mixed.insert(key)
    }
    order.append(key)
    notes?.shown = nil
  }

  private func insertKey(_ key: Int64, at place: Int) {
    if place >= order.count { return append(key) }
    switch lookup {
    case .unknown: break
    case .ascending:
      let isInOrder = (place == 0 || order[place - 1] < key) && key < order[place]
      if !isInOrder { noteMixed(key) }
    case .mixed(let mixed): mixed.insert(key)
    }
    order.insert(key, at: place)
    notes?.shown = nil
  }

  /// Notes that keys that have ascended no longer do so with another one.
  private func noteMixed(_ key: Int64) {
    guard let last = order.last, order.count > Self.smallCount else { return lookup = .unknown }
    lookup = .mixed(MixedKeys(greatest: max(last, key)))
  }

  /// Removes keys, which leaves the others in their order.
  private func removeKeys(where isRemoved: (Int64) -> Bool) {
    order.removeAll(where: isRemoved)
    notes?.shown = nil
    if case .mixed(let mixed) = lookup { mixed.forgetSet() }
  }

  /// Removes a key from the order if it is there.
  private func drop(_ key: Int64) {
    guard let place = position(of: key) else { return }
    order.remove(at: place)
    notes?.shown = nil
    if case .mixed(let mixed) = lookup { mixed.remove(key) }
  }

  // MARK: The store

  /// Removes members that are gone from the store; this is no change to be saved.
  func forget(_ gone: Set<Int64>) {
    removeKeys(where: gone.contains)
    base.removeAll(where: gone.contains)
    guard let notes else { return }
    notes.removed.subtract(gone)
    notes.placed.subtract(gone)
    notes.hidden.subtract(gone)
    notes.kept.subtract(gone)
  }

  /// Removes members that are gone from the store. Members that were added in this context stay, so that a save refuses
  /// them.
  ///
  /// - Returns: the members that stay.
  func forgetStored(_ gone: Set<Int64>) -> [Int64] {
    let stored = Set(base)
    removeKeys { gone.contains($0) && stored.contains($0) }
    base.removeAll(where: gone.contains)
    notes?.removed.subtract(gone)
    return keys.filter(gone.contains)
  }

  /// Makes the members of the store the base, and merges what was changed here.
  ///
  /// - Parameters:
  ///   - gone: Members in the store that are no longer members, by changes at their own end.
  ///   - dead: Members in the store that are deleted here.
  func load(_ stored: ContiguousArray<Int64>, without gone: Set<Int64> = [], hiding dead: Set<Int64> = []) {
    guard !isLoaded else { return }
    let isChanged = hasChanges || !gone.isEmpty || !dead.isEmpty
    isLoaded = true
    guard isChanged else {
      (base, order, notes, lookup) = (stored, stored, nil, .unknown)
      return
    }
    let notes = needNotes()
    let (known, former, present) = (Set(stored), Set(base), Set(order))
    let removed = notes.removed.union(former.subtracting(present)).union(gone)
    // A member that was only placed here, and that another context has removed, has left. One that was added here and is
    // in the store has the position there, and is no mark for the position of others.
    let mine = ContiguousArray(
      order.filter { key in
        if !known.contains(key) { return !former.contains(key) || notes.kept.contains(key) }
        return !gone.contains(key) && (notes.placed.contains(key) || former.contains(key) || !isOrdered)
      })
    let theirs = ContiguousArray(stored.filter { !removed.contains($0) })
    let added = mine.filter { !known.contains($0) }
    base = stored
    if isOrdered {
      notes.placed.formUnion(added)
      notes.placed.formIntersection(mine)
      order = MemberOrder.merged(notes.placed, as: mine, into: theirs)
    } else {
      order = theirs + added
    }
    lookup = .unknown
    notes.removed = []
    notes.kept = []
    notes.hidden = notes.hidden.union(dead).intersection(order)
    notes.shown = nil
    if order == base && notes.hidden.isEmpty { self.notes = nil }
  }

  /// Drops the base, so that the members are read from the store again. The changes of this context stay.
  ///
  /// - Parameters:
  ///   - keepsOrder: Whether the order is kept as well, if it is more than members added at the end.
  ///   - isOwn: Whether a key is a member because of a change in this context, even if the store has it already.
  func unload(keepingOrder keepsOrder: Bool, own isOwn: (Int64) -> Bool) {
    let isKept = keepsOrder && isOrdered && (isLoaded ? isArranged : !base.isEmpty)
    if isKept {
      isLoaded = false
      let own = Set(order.lazy.filter(isOwn))
      if !own.isEmpty { base.removeAll(where: own.contains) }
      return
    }
    guard isLoaded || !base.isEmpty else { return }
    let stored = Set(base)
    let present = Set(order)
    // Predicates of the caller may read the list meanwhile.
    let isOwnOnly = base == order && notes?.kept.isEmpty != false
    let own = isOwnOnly ? order.filter(isOwn) : order.filter { !stored.contains($0) || isOwn($0) || isAsserted($0) }
    var removed = base == order ? [] : Set(base.lazy.filter { !present.contains($0) })
    if let notes { removed.formUnion(notes.removed) }
    // The positions of the members of a list that is empty in the store were all chosen here.
    if isOrdered && isLoaded && base.isEmpty && !own.isEmpty { needNotes().placed = Set(own) }
    // A load hides those that are deleted then.
    if isLoaded, let notes { notes.hidden.formIntersection(own) }
    isLoaded = false
    order = ContiguousArray(own)
    base = []
    lookup = .unknown
    if !removed.isEmpty { needNotes().removed = removed }
    guard let notes else { return }
    notes.removed = removed
    // Those that were in the base are placed no longer, and have the position of the store.
    notes.placed = notes.placed.subtracting(stored).intersection(own)
    notes.kept = []
    notes.shown = nil
    if notes.placed.isEmpty && notes.hidden.isEmpty && removed.isEmpty { self.notes = nil }
  }

  /// Whether the order differs from that of the base by more than removed members and members added at the end.
  private var isArranged: Bool {
    if base == order { return false }
    let (stored, present) = (Set(base), Set(order))
    return Array(order) != base.filter(present.contains) + order.filter { !stored.contains($0) }
  }

  /// Makes all members added ones, since the owner has no row any more.
  func becomeNew() {
    (isLoaded, base) = (true, [])
    notes?.removed = []
    notes?.placed = []
  }

  /// Makes the present members the base, after a save.
  func didSave() {
    if let hidden = notes?.hidden, !hidden.isEmpty { removeKeys(where: hidden.contains) }
    notes = nil
    if isLoaded {
      base = order
    } else {
      (order, base) = ([], [])
      lookup = .ascending
    }
  }
}

// MARK: - Member anchor

/// A position in an ordered to-many: behind another member, since others may insert and remove members anywhere.
struct MemberAnchor {
  /// The number of preceding members that are noted.
  static let most = 16

  let key: Int64
  /// The nearest members before it that are shown.
  let before: ContiguousArray<Int64>
  /// Whether these are all.
  let isWhole: Bool
  /// Whether the position was chosen here. If not, it is that of the store.
  let wasPlaced: Bool
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
