import TrellisModel

/// Checks that unique keys and indexes name properties that are stored in the row, each once.
enum KeysAndIndexes {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for number in draft.entities.indices {
      let entity = draft.entities[number]
      let lookup = PropertyLookup(draft: draft, findings: findings)
      check(entity.uniqueKeys, "unique", isSigned: false, number, lookup)
      check(entity.indexes, "indexes", isSigned: true, number, lookup)
    }
  }

  private static func check(
    _ lists: [Located<[Located<String>]>], _ key: String, isSigned: Bool, _ entity: Int, _ lookup: PropertyLookup
  ) {
    var seen: [[String]: Int] = [:]
    for list in lists {
      let names = list.value.map(\.value)
      if let first = seen[names] {
        lookup.findings.error(
          .repeatedEntry, at: list.offset,
          "'\(key)' of entity '\(lookup.draft.entities[entity].name.value)' has \(names.listed) twice; keep one of the two.",
          notes: [("the first is here", first)])
        continue
      }
      seen[names] = list.offset
      checkNames(list.value, key, isSigned: isSigned, entity, lookup)
    }
  }

  private static func checkNames(
    _ names: [Located<String>], _ key: String, isSigned: Bool, _ entity: Int, _ lookup: PropertyLookup
  ) {
    var seen: Set<String> = []
    for name in names {
      let property = isSigned ? name.value.withoutSign : name.value
      let user = "'\(key)' of entity '\(lookup.draft.entities[entity].name.value)'"
      guard seen.insert(property).inserted else {
        lookup.findings.error(
          .repeatedEntry, at: name.offset, "\(user) names \(property.quoted) twice in one list; take one out.")
        continue
      }
      guard let found = lookup.property(property, of: entity, user: user, at: name.offset) else { continue }
      lookup.requireColumn(found, user: user, at: name.offset, allowsDerived: isSigned)
    }
  }
}

/// Finds properties of an entity and its ancestors by name.
struct PropertyLookup {
  struct Found {
    let entity: Int
    let place: PropertyPlace
  }

  let draft: Draft
  let findings: Findings

  func property(_ name: String, of entity: Int, user: String, at offset: Int) -> Found? {
    let lineage = [entity] + draft.entities[entity].ancestors
    for candidate in lineage {
      if let place = draft.entities[candidate].properties[name] { return Found(entity: candidate, place: place) }
    }
    if lineage.contains(where: { draft.entities[$0].groups.contains(name) }) {
      let fields = lineage.flatMap { draft.entities[$0].attributes }.map(\.name.value).filter {
        $0.hasPrefix(name + ".")
      }
      findings.error(
        .unknownProperty, at: offset,
        "\(user) names \(name.quoted), which is a composite; name its fields: \(fields.listed).")
      return nil
    }
    let names = lineage.lazy.flatMap { ancestor in
      draft.entities[ancestor].attributes.map(\.name.value) + draft.entities[ancestor].relationships.map(\.name.value)
    }
    findings.error(
      .unknownProperty, at: offset,
      "\(user) names \(name.quoted), but '\(draft.entities[entity].name.value)' has no such property"
        + findings.suggestions.clause(for: name, among: names).orFullStop)
    return nil
  }

  /// The name of the property that a path begins with, which for a field of a composite takes several steps.
  func takeName(from steps: inout ArraySlice<String>, of entity: Int) -> String {
    var name = steps.popFirst() ?? ""
    let lineage = [entity] + draft.entities[entity].ancestors
    while let next = steps.first, lineage.contains(where: { draft.entities[$0].groups.contains(name) }) {
      name += "." + next
      steps.removeFirst()
    }
    return name
  }

  /// Reports a property that is not stored in the row.
  ///
  /// - Parameter allowsDerived: whether a stored derived attribute counts as one in the row.
  func requireColumn(_ found: Found, user: String, at offset: Int, allowsDerived: Bool = false) {
    let reason: String
    let declaration: Located<String>
    var remedy = "name a property that lies in the row"
    switch found.place {
    case .attribute(let index):
      let attribute = draft.entities[found.entity].attributes[index]
      if allowsDerived, attribute.description.storesDerivation { return }
      guard let why = whyNotInRow(attribute.description) else { return }
      if allowsDerived, attribute.derivation != nil { remedy = "write \"stored\": true there" }
      (reason, declaration) = (why, attribute.name)
    case .relationship(let index):
      let relationship = draft.entities[found.entity].relationships[index]
      guard let why = whyNotInRow(relationship, RelationshipPlace(entity: found.entity, index: index)) else { return }
      (reason, declaration) = (why, relationship.name)
      if !relationship.description.isToMany, !relationship.description.isTransient { remedy = "take it out" }
    }
    let path = draft.path(found.entity, declaration.value)
    findings.error(
      .noColumn, at: offset, "\(user) names '\(path)', which \(reason); \(remedy).",
      notes: [("'\(path)' is here", declaration.offset)])
  }

  private func whyNotInRow(_ attribute: AttributeDescription) -> String? {
    if attribute.derivation != nil { return "is derived" }
    if attribute.isTransient { return "is transient and lies in no store" }
    return attribute.isExternal ? "may lie in a file" : nil
  }

  private func whyNotInRow(_ relationship: RelationshipDraft, _ place: RelationshipPlace) -> String? {
    if relationship.description.isTransient { return "is transient and lies in no store" }
    if relationship.description.isToMany { return "leads to many objects" }
    guard let inverse = relationship.inverse, inverse != place else { return nil }
    let other = draft.entities[inverse.entity].relationships[inverse.index]
    guard !other.description.isToMany, !liesHere(relationship, place, other, inverse) else { return nil }
    return "lies at its other end, '\(draft.path(inverse.entity, other.name.value))', and has a unique index there"
  }

  /// Whether a one-to-one is stored on this side: on the required side, otherwise on the alphabetically first, as in
  /// ``Model``.
  private func liesHere(
    _ here: RelationshipDraft, _ place: RelationshipPlace, _ there: RelationshipDraft, _ other: RelationshipPlace
  ) -> Bool {
    if here.description.isOptional != there.description.isOptional { return !here.description.isOptional }
    return (draft.entities[place.entity].name.value, here.name.value)
      < (draft.entities[other.entity].name.value, there.name.value)
  }
}

// MARK: - Fetch requests

/// Checks that fetch requests sort by attributes with an order, their own or at the end of to-one relationships, and
/// that they prefetch relationships.
enum FetchRequests {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let lookup = PropertyLookup(draft: draft, findings: findings)
    for (number, entity) in draft.entities.enumerated() {
      for request in entity.fetchRequests {
        checkName(request, of: number, draft, findings)
        let user = "The sort of fetch request '\(entity.name.value).\(request.name.value)'"
        for key in request.sort { check(key, of: number, user: user, lookup) }
        let prefetch = "The prefetch of fetch request '\(entity.name.value).\(request.name.value)'"
        for path in request.prefetch { checkPrefetch(path, of: number, user: prefetch, lookup) }
      }
    }
  }

  /// Checks the name of a request: a class inherits the functions of its parents, and one of the same name would hide
  /// theirs.
  private static func checkName(
    _ request: FetchRequestDraft, of entity: Int, _ draft: Draft, _ findings: Findings
  ) {
    let name = request.name.value
    for ancestor in draft.entities[entity].ancestors {
      guard let first = draft.entities[ancestor].fetchRequests.first(where: { $0.name.value == name }) else { continue }
      return findings.error(
        .nameClash, at: request.name.offset,
        "Fetch request '\(draft.path(entity, name))' has the name of '\(draft.path(ancestor, name))', which it inherits; "
          + "choose another name.", notes: [("'\(draft.path(ancestor, name))' is here", first.name.offset)])
    }
  }

  private static func checkPrefetch(
    _ path: Located<String>, of entity: Int, user: String, _ lookup: PropertyLookup
  ) {
    var current = entity
    for step in path.value.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let found = lookup.property(step, of: current, user: user, at: path.offset) else { return }
      guard case .relationship(let index) = found.place else {
        return lookup.findings.error(
          .badPrefetch, at: path.offset,
          "\(user) names '\(lookup.draft.path(found.entity, step))', which is an attribute; name a relationship, or a path "
            + "through relationships.")
      }
      let relationship = lookup.draft.entities[found.entity].relationships[index]
      if relationship.description.isTransient {
        return lookup.findings.error(
          .badPrefetch, at: path.offset,
          "\(user) names '\(lookup.draft.path(found.entity, step))', which is transient, so no store can load it; take it out."
        )
      }
      current = relationship.destination
    }
  }

  private static func check(_ key: Located<String>, of entity: Int, user: String, _ lookup: PropertyLookup) {
    var steps = key.value.withoutSign.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    var current = entity
    while !steps.isEmpty {
      let step = lookup.takeName(from: &steps, of: current)
      guard let found = lookup.property(step, of: current, user: user, at: key.offset) else { return }
      let isLast = steps.isEmpty
      switch found.place {
      case .attribute(let index):
        let attribute = lookup.draft.entities[found.entity].attributes[index]
        let path = lookup.draft.path(found.entity, step)
        guard isLast else {
          return report(key, user, "goes on behind '\(path)', which is an attribute", lookup)
        }
        guard attribute.description.type.isSortable else {
          return report(
            key, user, "names '\(path)', whose type '\(attribute.description.type.spelling)' has no order", lookup)
        }
        if attribute.derivation == nil { lookup.requireColumn(found, user: user, at: key.offset) }
      case .relationship(let index):
        let relationship = lookup.draft.entities[found.entity].relationships[index]
        let path = lookup.draft.path(found.entity, step)
        if relationship.description.isToMany {
          return report(key, user, "leads through '\(path)', which is a to-many", lookup)
        }
        if isLast { return report(key, user, "ends with '\(path)', which is a relationship", lookup) }
        current = relationship.destination
      }
    }
  }

  private static func report(_ key: Located<String>, _ user: String, _ fault: String, _ lookup: PropertyLookup) {
    lookup.findings.error(
      .badSort, at: key.offset, "\(user) \(fault); name an attribute, or a path through to-one relationships to one.")
  }
}

// MARK: - Fetch predicates

/// Parses the predicates of fetch requests and checks them against the model, as the first fetch would at run time.
/// Their variables become parameters in Swift.
enum FetchPredicates {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    guard draft.entities.contains(where: { $0.fetchRequests.contains { $0.predicate != nil } }),
      let model = try? Model(draft.description)
    else { return }
    for (number, entity) in draft.entities.enumerated() {
      for request in entity.fetchRequests {
        guard let predicate = request.predicate else { continue }
        let path = "\(entity.name.value).\(request.name.value)"
        do throws(PredicateFormatError) {
          let checked = try CheckedFormat(predicate.value, of: number, in: model)
          for variable in checked.variables { check(variable, of: path, in: predicate, findings) }
        } catch {
          findings.error(
            .badPredicate, at: predicate.offset, inText: error.offset,
            "In the predicate of fetch request '\(path)': \(message(error))")
        }
      }
    }
  }

  private static func message(_ error: PredicateFormatError) -> String {
    error.code == .missingArgument
      ? "A model has no arguments for '%@' and its like; write a variable such as $name, which becomes a parameter in Swift."
      : error.message
  }

  /// Checks a variable, which becomes the label of a parameter.
  private static func check(
    _ variable: FormatVariable, of path: String, in predicate: Located<String>, _ findings: Findings
  ) {
    let name = variable.name
    let isName =
      name.utf8.first.map { $0.isWord && $0 != UInt8(ascii: "_") } ?? false
      && name.utf8.allSatisfy { $0.isWord || $0.isDigit }
    if !isName || name.utf8.count > Limits.nameLength {
      findings.error(
        .badName, at: predicate.offset, inText: variable.offset,
        "\("$\(name)".quoted) cannot be a parameter of fetch request '\(path)': a name is a letter (A–Z, a–z), then letters, "
          + "digits and underscores.")
    } else if ReservedNames.swiftWords.contains(name) {
      findings.error(
        .reservedName, at: predicate.offset, inText: variable.offset,
        "The variable '$\(name)' of fetch request '\(path)' has a name that Swift needs for itself; choose another name."
      )
    }
  }
}
