/// What a delete does at once. A deny does nothing until the save.
extension ReferenceGraph {
  /// - Parameter saved: the objects that the store has; others are forgotten as if they had never been.
  mutating func delete(_ object: ID, saved: Set<ID>) {
    guard isLiving(object) else { return }
    let victims = cascade(from: object)
    for victim in victims {
      for shape in shapes(of: victim) {
        for partner in reading(victim, shape) where !victims.contains(partner) {
          unlinkPartners(partner, from: victim, shape, isSaved: saved.contains(victim))
        }
      }
      clearOneWayReferences(to: victim, isSaved: saved.contains(victim))
    }
    for victim in victims {
      if saved.contains(victim) { markDeleted(victim) } else { forget(victim) }
    }
  }

  private func cascade(from object: ID) -> Set<ID> {
    var victims: Set<ID> = [object]
    var waiting = [object]
    while let victim = waiting.popLast() {
      for shape in shapes(of: victim) where shape.rule == .cascade {
        for partner in reading(victim, shape) where victims.insert(partner).inserted { waiting.append(partner) }
      }
    }
    return victims
  }

  /// A survivor's to-many loses the victim whatever the rule. A survivor's to-one keeps it, hidden, where nothing is done
  /// about it; a victim that no store has cannot be denied.
  private mutating func unlinkPartners(_ partner: ID, from victim: ID, _ shape: Shape, isSaved: Bool) {
    guard let inverse = shapes.inverse(of: shape) else { return }
    let keeps = shape.rule == .noAction || (shape.rule == .deny && isSaved)
    if inverse.isToMany || !keeps { drop(partner, inverse, victim) }
  }

  /// A required one to a saved object stays, hidden, and blocks the save.
  private mutating func clearOneWayReferences(to victim: ID, isSaved: Bool) {
    for holder in living {
      for shape in shapes(of: holder) where shape.inverse == nil && !(shape.isRequired && isSaved) {
        drop(holder, shape, victim)
      }
    }
  }
}
