import TrellisModel

/// Checks that both ends of a relationship name each other. Sets the inverse of each relationship.
///
/// The entities must match exactly: if an ancestor of the destination declared the inverse, objects of the ancestor's
/// other children could appear where only the destination's objects are allowed.
enum Inverses {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let found = draft.entities.indices.map { entity in
      let pass = Pass(draft: draft, findings: findings, entity: entity)
      return draft.entities[entity].relationships.map { pass.inverse(of: $0) }
    }
    for (entity, inverses) in found.enumerated() {
      for (index, inverse) in inverses.enumerated() { draft.entities[entity].relationships[index].inverse = inverse }
    }
  }

  /// The check of one entity's relationships.
  private struct Pass {
    let draft: Draft
    let findings: Findings
    let entity: Int

    /// The inverse if it exists and matches; otherwise reports the problem and returns nil.
    func inverse(of relationship: RelationshipDraft) -> RelationshipPlace? {
      guard let name = relationship.description.inverse else {
        warnOfMissing(relationship)
        return nil
      }
      let destination = relationship.destination
      guard let place = place(of: name, from: destination) else {
        reportUnknown(name, of: relationship)
        return nil
      }
      let other = draft.entities[place.entity].relationships[place.index]
      let isItself = place.entity == entity && other.name.value == relationship.name.value
      if place.entity != destination {
        isItself ? reportSelf(relationship) : reportAncestor(place, of: relationship)
      } else if other.destination != entity {
        reportDestination(place, of: relationship)
      } else if other.description.inverse != relationship.name.value {
        reportAsymmetry(place, of: relationship)
      } else {
        return place
      }
      return nil
    }

    /// The relationship with this name that an entity declares or inherits.
    private func place(of name: String, from entity: Int) -> RelationshipPlace? {
      for candidate in [entity] + draft.entities[entity].ancestors {
        if case .relationship(let index)? = draft.entities[candidate].properties[name] {
          return RelationshipPlace(entity: candidate, index: index)
        }
      }
      return nil
    }

    private func path(_ relationship: RelationshipDraft) -> String { draft.path(entity, relationship.name.value) }

    private func path(_ place: RelationshipPlace) -> String {
      draft.path(place.entity, draft.entities[place.entity].relationships[place.index].name.value)
    }

    private func note(_ place: RelationshipPlace) -> Findings.Note {
      ("'\(path(place))' is here", draft.entities[place.entity].relationships[place.index].name.offset)
    }

    private func destinationName(_ relationship: RelationshipDraft) -> String {
      draft.entities[relationship.destination].name.value
    }

    /// The destination's relationships that lead back to this entity.
    private func waysBack(_ relationship: RelationshipDraft) -> [RelationshipDraft] {
      if findings.isFull { return [] }
      return draft.entities[relationship.destination].relationships.filter {
        $0.destination == entity && !(relationship.destination == entity && $0.name.value == relationship.name.value)
      }
    }

    // MARK: Findings

    private func warnOfMissing(_ relationship: RelationshipDraft) {
      let waysBack = waysBack(relationship)
      // The other end names this one. That is reported there, as an error.
      if waysBack.contains(where: { $0.description.inverse == relationship.name.value }) { return }
      let free = waysBack.filter { $0.description.inverse == nil }
      let destination = destinationName(relationship)
      let remedy =
        free.count == 1
        ? "add \"inverse\": \"\(free[0].name.value)\" here, and \"inverse\": \"\(relationship.name.value)\" there"
        : "declare a relationship to '\(draft.entities[entity].name.value)' in '\(destination)', and let both name each other"
      findings.warning(
        .missingInverse, at: relationship.name.offset,
        "Relationship '\(path(relationship))' has no inverse: no '\(destination)' shows the objects that refer to it; \(remedy).",
        notes: free.count == 1 ? [("'\(destination).\(free[0].name.value)' leads back", free[0].name.offset)] : [])
    }

    private func reportUnknown(_ name: String, of relationship: RelationshipDraft) {
      let destination = draft.entities[relationship.destination]
      let place = relationship.place(of: "inverse")
      if name == relationship.name.value { return reportSelf(relationship) }
      if case .attribute(let index)? = destination.properties[name] {
        findings.error(
          .unknownInverse, at: place,
          "Relationship '\(path(relationship))' names the inverse \(name.quoted), but '\(destination.name.value).\(name)' "
            + "is an attribute; declare a relationship to '\(draft.entities[entity].name.value)' there.",
          notes: [("the attribute is here", destination.attributes[index].name.offset)])
        return
      }
      var clause = findings.suggestions.clause(for: name, among: destination.relationships.lazy.map(\.name.value))
      if clause.isEmpty, let back = waysBack(relationship).first { clause = "; did you mean '\(back.name.value)'?" }
      findings.error(
        .unknownInverse, at: place,
        "Relationship '\(path(relationship))' names the inverse \(name.quoted), but '\(destination.name.value)' has no such "
          + "relationship\(clause.orFullStop)",
        notes: [("entity '\(destination.name.value)' is here", destination.name.offset)])
    }

    private func reportSelf(_ relationship: RelationshipDraft) {
      let back = waysBack(relationship).first
      let remedy =
        back.map { "; did you mean '\($0.name.value)'?" }
        ?? "; name a relationship of '\(destinationName(relationship))', or leave \"inverse\" out."
      findings.error(
        .selfInverse, at: relationship.place(of: "inverse"),
        "Relationship '\(path(relationship))' names itself as its inverse, which only a relationship to its own entity "
          + "'\(draft.entities[entity].name.value)' can\(remedy)",
        notes: back.map { [("'\(destinationName(relationship)).\($0.name.value)' leads back", $0.name.offset)] } ?? [])
    }

    private func reportAncestor(_ place: RelationshipPlace, of relationship: RelationshipDraft) {
      let owner = draft.entities[place.entity].name.value
      let destination = destinationName(relationship)
      findings.error(
        .inverseDestination, at: relationship.place(of: "inverse"),
        "Relationship '\(path(relationship))' leads to '\(destination)', but its inverse '\(path(place))' belongs to every "
          + "'\(owner)'; let '\(path(relationship))' lead to '\(owner)', or declare the inverse in '\(destination)'.",
        notes: [note(place)])
    }

    private func reportDestination(_ place: RelationshipPlace, of relationship: RelationshipDraft) {
      let other = draft.entities[place.entity].relationships[place.index]
      let name = draft.entities[entity].name.value
      findings.error(
        .inverseDestination, at: relationship.place(of: "inverse"),
        "Relationship '\(path(relationship))' names the inverse '\(path(place))', which leads to "
          + "'\(draft.entities[other.destination].name.value)' and not back to '\(name)'; let it lead to '\(name)', or name "
          + "another inverse.",
        notes: [("'\(path(place))' has its destination here", other.place(of: "destination"))])
    }

    private func reportAsymmetry(_ place: RelationshipPlace, of relationship: RelationshipDraft) {
      let other = draft.entities[place.entity].relationships[place.index]
      // The other end wrongly names itself. That is reported there.
      if other.description.inverse == other.name.value, place.entity != entity { return }
      let fact = other.description.inverse.map { "names \($0.quoted) as its inverse" } ?? "names no inverse"
      findings.error(
        .asymmetricInverse, at: relationship.place(of: "inverse"),
        "Relationship '\(path(relationship))' names the inverse '\(path(place))', but that one \(fact); write \"inverse\": "
          + "\"\(relationship.name.value)\" there, or change this end.",
        notes: [("'\(path(place))' is here", other.place(of: "inverse"))])
    }
  }
}

// MARK: - Relationship shapes

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

// MARK: - Delete rules

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
