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
      key: key, isComing: false, wasLoaded: true, wasMember: true, place: nil, behind: 0, wasRemoved: false,
      wasUnmoved: false, order: order)
  }
}

extension MemberList {
  func trace(of key: Int64, isComing: Bool) -> MemberTrace {
    let place = place(of: key)
    let wasRemoved = removed.contains(key)
    return MemberTrace(
      key: key, isComing: isComing, wasLoaded: isLoaded,
      wasMember: place != nil || !(isLoaded || wasRemoved || isComing), place: place,
      behind: place.map { keys.count - 1 - $0 } ?? 0, wasRemoved: wasRemoved, wasUnmoved: unmoved.contains(key))
  }

  /// Where a key was before a change. What a list had noted as added before it was loaded stands at its end since.
  private func formerPlace(_ trace: MemberTrace) -> Int? {
    if let order = trace.order { return place(of: trace.key, as: order) }
    guard let place = trace.place else { return committedPlace(of: trace.key) }
    if trace.wasLoaded || !isLoaded { return place }
    return (trace.wasUnmoved ? committedPlace(of: trace.key) : nil) ?? max(0, keys.count - trace.behind)
  }

  /// Makes a key what it was before a change.
  func takeBack(_ trace: MemberTrace) {
    let isUntouched =
      !isLoaded && !trace.wasLoaded && (trace.isComing ? keys.contains(trace.key) : removed.contains(trace.key))
    if isUntouched {
      restoreNote(trace)
    } else if trace.wasMember {
      insert(trace.key, at: formerPlace(trace))
    } else {
      remove(trace.key)
    }
  }
}

extension ManagedObjectContext {
  /// Makes a member of a to-many what it was before a change.
  func takeBack(
    _ trace: MemberTrace, in list: MemberList, of owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: RelationshipInfo
  ) {
    recorder?.recordMember(trace.key, isComing: !trace.isComing, list: list, owner: owner, ownerKey, relationship)
    list.takeBack(trace)
    if let owner { noteListChanged(owner) }
  }
}
