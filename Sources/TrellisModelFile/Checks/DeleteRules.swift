import TrellisSchema

/// Warns of rules that can be declared but hardly satisfied: a required reference that a delete must clear, or a
/// required circle in which the first object needs another one before it.
enum DeleteRules {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for (number, entity) in draft.entities.enumerated() {
      for relationship in entity.relationships where !relationship.description.isTransient {
        checkNullify(relationship, number, draft, findings)
        checkCircle(relationship, number, draft, findings)
      }
    }
  }

  private static func checkNullify(
    _ relationship: RelationshipDraft, _ entity: Int, _ draft: Draft, _ findings: Findings
  ) {
    guard relationship.description.deleteRule == .nullify, let place = relationship.inverse else { return }
    let other = draft.entities[place.entity].relationships[place.index]
    guard !other.description.isToMany, !other.description.isOptional else { return }
    let path = draft.path(entity, relationship.name.value)
    let otherPath = draft.path(place.entity, other.name.value)
    let rule =
      relationship.object["deleteRule"] == nil
      ? "has the delete rule nullify by default" : "has the delete rule nullify"
    findings.warning(
      .unsatisfiableDelete, at: relationship.place(of: "deleteRule"),
      "Relationship '\(path)' \(rule), but its inverse '\(otherPath)' is required: while it leads anywhere, no "
        + "'\(draft.entities[entity].name.value)' can be deleted and saved; write \"deleteRule\": \"cascade\" or \"deny\", or "
        + "make '\(otherPath)' optional.",
      notes: [("'\(otherPath)' is here", other.name.offset)])
  }

  private static func checkCircle(
    _ relationship: RelationshipDraft, _ entity: Int, _ draft: Draft, _ findings: Findings
  ) {
    let description = relationship.description
    guard !description.isToMany, !description.isOptional, relationship.destination == entity,
      description.inverse != description.name
    else { return }
    let name = draft.entities[entity].name.value
    findings.warning(
      .requiredCircle, at: relationship.name.offset,
      "Relationship '\(name).\(description.name)' is required and leads to its own entity: the first '\(name)' can only be "
        + "saved if it refers to itself; add \"optional\": true.")
  }
}
