import TrellisModel

/// Checks that each `"sync"` is said of what replicas exchange as a value, with a decision that its type has.
enum SyncWords {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    var places: [Int] = []
    draft.changeDeclaredAttributes { attribute, owner in
      guard attribute.object["sync"] != nil, attribute.derivation == nil else { return }
      places.append(attribute.place(of: "sync"))
      check(attribute, "\(owner).\(attribute.name.value)", findings)
    }
    for (number, entity) in draft.entities.enumerated() {
      if let sync = entity.sync {
        places.append(sync.offset)
        checkEntity(number, sync, draft, findings)
      }
      for relationship in entity.relationships where relationship.object["sync"] != nil {
        places.append(relationship.place(of: "sync"))
        check(relationship, draft.path(number, relationship.name.value), draft, findings)
      }
    }
    if let first = places.min() { checkHistory(draft, first, findings) }
  }

  // MARK: Places

  private static func checkEntity(_ number: Int, _ sync: Located<SyncDecision>, _ draft: Draft, _ findings: Findings) {
    guard sync.value == .sum else { return }
    let entity = draft.entities[number]
    let numbers = entity.attributes.filter { $0.description.type.hasSum && !$0.isField }.map(\.name.value)
    let place = numbers.isEmpty ? "take it out" : "write it at \(numbers.listed)"
    findings.error(
      .optionMismatch, at: sync.offset,
      "'sync' of entity '\(entity.name.value)' is \"sum\", but only numbers are added; \(place).")
  }

  private static func check(_ attribute: AttributeDraft, _ path: String, _ findings: Findings) {
    let place = attribute.place(of: "sync")
    let type = attribute.description.type
    if attribute.description.isTransient {
      findings.reportTransient("attribute '\(path)'", "sync", at: place)
    } else if attribute.description.sync == .sum, attribute.hasType, !type.hasSum {
      findings.error(
        .optionMismatch, at: place,
        "Attribute '\(path)' is of the type \(attribute.description.typeSpelling), of which there is no sum; 'conflict' "
          + "may be \(SyncDecision.allCases.filter { $0 != .sum }.map(\.rawValue).listed).")
    }
  }

  private static func check(
    _ relationship: RelationshipDraft, _ path: String, _ draft: Draft, _ findings: Findings
  ) {
    let place = relationship.place(of: "sync")
    let description = relationship.description
    if description.isTransient {
      findings.reportTransient("relationship '\(path)'", "sync", at: place)
    } else if description.isToMany {
      let inverse = relationship.inverse.map { draft.entities[$0.entity].relationships[$0.index].description }
      let remedy =
        inverse.map { $0.isToMany ? "take it out" : "write it at the inverse '\($0.name)', or take it out" }
        ?? "take it out"
      findings.error(
        .optionMismatch, at: place,
        "Relationship '\(path)' is to-many, whose members are added and removed one by one, so there is no conflict that "
          + "'sync' could decide; \(remedy).")
    } else if description.sync == .sum {
      findings.error(
        .optionMismatch, at: place,
        "Relationship '\(path)' has no number, of which there is a sum; 'conflict' may be "
          + "\(SyncDecision.allCases.filter { $0 != .sum }.map(\.rawValue).listed).")
    }
  }

  // MARK: History

  /// A replica knows by the history of all entities what it has to send.
  private static func checkHistory(_ draft: Draft, _ place: Int, _ findings: Findings) {
    if let other = draft.entities.lazy.compactMap(\.history).first(where: { $0.value != .values }) {
      findings.error(
        .optionMismatch, at: place,
        "'sync' needs a history with values of each entity; change this 'history' to \"values\", or take out 'sync'.",
        notes: [("this 'history' is not \"values\"", other.offset)])
    } else if draft.history?.value != .values,
      draft.entities.contains(where: { $0.ancestors.isEmpty && $0.history == nil })
    {
      findings.error(
        .optionMismatch, at: place,
        "'sync' needs a history with values of each entity; write \"history\": \"values\" in the model, or take out "
          + "'sync'.",
        notes: draft.history.map { [("'history' of the model is here", $0.offset)] } ?? [])
    }
  }
}
