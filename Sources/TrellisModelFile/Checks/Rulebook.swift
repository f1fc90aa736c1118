import TrellisModel

/// The checks in their order. Each check relies only on earlier ones. After a stage with errors the checking stops,
/// because later stages would only report the same errors in other words.
enum Rulebook {
  typealias Pass = @Sendable (inout Draft, Findings) -> Void

  static let stages: [[Pass]] = [
    // Names, and parents of entities.
    [Names.check, NameClashes.check, EnumCases.check, Parents.check],
    // The type or destination of each property.
    [AttributeTypes.check, Composites.check, Redeclarations.check, Destinations.check],
    // Consistency of properties with each other and with their own rules.
    [
      Inverses.check, AttributeRulesCheck.check, StoredOnly.check, Histories.check, Defaults.check, Backfills.check,
      AbstractEntities.check, SyncWords.check,
    ],
    // Checks that rely on matching inverses.
    [
      RelationshipShapes.check, DeleteRules.check, KeysAndIndexes.check, FetchRequests.check, FetchPredicates.check,
      DerivedAttributes.check,
      JSONMappings.check,
    ],
  ]

  /// Runs the checks; returns whether the model passes all of them.
  static func check(_ draft: inout Draft, _ findings: Findings) -> Bool {
    for stage in stages {
      for pass in stage { pass(&draft, findings) }
      guard findings.errorCount == 0 else { return false }
    }
    return true
  }
}

// MARK: - Abstract entities

/// Checks that each abstract entity has a concrete descendant.
enum AbstractEntities {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    var hasObjects = draft.entities.map { !($0.isAbstract?.value ?? false) }
    for (number, entity) in draft.entities.enumerated() where !(draft.entities[number].isAbstract?.value ?? false) {
      for ancestor in entity.ancestors { hasObjects[ancestor] = true }
    }
    for (number, entity) in draft.entities.enumerated() where !hasObjects[number] {
      findings.warning(
        .abstractWithoutChildren, at: entity.isAbstract?.offset ?? entity.name.offset,
        "Entity '\(entity.name.value)' is abstract and no other entity is its child, so there can be no objects of it; "
          + "declare a child, or take out \"abstract\".")
    }
  }
}

// MARK: - Parents

/// Checks that each parent is an entity of the model, and that no entity is its own ancestor. Sets each entity's
/// ancestors.
enum Parents {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for number in draft.entities.indices { findParent(of: number, &draft, findings) }
    let order = orderFromRoots(draft)
    reportCycles(draft, reached: Set(order), findings)
    for number in order {
      guard let parent = draft.entities[number].parent else { continue }
      let ancestors = [parent] + draft.entities[parent].ancestors
      guard ancestors.count < Limits.ancestors else {
        reportDepth(draft.entities[number], findings)
        return
      }
      draft.entities[number].ancestors = ancestors
    }
  }

  private static func findParent(of number: Int, _ draft: inout Draft, _ findings: Findings) {
    guard let name = draft.entities[number].parentName else { return }
    if let parent = draft.entityNumbers[name.value] { return draft.entities[number].parent = parent }
    findings.error(
      .unknownEntity, at: name.offset,
      "The parent of entity '\(draft.entities[number].name.value)' is \(name.value.quoted), but there is no such entity"
        + findings.suggestions.clause(for: name.value, among: draft.entities.lazy.map(\.name.value)).orFullStop)
  }

  /// The entities with parents before children. Entities in or below a cycle are left out.
  private static func orderFromRoots(_ draft: Draft) -> [Int] {
    var children: [[Int]] = draft.entities.map { _ in [] }
    var order: [Int] = []
    for (number, entity) in draft.entities.enumerated() {
      if let parent = entity.parent { children[parent].append(number) } else { order.append(number) }
    }
    var next = 0
    while next < order.count {
      order += children[order[next]]
      next += 1
    }
    return order
  }

  private static func reportCycles(_ draft: Draft, reached: Set<Int>, _ findings: Findings) {
    var visited = reached
    for start in draft.entities.indices where !visited.contains(start) {
      var path: [Int] = []
      var current = start
      while visited.insert(current).inserted, let parent = draft.entities[current].parent {
        path.append(current)
        current = parent
      }
      if let first = path.firstIndex(of: current) { report(cycle: Array(path[first...]), draft, findings) }
    }
  }

  private static func report(cycle: [Int], _ draft: Draft, _ findings: Findings) {
    let names = cycle.prefix(8).map { "'\(draft.entities[$0].name.value)'" } + (cycle.count > 8 ? ["…"] : [])
    let entity = draft.entities[cycle[0]]
    findings.error(
      .parentCycle, at: entity.parentName?.offset ?? entity.name.offset,
      cycle.count == 1
        ? "Entity \(names[0]) is its own parent; take out \"parent\"."
        : "The parents of \(names.joined(separator: ", ")) form a circle; take out one \"parent\".",
      notes: cycle.dropFirst().prefix(7).map { number in
        let member = draft.entities[number]
        return ("'\(member.name.value)' names its parent here", member.parentName?.offset ?? member.name.offset)
      })
  }

  private static func reportDepth(_ entity: EntityDraft, _ findings: Findings) {
    findings.error(
      .parentChainTooLong, at: entity.name.offset,
      "Entity '\(entity.name.value)' has more than \(Limits.ancestors - 1) ancestors; flatten the hierarchy.")
  }
}

// MARK: - Redeclarations

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
      // The column of a field is called after its path.
      foldedName = name.value.lowercased().replacing(".", with: "_")
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
      + entity.composites.filter { !$0.description.isOptional }.map {
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
        property.name.value.contains(".") || first.name.value.contains(".")
          ? "'\(path)' and '\(firstPath)' would have the same column '\(property.foldedName)'; choose another name."
          : "'\(path)' and '\(firstPath)' differ only by case, which columns of a store do not; choose another name.",
        notes: notes)
    } else {
      findings.error(
        .nameClash, at: property.name.offset,
        "'\(path)' and '\(firstPath)' would both be called '\(property.swiftName)' in Swift; change one \"swiftName\".",
        notes: notes)
    }
  }
}

// MARK: - Destinations

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
      : decoratedRemedy(name, draft)
        ?? findings.suggestions.clause(for: name, among: draft.entities.lazy.map(\.name.value)).orFullStop
    findings.error(
      .unknownEntity, at: relationship.place(of: "destination"),
      "The destination of relationship '\(path)' is \(name.quoted), but there is no such entity\(remedy)")
  }

  /// The remedy for the name of an entity with the signs of a type in Swift: `[Image]`, `Image[]`, `Image?`.
  private static func decoratedRemedy(_ name: String, _ draft: Draft) -> String? {
    let bare = name.filter { !"[]?".contains($0) }
    guard bare != name, draft.entityNumbers[bare] != nil else { return nil }
    let words = name.contains("[") ? "\"toMany\": true" : "\"optional\": true"
    return "; write \"destination\": \"\(bare)\", \(words)."
  }
}
