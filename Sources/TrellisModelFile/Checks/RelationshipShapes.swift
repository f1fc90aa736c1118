import TrellisSchema

/// Checks that only to-many relationships have an order and counts, and that either both ends of a relationship are
/// stored or neither.
enum RelationshipShapes {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for (number, entity) in draft.entities.enumerated() {
      for relationship in entity.relationships {
        let path = draft.path(number, relationship.name.value)
        checkOrder(relationship, path, findings)
        checkCounts(relationship, path, findings)
        checkTransience(relationship, path, draft, findings)
      }
    }
  }

  private static func checkOrder(_ relationship: RelationshipDraft, _ path: String, _ findings: Findings) {
    guard relationship.description.isOrdered, !relationship.description.isToMany else { return }
    findings.error(
      .orderedToOne, at: relationship.place(of: "ordered"),
      "Relationship '\(path)' is ordered, but leads to one object only; add \"toMany\": true, or take out \"ordered\".")
  }

  private static func checkCounts(_ relationship: RelationshipDraft, _ path: String, _ findings: Findings) {
    let description = relationship.description
    for key in ["minCount", "maxCount"] where !description.isToMany && relationship.object[key] != nil {
      let remedy =
        key == "minCount"
        ? "a to-one that is not optional has its object at every save" : "a to-one has one object at most"
      findings.error(
        .countOnToOne, at: relationship.place(of: key),
        "Relationship '\(path)' has '\(key)', but leads to one object only; add \"toMany\": true, or take '\(key)' out: "
          + "\(remedy).")
    }
    if let minimum = description.minimumCount, let maximum = description.maximumCount, minimum > maximum {
      findings.error(
        .emptyCountRange, at: relationship.place(of: "minCount"),
        "Relationship '\(path)' must have at least \(minimum) objects and at most \(maximum); no count is both.",
        notes: [("'maxCount' is here", relationship.place(of: "maxCount"))])
    }
  }

  private static func checkTransience(
    _ relationship: RelationshipDraft, _ path: String, _ draft: Draft, _ findings: Findings
  ) {
    guard relationship.description.isTransient, let place = relationship.inverse else { return }
    let other = draft.entities[place.entity].relationships[place.index]
    guard !other.description.isTransient else { return }
    let otherPath = draft.path(place.entity, other.name.value)
    findings.error(
      .transientMismatch, at: relationship.place(of: "transient"),
      "Relationship '\(path)' is transient, but its inverse '\(otherPath)' is stored; make both transient, or neither.",
      notes: [("'\(otherPath)' is here", other.name.offset)])
  }
}
