import TrellisSchema

/// A property is declared once, by an entity or one of its ancestors, under a name that differs from all others by more
/// than case. Its name in Swift is its own too.
enum Redeclarations {
  private struct Declared {
    let thing: String
    let name: Located<String>
    let swiftName: String
    let entity: Int
  }

  /// The properties that an entity declares, by folded name and by name in Swift.
  private struct Scope {
    var byFoldedName: [String: Declared] = [:]
    var bySwiftName: [String: Declared] = [:]

    func clash(with property: Declared) -> Declared? {
      byFoldedName[property.name.value.lowercased()] ?? bySwiftName[property.swiftName]
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
      Declared(
        thing: "attribute", name: $0.name, swiftName: $0.description.swiftName ?? $0.name.value, entity: number)
    }
      + entity.relationships.map {
        Declared(
          thing: "relationship", name: $0.name, swiftName: $0.description.swiftName ?? $0.name.value, entity: number)
      }
  }

  private static func declare(
    _ property: Declared, in scope: inout Scope, _ draft: Draft, _ findings: Findings
  ) {
    if let first = scope.clash(with: property) { return report(property, first, draft, findings) }
    scope.byFoldedName[property.name.value.lowercased()] = property
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
    } else if property.name.value.lowercased() == first.name.value.lowercased() {
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
