extension ModelDescription {
  /// The model as the text of a model file: keys in a fixed order, one property per line, default values left out.
  ///
  /// Entities, properties and cases keep their declared order, which is part of the model. Reading the text yields an
  /// equal description, and equal descriptions yield equal texts.
  ///
  /// - Complexity: linear in the size of the model.
  public func canonicalJSON() -> String {
    var members = CanonicalMembers()
    members.add("model", name)
    members.add("version", version)
    members.add("doc", doc)
    members.add(userInfo)
    if history != .off { members.add("history", history.canonical) }
    members.add("keepHistory", keepHistory?.json)
    if !enums.isEmpty { members.add("enums", .lines(enums.map { ($0.name, $0.json) })) }
    if !scalars.isEmpty { members.add("scalars", .object(scalars.map { ($0.name, .text($0.type.spelling)) })) }
    members.add("codableTypes", codableTypes)
    if !codableVersions.isEmpty {
      let versions = codableVersions.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      members.add("codableVersions", .object(versions.map { ($0.key, .verbatim(String($0.value))) }))
    }
    let writer = EntityWriter(enums: Dictionary(enums.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }))
    if !composites.isEmpty {
      members.add("composites", .lines(composites.map { ($0.name, writer.json($0)) }))
    }
    if !entities.isEmpty { members.add("entities", .lines(entities.map { ($0.name, writer.json($0)) })) }
    members.add("removed", removed)
    var text = ""
    CanonicalJSON.lines(members.all).write(into: &text, indent: 0)
    return text + "\n"
  }
}

extension EnumDescription {
  fileprivate var json: CanonicalJSON {
    var members = CanonicalMembers()
    members.add("doc", doc)
    members.add("type", rawType == .integer ? "int" : "string")
    members.add("cases", .list(cases.map(\.json)))
    switch unknown {
    case .preserve: members.add("unknown", "preserve")
    case .useDefault(let name): members.add("unknown", .object([("default", .text(name))]))
    case .reject: break
    }
    return .object(members.all)
  }
}

extension EnumDescription.Case {
  fileprivate var json: CanonicalJSON {
    if doc == nil, renamedFrom.isEmpty, rawValue == .text(name) { return .text(name) }
    var members = CanonicalMembers()
    members.add("name", name)
    members.add("value", rawValue.plainJSON)
    members.add(formerNames: renamedFrom)
    members.add("doc", doc)
    return .object(members.all)
  }
}

extension StoredValue {
  /// The value as JSON, if its JSON does not depend on the attribute type.
  fileprivate var plainJSON: CanonicalJSON {
    switch self {
    case .null: .verbatim("null")
    case .integer(let value): .verbatim(String(value))
    case .real(let value): .verbatim(String(describing: value))
    case .text(let value): .text(value)
    case .blob(let value): .text(Base64Text.text(value))
    // A model never refers to a file.
    case .file: .verbatim("null")
    }
  }
}

/// Writes entities as JSON. Default values of enum attributes need the cases of the enums.
private struct EntityWriter {
  let enums: [String: EnumDescription]

  func json(_ entity: EntityDescription) -> CanonicalJSON {
    var members = CanonicalMembers()
    members.add("doc", entity.doc)
    members.add("parent", entity.parent)
    members.add("abstract", entity.isAbstract)
    members.add("swiftName", entity.swiftName)
    members.add(formerNames: entity.renamedFrom)
    members.add("removed", entity.removed)
    let attributes = json(entity.attributes, entity.composites)
    if !attributes.isEmpty { members.add("attributes", .lines(attributes)) }
    if !entity.relationships.isEmpty {
      members.add("relationships", .lines(entity.relationships.map { ($0.name, json($0)) }))
    }
    if !entity.uniqueKeys.isEmpty {
      members.add("unique", .list(entity.uniqueKeys.map { .list($0.map { .text($0) }) }))
    }
    if !entity.indexes.isEmpty { members.add("indexes", .list(entity.indexes.map(json))) }
    if !entity.fetchRequests.isEmpty {
      members.add("fetchRequests", .lines(entity.fetchRequests.map { ($0.name, json($0)) }))
    }
    if !entity.hooks.isEmpty { members.add("hooks", .list(entity.hooks.map { .text($0.rawValue) })) }
    members.add(entity.userInfo)
    members.add("history", entity.history?.canonical)
    members.add("sync", entity.sync?.canonical)
    members.add("json", entity.json?.canonical)
    return .lines(members.all)
  }

  func json(_ composite: CompositeDescription) -> CanonicalJSON {
    var members = CanonicalMembers()
    members.add("doc", composite.doc)
    members.add("attributes", .lines(json(composite.attributes, composite.composites)))
    return .lines(members.all)
  }

  private func json(_ index: IndexDescription) -> CanonicalJSON {
    .list(index.elements.map { .text(($0.isDescending ? "-" : "") + $0.property) })
  }

  private func json(_ request: FetchRequestDescription) -> CanonicalJSON {
    var members = CanonicalMembers()
    members.add("doc", request.doc)
    members.add("predicate", request.predicate)
    if !request.sort.isEmpty {
      members.add("sort", .list(request.sort.map { .text(($0.isDescending ? "-" : "") + $0.path) }))
    }
    members.add("limit", request.limit)
    members.add("offset", request.offset)
    if !request.prefetch.isEmpty { members.add("prefetch", .list(request.prefetch.map { .text($0) })) }
    return .object(members.all)
  }

  // MARK: Properties

  /// The members of `attributes`.
  private func json(
    _ attributes: [AttributeDescription], _ composites: [CompositeAttributeDescription]
  ) -> [(key: String, value: CanonicalJSON)] {
    DeclaredAttribute.list(attributes, composites).map { declared in
      switch declared {
      case .plain(let attribute): (attribute.name, json(attribute))
      case .composite(let composite): (composite.name, json(composite))
      }
    }
  }

  private func json(_ composite: CompositeAttributeDescription) -> CanonicalJSON {
    var members = CanonicalMembers()
    members.add("swiftName", composite.swiftName)
    members.add(formerNames: composite.renamedFrom)
    if !composite.fields.isEmpty {
      members.add("fields", .object(composite.fields.map { ($0.name, .object(words(of: $0).all)) }))
    }
    members.add("doc", composite.doc)
    members.add(composite.userInfo)
    let type = CanonicalJSON.text(composite.composite + (composite.isOptional ? "?" : ""))
    return members.all.isEmpty ? type : .object([("type", type)] + members.all)
  }

  private func json(_ attribute: AttributeDescription) -> CanonicalJSON {
    let members = words(of: attribute)
    let type = CanonicalJSON.text(attribute.typeSpelling + (attribute.isOptional ? "?" : ""))
    return members.all.isEmpty ? type : .object([("type", type)] + members.all)
  }

  /// What the model says of an attribute besides its type.
  private func words(of attribute: AttributeDescription) -> CanonicalMembers {
    var members = CanonicalMembers()
    members.add("default", attribute.defaultValue.map { json($0, attribute.type) })
    members.add("transient", attribute.isTransient && attribute.derivation == nil)
    members.add("derived", attribute.derivation)
    members.add("stored", attribute.storesDerivation)
    members.add("min", attribute.rules.minimum.map { json($0, attribute.type) })
    members.add("max", attribute.rules.maximum.map { json($0, attribute.type) })
    members.add("minLength", attribute.rules.minimumLength)
    members.add("maxLength", attribute.rules.maximumLength)
    members.add("pattern", attribute.rules.pattern)
    members.add("externalStorage", attribute.isExternal)
    members.add("searchable", attribute.isSearchable)
    members.add("keepInHistory", attribute.isKeptInHistory)
    members.add("swiftName", attribute.swiftName)
    members.add(formerNames: attribute.renamedFrom)
    members.add("backfill", attribute.backfill.map { json($0, attribute.type) })
    members.add("convert", attribute.isLossy ? "lossy" : nil)
    members.add("doc", attribute.doc)
    members.add(attribute.userInfo)
    members.add("json", attribute.json?.canonical(isRelationship: false))
    members.add("sync", attribute.sync?.canonical)
    return members
  }

  private func json(_ backfill: Backfill, _ type: AttributeType) -> CanonicalJSON {
    switch backfill {
    case .expression(let text): .text(text)
    // A text is always an expression there, so the constant is written as one.
    case .value(.value(.text(let text))) where type == .string: .text(QuotedText.text(text))
    case .value(let value): json(value, type)
    }
  }

  private func json(_ value: DefaultValue, _ type: AttributeType) -> CanonicalJSON {
    switch (value, type) {
    case (.now, _): .text("now")
    case (.new, _): .text("new")
    case (.value(let value), _): json(value, type)
    case (.list(let values), .array(let element)): .list(values.map { json($0, element) })
    case (.list(let values), _): .list(values.map { json($0, type) })
    }
  }

  private func json(_ value: StoredValue, _ type: AttributeType) -> CanonicalJSON {
    switch (type, value) {
    case (.bool, .integer(let flag)): .verbatim(flag == 0 ? "false" : "true")
    case (.date, .integer(let microseconds)): .text(DateText.text(microseconds))
    case (.uuid, .blob(let bytes)): .text(UUIDText.text(bytes))
    case (.enumeration(let name), _):
      enums[name]?.cases.first { $0.rawValue == value }.map { .text($0.name) } ?? value.plainJSON
    default: value.plainJSON
    }
  }

  private func json(_ relationship: RelationshipDescription) -> CanonicalJSON {
    var members = CanonicalMembers()
    members.add("destination", relationship.destination)
    members.add("inverse", relationship.inverse)
    members.add("deleteRule", relationship.deleteRule == .nullify ? nil : relationship.deleteRule.rawValue)
    members.add("toMany", relationship.isToMany)
    members.add("ordered", relationship.isOrdered)
    members.add("minCount", relationship.minimumCount)
    members.add("maxCount", relationship.maximumCount)
    members.add("optional", relationship.isOptional)
    members.add("transient", relationship.isTransient)
    members.add("swiftName", relationship.swiftName)
    members.add(formerNames: relationship.renamedFrom)
    members.add("convert", relationship.isLossy ? "lossy" : nil)
    members.add("doc", relationship.doc)
    members.add(relationship.userInfo)
    members.add("json", relationship.json?.canonical(isRelationship: true))
    members.add("sync", relationship.sync?.canonical)
    return .object(members.all)
  }
}

// MARK: - History

extension HistoryContent {
  /// The word as a model file has it.
  package var canonical: CanonicalJSON {
    switch self {
    case .off: .verbatim("false")
    case .changes: .verbatim("true")
    case .values: .text("values")
    }
  }
}

extension HistoryLimit {
  fileprivate var json: CanonicalJSON {
    var members = CanonicalMembers()
    members.add("days", days)
    members.add("transactions", transactions)
    return .object(members.all)
  }
}

// MARK: - Sync

extension SyncDecision {
  /// The word as a model file has it.
  package var canonical: CanonicalJSON { .object([("conflict", .text(rawValue))]) }
}

// MARK: - Mapping of JSON

extension EntityJSON {
  /// The mapping as a model file has it.
  package var canonical: CanonicalJSON {
    var members = CanonicalMembers()
    members.add("key", key.count == 1 ? .text(key[0]) : key.isEmpty ? nil : .list(key.map { .text($0) }))
    members.add("style", style?.rawValue)
    members.add("entity", entityPath)
    members.add("as", entityValue)
    return members.all.isEmpty ? .verbatim("true") : .object(members.all)
  }
}

extension PropertyJSON {
  /// The mapping as a model file has it.
  ///
  /// - Parameter isRelationship: Whether the property is a relationship, which has other words than an attribute.
  package func canonical(isRelationship: Bool) -> CanonicalJSON {
    guard isMapped else { return .verbatim("false") }
    var members = CanonicalMembers()
    members.add("path", path)
    if isRelationship { members.add("reference", reference) } else { members.add("date", date) }
    members.add(
      "take",
      take.count == 1 ? .text(take[0].rawValue) : take.isEmpty ? nil : .list(take.map { .text($0.rawValue) }))
    if isRelationship { members.add("members", self.members == .replace ? nil : self.members.rawValue) }
    members.add("null", keepsOnNull ? "keep" : nil)
    members.add("empty", emptyIsNull ? "null" : nil)
    if members.all.isEmpty { return .verbatim("true") }
    if members.all.count == 1, let path { return .text(path) }
    return .object(members.all)
  }
}

extension CanonicalMembers {
  fileprivate mutating func add(_ key: String, _ value: CanonicalJSON?) {
    if let value { add(key, value) }
  }
}

// MARK: - Canonical JSON

/// A small JSON tree, written with one property of a model per line.
package enum CanonicalJSON {
  case text(String)
  /// Text that already is JSON: numbers and booleans.
  case verbatim(String)
  case list([CanonicalJSON])
  /// A list with one element per line.
  case rows([CanonicalJSON])
  case object([(key: String, value: CanonicalJSON)])
  /// An object with one member per line.
  case lines([(key: String, value: CanonicalJSON)])

  /// - Parameter indent: the depth of the line that the value begins in.
  package func write(into text: inout String, indent: Int) {
    switch self {
    case .text(let value): Self.quote(value, into: &text)
    case .verbatim(let value): text += value
    case .list(let elements):
      text += "["
      for (place, element) in elements.enumerated() {
        if place > 0 { text += ", " }
        element.write(into: &text, indent: indent)
      }
      text += "]"
    case .rows(let elements):
      guard !elements.isEmpty else { return text += "[]" }
      let margin = "\n" + String(repeating: "  ", count: indent)
      for (place, element) in elements.enumerated() {
        text += (place == 0 ? "[" : ",") + margin + "  "
        element.write(into: &text, indent: indent + 1)
      }
      text += margin + "]"
    case .object(let members): write(members, "{ ", ", ", " }", into: &text, indent: indent)
    case .lines(let members):
      let margin = "\n" + String(repeating: "  ", count: indent)
      write(members, "{" + margin + "  ", "," + margin + "  ", margin + "}", into: &text, indent: indent + 1)
    }
  }

  private func write(
    _ members: [(key: String, value: CanonicalJSON)], _ opener: String, _ separator: String, _ closer: String,
    into text: inout String, indent: Int
  ) {
    guard !members.isEmpty else { return text += "{}" }
    for (place, member) in members.enumerated() {
      text += place == 0 ? opener : separator
      Self.quote(member.key, into: &text)
      text += ": "
      member.value.write(into: &text, indent: indent)
    }
    text += closer
  }

  private static func quote(_ value: String, into text: inout String) {
    text += "\""
    // Names and most other texts need no escaping and are copied whole.
    if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
      text += value
      text += "\""
      return
    }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

/// The members of an object that are written. Members with their default value are left out.
struct CanonicalMembers {
  private(set) var all: [(key: String, value: CanonicalJSON)] = []

  mutating func add(_ key: String, _ value: CanonicalJSON) { all.append((key, value)) }

  mutating func add(_ key: String, _ text: String?) {
    if let text { add(key, .text(text)) }
  }

  mutating func add(_ key: String, _ number: Int?) {
    if let number { add(key, .verbatim(String(number))) }
  }

  mutating func add(_ key: String, _ flag: Bool) {
    if flag { add(key, .verbatim("true")) }
  }

  mutating func add(_ key: String, _ texts: [String]) {
    if !texts.isEmpty { add(key, .list(texts.map { .text($0) })) }
  }

  /// A single former name is a text, as in most models.
  mutating func add(formerNames: [String]) {
    if formerNames.count == 1 { add("renamedFrom", formerNames.first) } else { add("renamedFrom", formerNames) }
  }

  mutating func add(_ userInfo: [UserInfoEntry]) {
    if !userInfo.isEmpty { add("userInfo", .object(userInfo.map { ($0.key, .text($0.value)) })) }
  }
}

// MARK: - Checksum

extension ModelDescription {
  /// A checksum of the model: 64-bit FNV-1a over ``canonicalJSON()``, as sixteen hexadecimal digits.
  ///
  /// The checksum detects changed models, whether changed by accident or on purpose. It is no protection against
  /// forgery: code that can write a store's checksum can also write the store. The function and its constants are those
  /// of Fowler, Noll and Vo.
  ///
  /// - Complexity: linear in the length of the JSON text.
  public var checksum: String { Self.checksum(ofText: canonicalJSON().utf8) }

  /// The checksum of a model with this canonical text, which may have been written by another version of Trellis.
  package static func checksum(ofText text: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
