import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Reverts a delete that is not saved yet: the object is restored together with everything that its delete cascaded
  /// to and with the relationships that it had.
  func undelete(_ object: ManagedObject) {
    do { try checkOwn(object, "was not brought back") } catch { return report(error) }
    guard let number = pending.deletions.closures.lastIndex(where: { $0.takes(object) }) else { return }
    reporting { try revertDelete(number) }
  }

  /// Reverts one of the unsaved deletes.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  private func revertDelete(_ number: Int) throws {
    let watch = LinkWatch(self, "an undelete", changing: pending.objects)
    defer { watch.end() }
    let closure = pending.deletions.closures.remove(at: number)
    pending.deletions.noteCascades()
    let revived = closure.victims.filter(\.isGone).map(\.object)
    for victim in closure.victims where victim.isGone {
      victim.object.announceAll()
      victim.object.state.revive(asInserted: victim.wasInserted)
      if victim.wasInserted { map.insert(victim.object, for: victim.object._key) }
      recorder?.record(.revived(victim.object))
      if victim.object.hasChangedLists { noteListChanged(victim.object) }
    }
    pending.dropRevived()
    for reference in closure.cleared.reversed() { try restore(reference) }
    try showAgain(revived)
    settleBacklog()
  }

  /// Restores a reference that a delete has cleared, unless either end was linked to another object meanwhile.
  private func restore(_ cleared: ClearedReference) throws {
    let (holder, relationship) = (cleared.holder, cleared.relationship)
    guard let victim = map[cleared.victim], victim.isAlive,
      holder.phase != .detached || pending.deletions.closure(of: holder._key) != nil
    else { return }
    let inverse = runtime.inverse(of: relationship)
    let present = knownReference(of: holder, relationship)
    if present == cleared.victim { return }
    let isTaken =
      try inverse.map { inverse in
        guard !inverse.isToMany else { return false }
        if inverse.isColumn { return ![0, holder._key].contains(victim._reference(inverse.property)) }
        return try partnerKey(of: victim, inverse) > 0
      } ?? false
    if present == 0 && !isTaken {
      setReference(of: holder, relationship, to: cleared.victim, placing: false)
    } else if let inverse {
      if inverse.isToMany {
        letGo(holder, relationship, victim, inverse)
      } else if inverse.isColumn, victim._reference(inverse.property) == holder._key {
        setReference(of: victim, inverse, to: 0)
      }
    }
  }
}
