import TrellisSchema

/// Checks that the types of a model have different names, and that entity names differ by more than case, because SQL
/// ignores case.
enum NameClashes {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    checkEntities(draft, findings)
    checkTypes(draft, findings)
    checkRenames(draft, findings)
  }

  private static func checkEntities(_ draft: Draft, _ findings: Findings) {
    var seen: [String: Located<String>] = [:]
    for entity in draft.entities {
      let folded = entity.name.value.lowercased()
      if let first = seen[folded] {
        findings.error(
          .caseClash, at: entity.name.offset,
          "Entities '\(first.value)' and '\(entity.name.value)' differ only by case, which tables of a store do not; "
            + "choose another name.", notes: [("'\(first.value)' is here", first.offset)])
      } else {
        seen[folded] = entity.name
      }
    }
  }

  private static func checkTypes(_ draft: Draft, _ findings: Findings) {
    var seen: [String: (thing: String, offset: Int)] = [:]
    let all =
      draft.entities.map { ("entity", $0.name) } + draft.enums.map { ("enum", $0.name) }
      + draft.codableTypes.map { ("Codable type", $0) }
    for (thing, name) in all {
      if let first = seen[name.value] {
        findings.error(
          .nameClash, at: name.offset,
          thing == first.thing
            ? "\(thing.capitalizedFirst) '\(name.value)' is listed twice; keep one of the two."
            : "\(thing.capitalizedFirst) '\(name.value)' has the name of \(first.thing) '\(name.value)'; types of one model "
              + "need different names.", notes: [("\(first.thing) '\(name.value)' is here", first.offset)])
      } else {
        seen[name.value] = (thing, name.offset)
      }
    }
  }

  /// Checks that each former name is used once, and is not the name of an existing entity or property.
  private static func checkRenames(_ draft: Draft, _ findings: Findings) {
    checkRenames(
      draft.entities.map { ($0.name, $0.renamedFrom) }, things: "entities", findings)
    for entity in draft.entities {
      let properties =
        entity.attributes.map { ($0.name, $0.description.renamedFrom.located(at: $0.place(of: "renamedFrom"))) }
        + entity.relationships.map { ($0.name, $0.description.renamedFrom.located(at: $0.place(of: "renamedFrom"))) }
      checkRenames(properties, things: "properties of '\(entity.name.value)'", findings)
    }
  }

  private static func checkRenames(
    _ all: [(name: Located<String>, former: Located<String>?)], things: String, _ findings: Findings
  ) {
    guard all.contains(where: { $0.former != nil }) else { return }
    var taken: [String: Int] = [:]
    for (name, _) in all { taken[name.value] = name.offset }
    for case (let name, let former?) in all {
      if former.value == name.value {
        findings.error(
          .renameClash, at: former.offset,
          "'\(name.value)' has \"renamedFrom\" with its own name; write its former name there, or take \"renamedFrom\" out."
        )
      } else if let first = taken[former.value] {
        findings.error(
          .renameClash, at: former.offset,
          "'\(name.value)' cannot be renamed from \(former.value.quoted): another of the \(things) has, or had, that name.",
          notes: [("it is here", first)])
      }
      taken[former.value] = former.offset
    }
  }
}

extension String? {
  fileprivate func located(at offset: Int) -> Located<String>? { map { Located($0, at: offset) } }
}
