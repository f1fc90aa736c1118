import TrellisModel

/// The positions of members in ordered to-manys. A position is recorded and restored as that behind another member, since
/// other contexts may insert and remove members anywhere.
extension ObjectGraph {
  /// Moves a member of an ordered to-many.
  func move(_ key: Int64, in owner: ManagedObject, _ relationship: Relationship, to place: Int?) {
    let list = list(of: owner, relationship)
    owner.announce(relationship.property)
    recordAnchor(of: key, in: list, of: owner, relationship)
    // A member that a list which is not loaded does not show as an added one is in the store, and only placed here.
    list.insert(key, at: place, isStored: list.isLoaded || list.contains(key) ? nil : true)
    if list.isReordered { hasArrangements = true }
    noteListChanged(owner)
  }

  /// Records the position of a member before it changes, if changes are recorded.
  func recordAnchor(of key: Int64, in list: MemberList, of owner: ManagedObject, _ relationship: Relationship) {
    guard recorder != nil, let anchor = list.anchor(of: key) else { return }
    record(anchor, of: owner, relationship)
  }

  /// Records the positions of members that leave together, the last of each list first: positions are restored in the reverse
  /// order, so that each member finds the ones that it followed.
  func record(_ places: PlacesLeft) {
    for place in places.lists {
      for anchor in place.list.anchors(of: place.keys) { record(anchor, of: place.owner, place.relationship) }
    }
  }

  private func record(_ anchor: MemberAnchor, of owner: ManagedObject, _ relationship: Relationship) {
    recorder?.record(.place(RecordedPlace(owner: owner._key, relationship: relationship, anchor: anchor, saves: saves)))
  }

  /// Reorders the members of an ordered to-many by the first positions of their keys in a list.
  ///
  /// - Parameter placed: The members whose position is chosen here afterwards; nil to add those that are moved.
  func arrange(
    _ owner: ManagedObject, _ relationship: Relationship, _ keys: [Int64], placing placed: Set<Int64>? = nil
  ) {
    var seen: Set<Int64> = []
    let order = ContiguousArray(keys.filter { seen.insert($0).inserted })
    let list = list(of: owner, relationship)
    let former = list.keys
    guard order != former, order.count == former.count else { return }
    owner.announce(relationship.property)
    recorder?.record(
      .order(
        RecordedOrder(
          owner: owner, relationship: relationship, former: former, changed: order, placed: list.placed,
          saves: saves)))
    list.reorder(order, placing: placed)
    noteListChanged(owner)
  }

  // MARK: Returning

  /// Moves a member behind the one that it followed among the members that were last fetched or saved, wherever that one
  /// is by now.
  func putBack(_ member: Int64, _ owner: ManagedObject, _ relationship: Relationship) {
    let list = list(of: owner, relationship)
    guard list.isLoaded, let position = list.base.firstIndex(of: member) else { return }
    recordAnchor(of: member, in: list, of: owner, relationship)
    let before = list.base[..<position].suffix(MemberAnchor.most)
    list.move(
      to: MemberAnchor(
        key: member, before: ContiguousArray(before), isWhole: before.startIndex == 0, wasPlaced: false))
    list.settleOrder()
  }

  /// Restores the order in which members were last fetched or saved, with new members behind them.
  func rearrange(_ owner: ManagedObject, _ relationship: Relationship) {
    guard let list = owner.list(of: relationship.property), list.isLoaded else { return }
    let former = Set(list.base)
    arrange(
      owner, relationship, list.base.filter(list.contains) + list.keys.filter { !former.contains($0) }, placing: [])
    // Those that are hidden return there as well.
    list.settleOrder()
  }

  /// Restores positions, the one that was left last first. All members are in their lists again, so those whose positions are
  /// still to be restored are at no position that counts.
  func restorePositions(_ positions: [RecordedChange]) {
    var saved: Set<ObjectIdentifier> = []
    var lists: [ObjectIdentifier: MemberList] = [:]
    var left = PlacesToRestore(positions)
    for position in positions {
      let (list, recordedSaves): (MemberList, Int)
      switch position {
      case .place(let place):
        left.remove(place)
        guard let owner = map[place.owner] else { continue }
        (list, recordedSaves) = (self.list(of: owner, place.relationship), place.saves)
        guard list.isLoaded, list.holds(place.anchor.key) else { continue }
        restore(place, list, of: owner) { left.contains($0, in: place) }
      case .order(let order):
        (list, recordedSaves) = (self.list(of: order.owner, order.relationship), order.saves)
        guard list.isLoaded else { continue }
        reorder(list, order) { left.contains($0, in: order) }
      default: continue
      }
      lists[ObjectIdentifier(list)] = list
      if recordedSaves != saves { saved.insert(ObjectIdentifier(list)) }
    }
    for (id, list) in lists {
      // A position that was that of the store before a save differs from it afterwards.
      if saved.contains(id) { list.placeMoved() }
      list.settleOrder()
    }
  }

  private func restore(
    _ place: RecordedPlace, _ list: MemberList, of owner: ManagedObject, besides isToMove: (Int64) -> Bool
  ) {
    owner.announce(list.property)
    recordAnchor(of: place.anchor.key, in: list, of: owner, place.relationship)
    list.move(to: place.anchor, besides: isToMove)
    noteListChanged(owner)
  }

  private func reorder(_ list: MemberList, _ order: RecordedOrder, besides isToMove: (Int64) -> Bool) {
    let moved = MemberOrder.moved(in: order.former, since: order.changed)
    let settled = ContiguousArray(list.keys.filter { !isToMove($0) })
    let shown = Set(settled)
    // Nothing is placed behind members that are moved later.
    let keys =
      MemberOrder.merged(
        moved.intersection(shown), as: ContiguousArray(order.former.filter(shown.contains)), into: settled)
      + list.keys.filter(isToMove)
    let others = list.placed.union(list.hiddenKeys).subtracting(order.former)
    arrange(
      order.owner, order.relationship, Array(keys), placing: order.placed.intersection(list.keys).union(others))
  }
}

/// The members whose positions are still to be restored, with how often.
private struct PlacesToRestore {
  private struct List: Hashable {
    let owner: Int64
    let property: Int

    init(_ owner: Int64, _ relationship: Relationship) { (self.owner, property) = (owner, relationship.property) }
  }

  private var counts: [List: [Int64: Int]] = [:]

  init(_ positions: [RecordedChange]) {
    if positions.count < 2 { return }
    for case .place(let place) in positions {
      counts[List(place.owner, place.relationship), default: [:]][place.anchor.key, default: 0] += 1
    }
  }

  mutating func remove(_ place: RecordedPlace) {
    counts[List(place.owner, place.relationship)]?[place.anchor.key]? -= 1
  }

  func contains(_ key: Int64, in place: RecordedPlace) -> Bool { contains(key, List(place.owner, place.relationship)) }

  func contains(_ key: Int64, in order: RecordedOrder) -> Bool {
    contains(key, List(order.owner._key, order.relationship))
  }

  private func contains(_ key: Int64, _ list: List) -> Bool { counts[list]?[key, default: 0] ?? 0 > 0 }
}

/// The members that leave ordered to-manys together.
struct PlacesLeft {
  private(set) var lists: [(list: MemberList, owner: ManagedObject, relationship: Relationship, keys: Set<Int64>)] = []
  private var numbers: [ObjectIdentifier: Int] = [:]

  mutating func add(_ key: Int64, in list: MemberList, of owner: ManagedObject, _ relationship: Relationship) {
    guard relationship.isOrdered else { return }
    if let number = numbers[ObjectIdentifier(list)] {
      lists[number].keys.insert(key)
    } else {
      numbers[ObjectIdentifier(list)] = lists.count
      lists.append((list, owner, relationship, [key]))
    }
  }
}
