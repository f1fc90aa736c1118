/// What a list held of one key before a change, to be taken back later, when the list may have been loaded or saved.
struct MemberTrace {
  let key: Int64
  /// Whether the change made it a member, or moved it; else it took it out.
  let isComing: Bool
  let wasLoaded: Bool
  /// Whether it was a member; of a list that is not loaded this is known from what was done.
  let wasMember: Bool
  /// Where it was among the list's keys; nil where that is not known, too.
  let place: Int?
  /// How many keys were behind it.
  let behind: Int
  /// Whether it was a member in the store, as far as the list knew.
  let wasStored: Bool
  /// How often the context had been saved.
  let saves: Int
  /// Whether the list had noted that it left.
  let wasRemoved: Bool
  /// Whether the list had noted it as one that stays where it is if the store has it.
  let wasUnmoved: Bool
  /// The members among which it was, where these are kept.
  var order: ContiguousArray<Int64>?
}

extension MemberTrace {
  /// What a loaded list would hold if a member were not deleted.
  init(ofDeleted key: Int64, in order: ContiguousArray<Int64>) {
    self.init(
      key: key, isComing: false, wasLoaded: true, wasMember: true, place: nil, behind: 0, wasStored: true, saves: -1,
      wasRemoved: false, wasUnmoved: false, order: order)
  }
}

extension MemberList {
  /// - Parameter saves: How often the context has been saved.
  func trace(of key: Int64, isComing: Bool, saves: Int) -> MemberTrace {
    let place = place(of: key)
    let wasRemoved = removed.contains(key)
    return MemberTrace(
      key: key, isComing: isComing, wasLoaded: isLoaded,
      wasMember: place != nil || !(isLoaded || wasRemoved || isComing), place: place,
      behind: place.map { keys.count - 1 - $0 } ?? 0, wasStored: isLoaded && (committed ?? keys).contains(key),
      saves: saves, wasRemoved: wasRemoved, wasUnmoved: unmoved.contains(key))
  }

  /// Where a key was before a change. What a list had noted as added before it was loaded stands at its end since.
  private func formerPlace(_ trace: MemberTrace) -> Int? {
    if let order = trace.order { return place(of: trace.key, as: order) }
    guard let place = trace.place else { return committedPlace(of: trace.key) }
    if trace.wasLoaded || !isLoaded { return place }
    return (trace.wasUnmoved ? committedPlace(of: trace.key) : nil) ?? max(0, keys.count - trace.behind)
  }

  /// Makes a key what it was before a change.
  ///
  /// - Parameter saves: How often the context has been saved.
  func takeBack(_ trace: MemberTrace, saves: Int) {
    if trace.wasStored && !trace.isComing && trace.saves == saves && isTakenOutByOthers(trace.key) { return }
    let isUntouched =
      !isLoaded && !trace.wasLoaded && (trace.isComing ? keys.contains(trace.key) : removed.contains(trace.key))
    if isUntouched {
      restoreNote(trace)
    } else if trace.isComing && trace.wasMember && !contains(trace.key) {
      // A move, of a member that others have taken out since.
    } else if trace.wasMember {
      insert(trace.key, at: formerPlace(trace))
    } else {
      remove(trace.key)
    }
  }
}

extension MemberList {
  /// Whether a member of the store was taken out here, and is no member of the store any more.
  ///
  /// A list that is not loaded and has no note of a member is as the store has it.
  private func isTakenOutByOthers(_ key: Int64) -> Bool {
    if isLoaded { return !contains(key) && committed?.contains(key) != true }
    return !removed.contains(key) && !contains(key)
  }
}

extension ManagedObjectContext {
  /// Makes a member of a to-many what it was before a change.
  func takeBack(
    _ trace: MemberTrace, in list: MemberList, of owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: RelationshipInfo
  ) {
    recorder?.recordMember(
      trace.key, isComing: !trace.isComing, list: list, owner: owner, ownerKey, relationship, saves: saveCount)
    list.takeBack(trace, saves: saveCount)
    if let owner { noteListChanged(owner) }
  }
}
