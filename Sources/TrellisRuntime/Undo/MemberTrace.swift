/// The state of one key in a list before a change, to be restored later, when the list may have been loaded or saved.
struct MemberTrace {
  let key: Int64
  /// Whether the change added or moved the member; otherwise it removed it.
  let isComing: Bool
  let wasLoaded: Bool
  /// Whether the key was a member. For a list that is not loaded this is inferred from the change.
  let wasMember: Bool
  /// The position among the list's keys; nil if the key was not among them or the position is unknown.
  let place: Int?
  /// The number of keys behind it.
  let behind: Int
  /// Whether the key was a member in the store, as far as the list knew.
  let wasStored: Bool
  /// The number of saves of the context at that time.
  let saves: Int
  /// Whether the list had noted the key as removed.
  let wasRemoved: Bool
  /// Whether the list had noted the key as a member that keeps its position if the store has it.
  let wasUnmoved: Bool
  /// The members in their order, if these are kept.
  var order: ContiguousArray<Int64>?
}

extension MemberTrace {
  /// The trace of a deleted member, as if a loaded list still contained it.
  init(ofDeleted key: Int64, in order: ContiguousArray<Int64>) {
    self.init(
      key: key, isComing: false, wasLoaded: true, wasMember: true, place: nil, behind: 0, wasStored: true, saves: -1,
      wasRemoved: false, wasUnmoved: false, order: order)
  }
}

extension MemberList {
  /// - Parameter saves: The number of saves of the context.
  func trace(of key: Int64, isComing: Bool, saves: Int) -> MemberTrace {
    let place = place(of: key)
    let wasRemoved = removed.contains(key)
    return MemberTrace(
      key: key, isComing: isComing, wasLoaded: isLoaded,
      wasMember: place != nil || !(isLoaded || wasRemoved || isComing), place: place,
      behind: place.map { keys.count - 1 - $0 } ?? 0, wasStored: isLoaded && (committed ?? keys).contains(key),
      saves: saves, wasRemoved: wasRemoved, wasUnmoved: unmoved.contains(key))
  }

  /// The position of a key before a change. Keys that the list had noted as added before it was loaded are at its end
  /// since.
  private func formerPlace(_ trace: MemberTrace) -> Int? {
    if let order = trace.order { return place(of: trace.key, as: order) }
    guard let place = trace.place else { return committedPlace(of: trace.key) }
    if trace.wasLoaded || !isLoaded { return place }
    return (trace.wasUnmoved ? committedPlace(of: trace.key) : nil) ?? max(0, keys.count - trace.behind)
  }

  /// Restores the state of a key before a change.
  ///
  /// - Parameter saves: The number of saves of the context.
  func takeBack(_ trace: MemberTrace, saves: Int) {
    if trace.wasStored && !trace.isComing && trace.saves == saves && isTakenOutByOthers(trace.key) { return }
    let isUntouched =
      !isLoaded && !trace.wasLoaded && (trace.isComing ? keys.contains(trace.key) : removed.contains(trace.key))
    if isUntouched {
      restoreNote(trace)
    } else if trace.isComing && trace.wasMember && !contains(trace.key) {
      // A move of a member that another context has removed since.
    } else if trace.wasMember {
      insert(trace.key, at: formerPlace(trace))
    } else {
      remove(trace.key)
    }
  }
}

extension MemberList {
  /// Whether a member of the store was removed in this context and is no longer a member in the store.
  ///
  /// A list that is not loaded and has no note of a member is as the store has it.
  private func isTakenOutByOthers(_ key: Int64) -> Bool {
    if isLoaded { return !contains(key) && committed?.contains(key) != true }
    return !removed.contains(key) && !contains(key)
  }
}

extension ManagedObjectContext {
  /// Restores the state of a member of a to-many before a change.
  func takeBack(
    _ trace: MemberTrace, in list: MemberList, of owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: RelationshipInfo
  ) {
    recordMember(trace.key, isComing: !trace.isComing, list: list, owner: owner, ownerKey, relationship)
    list.takeBack(trace, saves: saveCount)
    if let owner { noteListChanged(owner) }
  }
}
