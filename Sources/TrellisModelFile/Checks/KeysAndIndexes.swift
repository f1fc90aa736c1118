import TrellisSchema

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
      lookup.requireColumn(found, user: user, at: name.offset)
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
    let names = lineage.lazy.flatMap { ancestor in
      draft.entities[ancestor].attributes.map(\.name.value) + draft.entities[ancestor].relationships.map(\.name.value)
    }
    findings.error(
      .unknownProperty, at: offset,
      "\(user) names \(name.quoted), but '\(draft.entities[entity].name.value)' has no such property"
        + findings.suggestions.clause(for: name, among: names).orFullStop)
    return nil
  }

  /// Reports a property that is not stored in the row.
  func requireColumn(_ found: Found, user: String, at offset: Int) {
    let reason: String
    let declaration: Located<String>
    switch found.place {
    case .attribute(let index):
      let attribute = draft.entities[found.entity].attributes[index]
      guard let why = whyNotInRow(attribute.description) else { return }
      (reason, declaration) = (why, attribute.name)
    case .relationship(let index):
      let relationship = draft.entities[found.entity].relationships[index]
      guard let why = whyNotInRow(relationship, RelationshipPlace(entity: found.entity, index: index)) else { return }
      (reason, declaration) = (why, relationship.name)
    }
    let path = draft.path(found.entity, declaration.value)
    findings.error(
      .noColumn, at: offset, "\(user) names '\(path)', which \(reason); name a property that lies in the row.",
      notes: [("'\(path)' is here", declaration.offset)])
  }

  private func whyNotInRow(_ attribute: AttributeDescription) -> String? {
    if attribute.isTransient { return "is transient and lies in no store" }
    return attribute.isExternal ? "may lie in a file" : nil
  }

  private func whyNotInRow(_ relationship: RelationshipDraft, _ place: RelationshipPlace) -> String? {
    if relationship.description.isTransient { return "is transient and lies in no store" }
    if relationship.description.isToMany { return "leads to many objects" }
    guard let inverse = relationship.inverse, inverse != place else { return nil }
    let other = draft.entities[inverse.entity].relationships[inverse.index]
    guard !other.description.isToMany, !liesHere(relationship, place, other, inverse) else { return nil }
    return "lies at its other end, '\(draft.path(inverse.entity, other.name.value))'"
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
