import TrellisModel

/// Checks that names are Swift identifiers of letters, digits and underscores, and not reserved by Swift or Trellis.
enum Names {
  private enum Start {
    case upper, lower, any
  }

  static func check(_ draft: inout Draft, _ findings: Findings) {
    checkModel(draft.name, findings)
    for enumeration in draft.enums {
      checkType(enumeration.name, "enum", findings)
      for entry in enumeration.cases {
        _ = checkIdentifier(entry.name, "case", .any, findings)
      }
    }
    for type in draft.codableTypes { checkType(type, "Codable type", findings) }
    for scalar in draft.scalars { checkType(scalar.name, "scalar type", findings) }
    for composite in draft.composites {
      checkType(composite.name, "composite", findings)
      checkAttributes(
        composite.attributes, composite.composites, "field", of: composite.name.value, findings)
    }
    for (number, entity) in draft.entities.enumerated() {
      checkEntity(entity, findings)
      checkMembers(of: entity, number, draft, findings)
    }
  }

  // MARK: Types

  /// Checks the model's name, which in Swift is only a member of `ObjectModel`.
  private static func checkModel(_ name: Located<String>, _ findings: Findings) {
    guard checkIdentifier(name, "model", .upper, findings), ReservedNames.swiftWords.contains(name.value) else {
      return
    }
    findings.error(
      .reservedName, at: name.offset,
      "Model '\(name.value)' has a name that Swift needs for itself; choose another name.")
  }

  /// Checks the name of an entity, which is also that of its class unless it has a Swift name.
  private static func checkEntity(_ entity: EntityDraft, _ findings: Findings) {
    guard let swiftName = entity.swiftName else { return checkType(entity.name, "entity", findings) }
    if checkIdentifier(entity.name, "entity", .upper, findings) { checkTable(entity.name, findings) }
    checkType(swiftName, "Swift name", findings)
  }

  private static func checkType(_ name: Located<String>, _ thing: String, _ findings: Findings) {
    guard checkIdentifier(name, thing, .upper, findings) else { return }
    if ReservedNames.swiftWords.contains(name.value) || ReservedNames.types.contains(name.value) {
      let owner = ReservedNames.swiftWords.contains(name.value) ? "Swift" : "Trellis"
      findings.error(
        .reservedName, at: name.offset,
        "\(thing.capitalizedFirst) '\(name.value)' has a name that \(owner) needs for itself; choose another name"
          + (thing == "entity" ? ", or add \"swiftName\" with the name of the class." : "."))
    } else if ReservedNames.shadowedTypes.contains(name.value) {
      findings.warning(
        .shadowedType, at: name.offset,
        "\(thing.capitalizedFirst) '\(name.value)' hides Swift's own '\(name.value)' in your module: there it is called "
          + "'Swift.\(name.value)'; another name spares you that.")
    } else if thing == "entity" {
      checkTable(name, findings)
    }
  }

  private static func checkTable(_ name: Located<String>, _ findings: Findings) {
    guard name.value.lowercased().hasPrefix("sqlite_") else { return }
    findings.error(
      .reservedName, at: name.offset,
      "Entity '\(name.value)' has a name that SQLite needs for itself; names of tables must not begin with 'sqlite_'.")
  }

  // MARK: Members

  private static func checkMembers(of entity: EntityDraft, _ number: Int, _ draft: Draft, _ findings: Findings) {
    checkAttributes(entity.attributes, entity.composites, "attribute", of: entity.name.value, findings)
    for relationship in entity.relationships {
      checkProperty(
        relationship.name, "relationship", of: entity.name.value, swiftName: relationship.description.swiftName,
        at: relationship.place(of: "swiftName"), findings)
    }
    for request in entity.fetchRequests where checkIdentifier(request.name, "fetch request", .lower, findings) {
      guard isReserved(request.name.value) else { continue }
      findings.error(
        .reservedName, at: request.name.offset,
        "Fetch request '\(entity.name.value).\(request.name.value)' has a name that every generated class needs; choose "
          + "another name.")
    }
  }

  private static func checkAttributes(
    _ attributes: [AttributeDraft], _ composites: [CompositeAttributeDraft], _ thing: String, of owner: String,
    _ findings: Findings
  ) {
    for attribute in attributes {
      checkProperty(
        attribute.name, thing, of: owner, swiftName: attribute.description.swiftName,
        at: attribute.place(of: "swiftName"), findings)
    }
    for composite in composites {
      checkProperty(
        composite.name, thing, of: owner, swiftName: composite.description.swiftName,
        at: composite.place(of: "swiftName"), findings)
    }
  }

  private static func checkProperty(
    _ name: Located<String>, _ thing: String, of owner: String, swiftName: String?, at place: Int,
    _ findings: Findings
  ) {
    guard checkIdentifier(name, thing, .lower, findings) else { return }
    let path = "\(owner.shown).\(name.value)"
    guard let swiftName else {
      if isReserved(name.value) {
        findings.error(
          .reservedName, at: name.offset,
          "\(thing.capitalizedFirst) '\(path)' has a name that every generated class needs; add \"swiftName\" with another "
            + "name, which only Swift code uses.")
      }
      return
    }
    guard checkIdentifier(Located(swiftName, at: place), "Swift name", .lower, findings) else { return }
    if isReserved(swiftName) {
      findings.error(
        .reservedName, at: place,
        "The Swift name '\(swiftName)' of \(thing) '\(path)' is one that every generated class needs; choose another name."
      )
    }
  }

  private static func isReserved(_ name: String) -> Bool {
    ReservedNames.swiftWords.contains(name) || ReservedNames.members.contains(name)
  }

  // MARK: Identifiers

  private static func checkIdentifier(
    _ name: Located<String>, _ thing: String, _ start: Start, _ findings: Findings
  ) -> Bool {
    let text = name.value.utf8
    guard text.count <= Limits.nameLength else {
      findings.error(
        .nameTooLong, at: name.offset,
        "The name \(name.value.quoted) has \(text.count) bytes; a name may have \(Limits.nameLength).")
      return false
    }
    guard let fault = fault(in: name.value, start) else { return true }
    findings.error(.badName, at: name.offset, "\(name.value.quoted) cannot name \(thing.withArticle): \(fault).")
    return false
  }

  private static func fault(in name: String, _ start: Start) -> String? {
    guard let first = name.utf8.first else { return "it is empty" }
    if first == UInt8(ascii: "_") { return "names that begin with an underscore are Trellis's own" }
    guard first.isWord, name.utf8.allSatisfy({ $0.isWord || $0.isDigit }) else {
      return "a name is a letter (A–Z, a–z), then letters, digits and underscores"
    }
    let isUpper = first < UInt8(ascii: "a")
    let respelt = (isUpper ? name.prefix(1).lowercased() : name.prefix(1).uppercased()) + name.dropFirst()
    switch start {
    case .upper where !isUpper: return "it must begin with a capital letter; write '\(respelt)'"
    case .lower where isUpper: return "it must begin with a small letter; write '\(respelt)'"
    default: return nil
    }
  }
}

extension String {
  fileprivate var withArticle: String { ("aeiou".contains(prefix(1)) ? "an " : "a ") + self }
}

// MARK: - Name clashes

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
      draft.entities.map { ("entity", $0.className) } + draft.enums.map { ("enum", $0.name) }
      + draft.codableTypes.map { ("Codable type", $0) } + draft.scalars.map { ("scalar type", $0.name) }
      + draft.composites.map { ("composite", $0.name) }
    for (thing, name) in all {
      if let first = seen[name.value] {
        findings.error(
          .nameClash, at: name.offset,
          thing == first.thing
            ? thing == "entity"
              ? "Two entities would both be called '\(name.value)' in Swift; change one \"swiftName\"."
              : "\(thing.capitalizedFirst) '\(name.value)' is listed twice; keep one of the two."
            : "\(thing.capitalizedFirst) '\(name.value)' has the name of \(first.thing) '\(name.value)'; types of one model "
              + "need different names.", notes: [("\(first.thing) '\(name.value)' is here", first.offset)])
      } else {
        seen[name.value] = (thing, name.offset)
      }
    }
  }

  /// Checks that no two claim the same former name, and that what has a name in `removed` can be gone. A former name may
  /// be the name of another entity, property or case now: names can be swapped and used again. It may also be the own
  /// name: something that was called so before, and in between otherwise.
  ///
  /// A name in `removed` may be a former name, or the name of something that was called otherwise: a stored model may
  /// have both names, and then one of the two has no place.
  private static func checkRenames(_ draft: Draft, _ findings: Findings) {
    // The rows of an entity that has become abstract, and the values of a property that has become transient, go.
    checkRenames(
      draft.entities.map { ($0.name, $0.renamedFrom, $0.isAbstract?.value != true) }, draft.removed, things: "entities",
      findings)
    for enumeration in draft.enums {
      checkRenames(
        enumeration.cases.map { ($0.name, $0.renamedFrom, true) }, [], things: "cases of '\(enumeration.name.value)'",
        findings)
    }
    for entity in draft.entities {
      let properties =
        entity.attributes.map { ($0.name, $0.renamedFrom, !$0.description.isTransient) }
        + entity.composites.flatMap { group in
          [(group.name, group.renamedFrom, true)]
            + group.fields.map {
              (Located("\(group.name.value).\($0.name.value)", at: $0.name.offset), $0.renamedFrom, true)
            }
        }
        + entity.relationships.map { ($0.name, $0.renamedFrom, !$0.description.isTransient) }
      checkRenames(properties, entity.removed, things: "properties of '\(entity.name.value)'", findings)
    }
  }

  private static func checkRenames(
    _ all: [(name: Located<String>, former: [Located<String>], isStored: Bool)], _ removed: [Located<String>],
    things: String, _ findings: Findings
  ) {
    guard !removed.isEmpty || all.contains(where: { !$0.former.isEmpty }) else { return }
    var claimed: [String: (offset: Int, owner: String)] = [:]
    for (name, names, _) in all {
      for former in names {
        // An attribute may have become a field, and its composite have been called like it.
        if let (first, owner) = claimed[former.value], !name.value.hasPrefix(owner + ".") {
          findings.error(
            .renameClash, at: former.offset,
            "The former name \(former.value.quoted) of '\(name.value)' is written twice among the \(things); keep it "
              + "where it belongs.", notes: [("the first is here", first)])
        }
        claimed[former.value] = (former.offset, name.value)
      }
    }
    var present: [String: Int] = [:]
    for (name, former, isStored) in all where isStored && former.isEmpty { present[name.value] = name.offset }
    for name in removed {
      guard let other = present[name.value] else { continue }
      findings.error(
        .renameClash, at: name.offset,
        "\(name.value.quoted) in \"removed\" is in use among the \(things); take it out of one of the two.",
        notes: [("it is here", other)])
    }
  }
}
