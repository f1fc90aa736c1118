import TrellisModel

/// Converts the JSON tree to a draft of the model. It checks keys and kinds of values, but not their meaning.
struct GrammarReader {
  let findings: Findings
  /// The names of the composites of the model.
  private let composites: Set<String>

  init(_ findings: Findings, composites: Set<String> = []) {
    self.findings = findings
    self.composites = composites
  }

  func readModel(_ root: JSONNode) -> Draft? {
    guard let object = root.object else {
      findings.error(.wrongType, at: root.offset, "A model file holds an object; here is \(root.kind).")
      return nil
    }
    let keyed = KeyedObject(
      object, at: root.offset, owner: "the model",
      keys: ModelKeys.model, required: ["model"],
      findings)
    var draft = Draft(name: keyed.text("model") ?? Located("", at: root.offset))
    draft.version = keyed.text("version")?.value
    draft.doc = keyed.text("doc")?.value
    draft.userInfo = keyed.userInfo()
    draft.history = readHistory(keyed)
    draft.keepHistory = readHistoryLimit(keyed)
    draft.codableTypes = keyed.texts("codableTypes")
    draft.codableVersions = readCodableVersions(keyed, draft.codableTypes.map(\.value))
    draft.foundationPredicates = keyed.isSet("foundationPredicates")
    draft.migrates = keyed.list("migrates").compactMap(readVersion)
    if let repeated = draft.migrates.indices.first(where: { index in
      draft.migrates[..<index].contains { $0.value == draft.migrates[index].value }
    }) {
      findings.error(
        .wrongType, at: draft.migrates[repeated].offset,
        "Version \(draft.migrates[repeated].value) is in the list already; remove one.")
    }
    draft.enums = readEnums(keyed)
    draft.scalars = readScalars(keyed)
    let reader = GrammarReader(findings, composites: Set((keyed.nested("composites")?.members ?? []).map(\.key)))
    draft.composites = reader.readComposites(keyed)
    draft.entities = reader.readEntities(keyed)
    draft.removed = keyed.texts("removed")
    for (number, entity) in draft.entities.enumerated() { draft.entityNumbers[entity.name.value] = number }
    for (number, enumeration) in draft.enums.enumerated() { draft.enumNumbers[enumeration.name.value] = number }
    return draft
  }

  /// The versions of the app's structs.
  private func readCodableVersions(_ keyed: KeyedObject, _ types: [String]) -> [String: Int] {
    guard let object = keyed.nested("codableVersions") else { return [:] }
    let versions = KeyedObject(
      object, at: keyed.object["codableVersions"]?.keyOffset ?? 0, owner: "'codableVersions' of the model", keys: types,
      findings)
    var found: [String: Int] = [:]
    for type in types { found[type] = versions.count(type, least: 1) }
    return found
  }

  /// The number of a released version.
  private func readVersion(_ node: JSONNode) -> Located<Int>? {
    if let number = node.integer.flatMap({ Int(exactly: $0) }), number > 0 { return Located(number, at: node.offset) }
    findings.error(
      .wrongType, at: node.offset, "\"migrates\" lists numbers of released versions, such as [3]; here is \(node.kind)."
    )
    return nil
  }

  /// Whether a count is within a limit; reports an error if it is not.
  func isWithin(_ limit: Int, _ count: Int, _ things: String, at offset: Int) -> Bool {
    if count > limit { findings.error(.tooMany, at: offset, "There are \(count) \(things); there may be \(limit).") }
    return count <= limit
  }

  /// The members of an object that maps names to objects, such as entities by name.
  func namedObjects(_ keyed: KeyedObject, _ key: String, _ thing: String) -> [(Located<String>, JSONNode, JSONObject)] {
    (keyed.nested(key)?.members ?? []).compactMap { member in
      guard let object = member.value.object else {
        findings.error(
          .wrongType, at: member.value.offset,
          "\(thing.capitalizedFirst) \(member.key.quoted) must be an object; here is \(member.value.kind).")
        return nil
      }
      return (Located(member.key, at: member.keyOffset), member.value, object)
    }
  }
}

// MARK: - Entities

extension GrammarReader {
  func readEntities(_ model: KeyedObject) -> [EntityDraft] {
    guard let object = model.nested("entities"), let offset = model.object["entities"]?.keyOffset,
      isWithin(Limits.entities, object.members.count, "entities", at: offset)
    else { return [] }
    return namedObjects(model, "entities", "entity").map { readEntity($0, $1, $2) }
  }

  private func readEntity(_ name: Located<String>, _ node: JSONNode, _ object: JSONObject) -> EntityDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "entity \(name.value.quoted)", keys: ModelKeys.entity, findings)
    var draft = EntityDraft(name: name)
    draft.doc = keyed.text("doc")?.value
    draft.parentName = keyed.text("parent")
    draft.isAbstract = keyed.flag("abstract")
    draft.swiftName = keyed.text("swiftName")
    draft.renamedFrom = keyed.formerNames()
    draft.removed = keyed.texts("removed")
    draft.userInfo = keyed.userInfo()
    draft.json = readEntityJSON(keyed)
    draft.history = readHistory(keyed)
    draft.sync = readSync(keyed)
    draft.uniqueKeys = keyed.nameLists("unique")
    draft.indexes = keyed.nameLists("indexes")
    draft.hooks = readHooks(keyed)
    readProperties(keyed, into: &draft)
    draft.fetchRequests = namedObjects(keyed, "fetchRequests", "fetch request").map {
      readFetchRequest($0, $2, of: name.value)
    }
    return draft
  }

  private func readProperties(_ keyed: KeyedObject, into draft: inout EntityDraft) {
    let count = (keyed.nested("attributes")?.members.count ?? 0) + (keyed.nested("relationships")?.members.count ?? 0)
    guard isWithin(Limits.properties, count, "properties in \(keyed.owner)", at: draft.name.offset) else { return }
    for member in keyed.object["attributes"]?.value.object?.members ?? [] {
      if let composite = readCompositeAttribute(
        member, of: draft.name.value, position: draft.attributes.count, withFields: true)
      {
        draft.composites.append(composite)
        continue
      }
      guard let attribute = readAttribute(member, of: draft.name.value) else { continue }
      draft.properties[attribute.name.value] = .attribute(draft.attributes.count)
      draft.attributes.append(attribute)
    }
    for (name, _, object) in namedObjects(keyed, "relationships", "relationship") {
      let relationship = readRelationship(name, object, of: draft.name.value)
      if draft.properties[name.value] == nil { draft.properties[name.value] = .relationship(draft.relationships.count) }
      draft.relationships.append(relationship)
    }
  }

  private func readHooks(_ keyed: KeyedObject) -> [LifecycleHook] {
    var places: [LifecycleHook: Int] = [:]
    var hooks: [LifecycleHook] = []
    for text in keyed.texts("hooks") {
      guard let hook = LifecycleHook(rawValue: text.value) else {
        keyed.reportUnknownWord("hooks", text, LifecycleHook.allCases.map(\.rawValue))
        continue
      }
      if let first = places[hook] {
        findings.error(
          .repeatedEntry, at: text.offset,
          "'hooks' of \(keyed.owner) has '\(hook.rawValue)' twice; keep one of the two.",
          notes: [("the first is here", first)])
      } else {
        places[hook] = text.offset
        hooks.append(hook)
      }
    }
    return hooks
  }

  private func readFetchRequest(
    _ name: Located<String>, _ object: JSONObject, of entity: String
  ) -> FetchRequestDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "fetch request '\(entity.shown).\(name.value.shown)'",
      keys: ModelKeys.fetchRequest, findings)
    let predicate = keyed.text("predicate")
    let sort = keyed.texts("sort")
    let prefetch = keyed.texts("prefetch")
    return FetchRequestDraft(
      name: name,
      description: FetchRequestDescription(
        name.value, predicate: predicate?.value,
        sort: sort.map { FetchRequestDescription.Sort($0.value.withoutSign, descending: $0.value.isDescending) },
        limit: keyed.count("limit", least: 1), offset: keyed.count("offset"), prefetch: prefetch.map(\.value),
        doc: keyed.text("doc")?.value), predicate: predicate, sort: sort, prefetch: prefetch)
  }
}

// MARK: - Properties

extension GrammarReader {
  private func isLossy(_ keyed: KeyedObject) -> Bool { keyed.word("convert", ConversionWord.self) == .lossy }

  // MARK: Attributes

  func readAttribute(_ member: JSONObject.Member, of entity: String) -> AttributeDraft? {
    let name = Located(member.key, at: member.keyOffset)
    let owner = "attribute '\(entity.shown).\(name.value.shown)'"
    switch member.value.content {
    case .string(let type):
      return attribute(name, type: Located(type, at: member.value.offset), JSONObject())
    case .object(let object):
      let keyed = KeyedObject(
        object, at: name.offset, owner: owner, keys: ModelKeys.attribute, required: ["type"], findings)
      var draft = attribute(name, type: keyed.text("type") ?? Located("string", at: name.offset), object)
      readDetails(keyed, into: &draft)
      return draft
    default:
      findings.error(
        .wrongType, at: member.value.offset,
        "\(owner.capitalizedFirst) must be a type such as \"string\", or an object; here is \(member.value.kind).")
      return nil
    }
  }

  /// An attribute with only its type: the type's name, with a question mark if it is optional.
  private func attribute(_ name: Located<String>, type: Located<String>, _ object: JSONObject) -> AttributeDraft {
    let isOptional = type.value.utf8.last == UInt8(ascii: "?")
    return AttributeDraft(
      name: name, typeName: Located(isOptional ? String(type.value.dropLast()) : type.value, at: type.offset),
      object: object, description: AttributeDescription(name.value, .string, optional: isOptional))
  }

  // MARK: Composites

  /// An attribute whose type is a composite; nil if it has another type.
  private func readCompositeAttribute(
    _ member: JSONObject.Member, of owner: String, position: Int, withFields hasFields: Bool
  ) -> CompositeAttributeDraft? {
    let node = member.value.object?["type"]?.value ?? member.value
    guard let spelling = node.string else { return nil }
    let isOptional = spelling.utf8.last == UInt8(ascii: "?")
    let type = isOptional ? String(spelling.dropLast()) : spelling
    guard composites.contains(type) else { return nil }
    let name = Located(member.key, at: member.keyOffset)
    var draft = CompositeAttributeDraft(
      name: name, typeName: Located(type, at: node.offset), object: member.value.object ?? JSONObject(),
      description: CompositeAttributeDescription(name.value, type, optional: isOptional, position: position))
    guard let object = member.value.object else { return draft }
    let keyed = KeyedObject(
      object, at: name.offset, owner: "attribute '\(owner.shown).\(name.value.shown)'",
      keys: ModelKeys.compositeAttribute.filter { hasFields || $0 != "fields" }, findings)
    if isOptional, let optional = keyed.flag("optional"), !optional.value {
      findings.error(
        .contradictoryOptional, at: optional.offset,
        "The type of \(keyed.owner) ends with '?', but 'optional' is false; keep one of the two.",
        notes: [("the type is here", node.offset)])
    }
    draft.description.isOptional = isOptional || keyed.isSet("optional")
    draft.description.doc = keyed.text("doc")?.value
    draft.description.swiftName = keyed.text("swiftName")?.value
    draft.description.userInfo = keyed.userInfo()
    draft.renamedFrom = keyed.formerNames()
    draft.description.renamedFrom = draft.renamedFrom.map(\.value)
    draft.fields = namedObjects(keyed, "fields", "field").map { field, _, object in
      let keyed = KeyedObject(
        object, at: field.offset, owner: "field '\(field.value.shown)' of \(keyed.owner)", keys: ModelKeys.field,
        findings)
      var draft = attribute(field, type: Located("string", at: field.offset), object)
      readDetails(keyed, into: &draft)
      return draft
    }
    return draft
  }

  fileprivate func readComposites(_ model: KeyedObject) -> [CompositeDraft] {
    guard let object = model.nested("composites"), let offset = model.object["composites"]?.keyOffset,
      isWithin(Limits.enums, object.members.count, "composites", at: offset)
    else { return [] }
    return namedObjects(model, "composites", "composite").map { name, _, object in
      let keyed = KeyedObject(
        object, at: name.offset, owner: "composite \(name.value.quoted)", keys: ModelKeys.composite,
        required: ["attributes"], findings)
      var draft = CompositeDraft(name: name)
      draft.doc = keyed.text("doc")?.value
      let members = keyed.nested("attributes")?.members ?? []
      guard isWithin(Limits.properties, members.count, "attributes in \(keyed.owner)", at: name.offset) else {
        return draft
      }
      for member in members {
        if let composite = readCompositeAttribute(
          member, of: name.value, position: draft.attributes.count, withFields: false)
        {
          draft.composites.append(composite)
        } else if let attribute = readAttribute(member, of: name.value) {
          draft.attributes.append(attribute)
        }
      }
      return draft
    }
  }

  fileprivate func readScalars(_ model: KeyedObject) -> [ScalarDraft] {
    (model.nested("scalars")?.members ?? []).compactMap { member in
      guard let type = member.value.string else {
        model.wrongType("scalars", member.value, "an object whose values are types, such as {\"ISBN\": \"string\"}")
        return nil
      }
      return ScalarDraft(
        name: Located(member.key, at: member.keyOffset), typeName: Located(type, at: member.value.offset))
    }
  }

  // MARK: Details

  private func readDetails(_ keyed: KeyedObject, into draft: inout AttributeDraft) {
    if let optional = keyed.flag("optional") {
      if draft.description.isOptional, !optional.value {
        findings.error(
          .contradictoryOptional, at: optional.offset,
          "The type of \(keyed.owner) ends with '?', but 'optional' is false; keep one of the two.",
          notes: [("the type is here", draft.typeName.offset)])
      }
      draft.description.isOptional = optional.value || draft.description.isOptional
    }
    draft.derivation = keyed.text("derived")
    draft.description.derivation = draft.derivation?.value
    draft.description.storesDerivation = keyed.isSet("stored")
    draft.description.isTransient = keyed.isSet("transient") || draft.derivation != nil
    draft.description.isExternal = keyed.isSet("externalStorage")
    draft.description.isSearchable = keyed.isSet("searchable")
    draft.description.isKeptInHistory = keyed.isSet("keepInHistory")
    draft.description.rules.minimumLength = keyed.count("minLength")
    draft.description.rules.maximumLength = keyed.count("maxLength")
    draft.description.rules.pattern = keyed.text("pattern")?.value
    draft.description.doc = keyed.text("doc")?.value
    draft.renamedFrom = keyed.formerNames()
    draft.description.renamedFrom = draft.renamedFrom.map(\.value)
    draft.description.isLossy = isLossy(keyed)
    draft.description.swiftName = keyed.text("swiftName")?.value
    draft.description.userInfo = keyed.userInfo()
    draft.json = readAttributeJSON(keyed)
    draft.description.json = draft.json?.mapping
    draft.description.sync = readSync(keyed)?.value
  }

  // MARK: Relationships

  func readRelationship(_ name: Located<String>, _ object: JSONObject, of entity: String) -> RelationshipDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "relationship '\(entity.shown).\(name.value.shown)'",
      keys: ModelKeys.relationship,
      required: ["destination"], findings)
    let renamedFrom = keyed.formerNames()
    let json = readRelationshipJSON(keyed)
    return RelationshipDraft(
      name: name, object: object,
      description: RelationshipDescription(
        name.value, to: keyed.text("destination")?.value ?? "", inverse: keyed.text("inverse")?.value,
        deleteRule: keyed.word("deleteRule", DeleteRule.self) ?? .nullify, toMany: keyed.isSet("toMany"),
        ordered: keyed.isSet("ordered"), minCount: keyed.count("minCount"), maxCount: keyed.count("maxCount", least: 1),
        optional: keyed.isSet("optional"), transient: keyed.isSet("transient"),
        swiftName: keyed.text("swiftName")?.value,
        renamedFrom: renamedFrom.map(\.value), lossy: isLossy(keyed), doc: keyed.text("doc")?.value,
        userInfo: keyed.userInfo(), json: json?.mapping, sync: readSync(keyed)?.value),
      renamedFrom: renamedFrom, json: json)
  }
}

// MARK: - Enums

extension GrammarReader {
  func readEnums(_ model: KeyedObject) -> [EnumDraft] {
    guard let object = model.nested("enums"), let offset = model.object["enums"]?.keyOffset,
      isWithin(Limits.enums, object.members.count, "enums", at: offset)
    else { return [] }
    return namedObjects(model, "enums", "enum").map { readEnum($0, $1, $2) }
  }

  private func readEnum(_ name: Located<String>, _ node: JSONNode, _ object: JSONObject) -> EnumDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "enum \(name.value.quoted)", keys: ModelKeys.enumeration,
      required: ["type", "cases"], findings)
    var draft = EnumDraft(name: name)
    draft.doc = keyed.text("doc")?.value
    draft.rawType = keyed.word("type", RawTypeWord.self) == .int ? .integer : .string
    draft.unknownOffset = object["unknown"]?.value.offset ?? name.offset
    draft.unknown = readPolicy(keyed)
    if let cases = object["cases"]?.value { draft.cases = readCases(cases, keyed, draft.rawType) }
    return draft
  }

  private func readPolicy(_ keyed: KeyedObject) -> EnumDescription.UnknownPolicy {
    guard let node = keyed.object["unknown"]?.value else { return .reject }
    if let object = node.object {
      let policy = KeyedObject(
        object, at: node.offset, owner: "'unknown' of \(keyed.owner)", keys: ["default"], required: ["default"],
        findings)
      return policy.text("default").map { .useDefault($0.value) } ?? .reject
    }
    guard let word = node.string else {
      keyed.wrongType("unknown", node, "\"preserve\", \"reject\" or {\"default\": \"case\"}")
      return .reject
    }
    if word != "preserve", word != "reject" {
      keyed.reportUnknownWord("unknown", Located(word, at: node.offset), ["preserve", "reject"])
    }
    return word == "preserve" ? .preserve : .reject
  }

  // MARK: Cases

  private func readCases(_ node: JSONNode, _ keyed: KeyedObject, _ type: EnumDescription.RawType) -> [CaseDraft] {
    var cases = CaseList(type: type, keyed: keyed)
    switch node.content {
    case .array(let elements):
      guard isWithin(Limits.enumCases, elements.count, "cases", at: node.offset) else { return [] }
      for element in elements { cases.append(element) }
    case .object(let object):
      guard isWithin(Limits.enumCases, object.members.count, "cases", at: node.offset) else { return [] }
      for member in object.members {
        cases.append(Located(member.key, at: member.keyOffset), member.value)
      }
    default:
      keyed.wrongType("cases", node, "a list of names, or an object with a raw value for each name")
    }
    return cases.cases
  }
}

/// The cases read so far, and the integer for the next case without a value.
private struct CaseList {
  let type: EnumDescription.RawType
  let keyed: KeyedObject
  var cases: [CaseDraft] = []
  private var next: Int64? = 0

  init(type: EnumDescription.RawType, keyed: KeyedObject) {
    self.type = type
    self.keyed = keyed
  }

  mutating func append(_ element: JSONNode) {
    if let name = element.string { return append(Located(name, at: element.offset), nil) }
    guard let object = element.object else {
      return keyed.wrongType("cases", element, "a list of names or of objects with 'name' and 'value'")
    }
    let entry = KeyedObject(
      object, at: element.offset, owner: "a case of \(keyed.owner)", keys: ModelKeys.enumCase,
      required: ["name"], keyed.findings)
    guard let name = entry.text("name") else { return }
    append(name, object["value"]?.value, renamedFrom: entry.formerNames(), doc: entry.text("doc")?.value)
  }

  mutating func append(
    _ name: Located<String>, _ value: JSONNode?, renamedFrom: [Located<String>] = [], doc: String? = nil
  ) {
    guard let raw = rawValue(name, value) else { return }
    let place = value?.offset ?? name.offset
    cases.append(CaseDraft(name: name, rawValue: Located(raw, at: place), renamedFrom: renamedFrom, doc: doc))
  }

  private mutating func rawValue(_ name: Located<String>, _ value: JSONNode?) -> StoredValue? {
    switch (type, value) {
    case (.string, nil): return .text(name.value)
    case (.string, let value?):
      if value.string == nil { report(name, value, "a string, because the enum's type is \"string\"") }
      return value.string.map { .text($0) }
    case (.integer, nil):
      guard let number = next else {
        keyed.findings.error(
          .badCount, at: name.offset,
          "Case \(name.value.quoted) of \(keyed.owner) would get a value beyond 64 bits; give it one.")
        return nil
      }
      return integer(number)
    case (.integer, let value?):
      guard let number = value.integer else {
        report(name, value, "a whole number of 64 bits, because the enum's type is \"int\"")
        return nil
      }
      return integer(number)
    }
  }

  private mutating func integer(_ number: Int64) -> StoredValue {
    next = number == .max ? nil : number + 1
    return .integer(number)
  }

  private func report(_ name: Located<String>, _ value: JSONNode, _ expected: String) {
    keyed.findings.error(
      .wrongType, at: value.offset,
      "The raw value of case \(name.value.quoted) of \(keyed.owner) must be \(expected); here is \(value.kind).")
  }
}
