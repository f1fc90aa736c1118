import TrellisSchema

/// Checks that each property is declared once in an entity and its ancestors, with a name that differs from all others
/// by more than case, and with a unique name in Swift.
enum Redeclarations {
  private struct Declared {
    let thing: String
    let name: Located<String>
    let foldedName: String
    let swiftName: String
    let entity: Int

    init(_ thing: String, _ name: Located<String>, swiftName: String?, entity: Int) {
      self.thing = thing
      self.name = name
      foldedName = name.value.lowercased()
      self.swiftName = swiftName ?? name.value
      self.entity = entity
    }
  }

  /// The properties that an entity declares, by folded name and by Swift name.
  private struct Scope {
    var byFoldedName: [String: Declared] = [:]
    var bySwiftName: [String: Declared] = [:]

    func clash(with property: Declared) -> Declared? {
      byFoldedName[property.foldedName] ?? bySwiftName[property.swiftName]
    }
  }

  static func check(_ draft: inout Draft, _ findings: Findings) {
    var scopes = draft.entities.map { _ in Scope() }
    for (number, entity) in draft.entities.enumerated() {
      for property in properties(of: entity, number) { declare(property, in: &scopes[number], draft, findings) }
    }
    for (number, entity) in draft.entities.enumerated() where !entity.ancestors.isEmpty {
      checkCount(entity, draft, findings)
      for property in properties(of: entity, number) {
        let inherited = entity.ancestors.lazy.compactMap { scopes[$0].clash(with: property) }.first
        if let inherited { report(property, inherited, draft, findings) }
      }
    }
  }

  private static func properties(of entity: EntityDraft, _ number: Int) -> [Declared] {
    entity.attributes.map {
      Declared("attribute", $0.name, swiftName: $0.description.swiftName, entity: number)
    }
      + entity.relationships.map {
        Declared("relationship", $0.name, swiftName: $0.description.swiftName, entity: number)
      }
  }

  private static func declare(
    _ property: Declared, in scope: inout Scope, _ draft: Draft, _ findings: Findings
  ) {
    if let first = scope.clash(with: property) { return report(property, first, draft, findings) }
    scope.byFoldedName[property.foldedName] = property
    scope.bySwiftName[property.swiftName] = property
  }

  private static func checkCount(_ entity: EntityDraft, _ draft: Draft, _ findings: Findings) {
    let count = ([entity] + entity.ancestors.map { draft.entities[$0] }).reduce(0) {
      $0 + $1.attributes.count + $1.relationships.count
    }
    guard count > Limits.properties else { return }
    findings.error(
      .tooMany, at: entity.name.offset,
      "Entity '\(entity.name.value)' has \(count) properties, inherited ones included; there may be \(Limits.properties)."
    )
  }

  private static func report(_ property: Declared, _ first: Declared, _ draft: Draft, _ findings: Findings) {
    let path = draft.path(property.entity, property.name.value)
    let firstPath = draft.path(first.entity, first.name.value)
    let notes = [("\(first.thing) '\(firstPath)' is here", first.name.offset)]
    if property.name.value == first.name.value {
      let reason =
        property.entity == first.entity
        ? "has the name of \(first.thing) '\(firstPath)'; attributes and relationships share their names"
        : "redeclares what it inherits as \(first.thing) '\(firstPath)'; take it out, or choose another name"
      findings.error(
        .propertyRedeclared, at: property.name.offset, "\(property.thing.capitalizedFirst) '\(path)' \(reason).",
        notes: notes)
    } else if property.foldedName == first.foldedName {
      findings.error(
        .caseClash, at: property.name.offset,
        "'\(path)' and '\(firstPath)' differ only by case, which columns of a store do not; choose another name.",
        notes: notes)
    } else {
      findings.error(
        .nameClash, at: property.name.offset,
        "'\(path)' and '\(firstPath)' would both be called '\(property.swiftName)' in Swift; change one \"swiftName\".",
        notes: notes)
    }
  }
}
