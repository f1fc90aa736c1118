/// What a list held of one key before a change, to be taken back later, when the list may have been loaded or saved.
struct MemberTrace {
  let key: Int64
  /// Whether the change made it a member, or moved it; else it took it out.
  let isComing: Bool
  let wasLoaded: Bool
  /// Where it was among the list's keys.
  let place: Int?
  /// Whether the list had noted that it left.
  let wasRemoved: Bool
}

extension MemberList {
  func trace(of key: Int64, isComing: Bool) -> MemberTrace {
    MemberTrace(
      key: key, isComing: isComing, wasLoaded: isLoaded, place: place(of: key), wasRemoved: removed.contains(key))
  }

  /// Whether the key was a member before the change, as far as that is known; a list that is not loaded knows it from what
  /// was done.
  private func wasMember(_ trace: MemberTrace) -> Bool {
    if trace.place != nil { return true }
    return trace.wasLoaded || trace.wasRemoved ? false : !trace.isComing
  }

  /// Makes a key what it was before a change.
  func takeBack(_ trace: MemberTrace) {
    let isUntouched =
      !isLoaded && !trace.wasLoaded && (trace.isComing ? keys.contains(trace.key) : removed.contains(trace.key))
    if isUntouched {
      restoreNote(of: trace.key, wasAdded: trace.place != nil, wasRemoved: trace.wasRemoved)
    } else if wasMember(trace) {
      insert(trace.key, at: trace.place)
    } else {
      remove(trace.key)
    }
  }
}
