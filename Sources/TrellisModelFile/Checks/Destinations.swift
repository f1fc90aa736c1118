import TrellisSchema

/// Checks that the destination of each relationship is an entity of the model. Sets its number.
enum Destinations {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for entity in draft.entities.indices {
      for index in draft.entities[entity].relationships.indices {
        let relationship = draft.entities[entity].relationships[index]
        if let number = draft.entityNumbers[relationship.description.destination] {
          draft.entities[entity].relationships[index].destination = number
        } else {
          report(relationship, draft.path(entity, relationship.name.value), draft, findings)
        }
      }
    }
  }

  private static func report(_ relationship: RelationshipDraft, _ path: String, _ draft: Draft, _ findings: Findings) {
    let name = relationship.description.destination
    let remedy =
      draft.enumNumbers[name] != nil
      ? "; '\(name)' is an enum: declare '\(relationship.name.value)' under \"attributes\"."
      : findings.suggestions.clause(for: name, among: draft.entities.lazy.map(\.name.value)).orFullStop
    findings.error(
      .unknownEntity, at: relationship.place(of: "destination"),
      "The destination of relationship '\(path)' is \(name.quoted), but there is no such entity\(remedy)")
  }
}
