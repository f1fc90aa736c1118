import TrellisModel

/// Checks that each hierarchy has one `"history"`, and that `"keepInHistory"` and `"keepHistory"` are said of what has a
/// history.
enum Histories {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for (number, entity) in draft.entities.enumerated() {
      checkPlace(of: number, draft, findings)
      for attribute in entity.attributes where attribute.description.isKeptInHistory && attribute.derivation == nil {
        check(attribute, of: number, draft, findings)
      }
    }
    checkLimit(draft, findings)
  }

  // MARK: Entities

  private static func checkPlace(of number: Int, _ draft: Draft, _ findings: Findings) {
    guard let history = draft.entities[number].history, let root = draft.entities[number].ancestors.last else { return }
    let rootName = draft.entities[root].name.value
    let rootHistory = draft.entities[root].history
    findings.error(
      .optionMismatch, at: history.offset,
      "Entity '\(draft.entities[number].name.value)' is a child, but a hierarchy has one 'history', that of its root entity "
        + "'\(rootName)'; " + (rootHistory == nil ? "move it there." : "take it out."),
      notes: rootHistory.map { [("'history' of '\(rootName)' is here", $0.offset)] } ?? [])
  }

  // MARK: Attributes

  private static func check(_ attribute: AttributeDraft, of number: Int, _ draft: Draft, _ findings: Findings) {
    let path = draft.path(number, attribute.name.value)
    let place = attribute.place(of: "keepInHistory")
    if attribute.description.isTransient {
      findings.reportTransient("attribute '\(path)'", "keepInHistory", at: place)
    } else if attribute.description.isExternal {
      // That another type than data has none was reported.
      guard attribute.description.type == .data else { return }
      findings.error(
        .optionMismatch, at: place,
        "Attribute '\(path)' has 'externalStorage', so its large values lie in files, which the history does not keep for "
          + "deleted objects; take out one of 'externalStorage' and 'keepInHistory'.")
    } else if !draft.isMeantToHaveHistory(number) {
      reportNoHistory(path, of: number, at: place, draft, findings)
    }
  }

  private static func reportNoHistory(
    _ path: String, of number: Int, at place: Int, _ draft: Draft, _ findings: Findings
  ) {
    let root = draft.root(of: number)
    let name = draft.entities[root].name.value
    let descent = root == number ? "" : ", the root of '\(draft.entities[number].name.value)',"
    let fault = "Attribute '\(path)' has 'keepInHistory', but entity '\(name)'\(descent) has no history; "
    if let history = draft.entities[root].history {
      findings.error(
        .optionMismatch, at: place,
        fault + "change its 'history' to true or \"values\", or take out 'keepInHistory'.",
        notes: [("'history' of '\(name)' is here", history.offset)])
    } else {
      findings.error(
        .optionMismatch, at: place,
        fault + "write \"history\": true or \"values\" in '\(name)' or in the model, or take out 'keepInHistory'.",
        notes: draft.history.map { [("'history' of the model is here", $0.offset)] } ?? [])
    }
  }

  // MARK: Limit

  private static func checkLimit(_ draft: Draft, _ findings: Findings) {
    guard let limit = draft.keepHistory, !draft.entities.indices.contains(where: draft.isMeantToHaveHistory) else {
      return
    }
    let isForAll = draft.history.map { $0.value != .off } ?? false
    // There are no entities yet.
    if isForAll && draft.entities.isEmpty { return }
    findings.error(
      .optionMismatch, at: limit.offset,
      "The model has 'keepHistory', but no entity has a history"
        + (isForAll
          ? ": each root entity says \"history\": false; take it out of one of them, or take out 'keepHistory'."
          : "; write \"history\": true or \"values\" in the model or in an entity, or take out 'keepHistory'."),
      notes: draft.history.map { [("'history' of the model is here", $0.offset)] } ?? [])
  }
}

extension Draft {
  fileprivate func root(of entity: Int) -> Int { entities[entity].ancestors.last ?? entity }

  /// Whether a store records changes of the entity, or would if each `"history"` of its hierarchy was at the root.
  fileprivate func isMeantToHaveHistory(_ number: Int) -> Bool {
    if let history = entities[root(of: number)].history { return history.value != .off }
    let lineage = [number] + entities[number].ancestors
    if let misplaced = lineage.lazy.compactMap({ entities[$0].history }).first { return misplaced.value != .off }
    return (history?.value ?? .off) != .off
  }
}
