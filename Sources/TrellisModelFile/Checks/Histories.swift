import TrellisModel

/// Checks that what the model says about histories has an effect: on root entities, on stored attributes of entities
/// with a history, and on models with a history.
enum Histories {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for entity in draft.entities {
      checkPlace(entity, draft, findings)
      let hasHistory = hasHistory(entity, draft)
      for attribute in entity.attributes where attribute.description.isKeptInHistory {
        check(attribute, of: entity, hasHistory, findings)
      }
    }
    guard let limit = draft.keepHistory, !draft.entities.contains(where: { hasHistory($0, draft) }) else { return }
    findings.error(
      .historyMismatch, at: limit.offset,
      "'keepHistory' limits the history of the model, but no entity has one; write \"history\": true, or take it out.")
  }

  /// All entities of a hierarchy are in one table, and so in one history.
  private static func checkPlace(_ entity: EntityDraft, _ draft: Draft, _ findings: Findings) {
    guard let history = entity.history, let root = entity.ancestors.last else { return }
    findings.error(
      .historyMismatch, at: history.offset,
      "Entity '\(entity.name.value)' has the history of its root entity '\(draft.entities[root].name.value)'; write "
        + "\"history\" there.")
  }

  private static func hasHistory(_ entity: EntityDraft, _ draft: Draft) -> Bool {
    let root = entity.ancestors.last.map { draft.entities[$0] } ?? entity
    return (root.history ?? draft.history)?.value ?? .off != .off
  }

  private static func check(
    _ attribute: AttributeDraft, of entity: EntityDraft, _ hasHistory: Bool, _ findings: Findings
  ) {
    let path = "attribute '\(entity.name.value).\(attribute.name.value)'"
    let place = attribute.place(of: "keepInHistory")
    if attribute.description.isTransient {
      findings.reportTransient(path, "keepInHistory", at: place)
    } else if attribute.description.isExternal {
      findings.error(
        .historyMismatch, at: place,
        "\(path.capitalizedFirst) may have its data in a file, which the history of a deleted object cannot hold; take "
          + "out 'keepInHistory' or 'externalStorage'.")
    } else if !hasHistory {
      findings.error(
        .historyMismatch, at: place,
        "\(path.capitalizedFirst) is to be kept of deleted objects, but '\(entity.name.value)' has no history; write "
          + "\"history\": true for the model or the entity, or take out 'keepInHistory'.")
    }
  }
}
