import TrellisModel

/// A value of the file with its offset.
struct Located<Value> {
  var value: Value
  let offset: Int

  init(_ value: Value, at offset: Int) {
    self.value = value
    self.offset = offset
  }
}

/// The model as declared in the file, with the offsets that messages refer to. Each pass fills in its results.
struct Draft {
  var name: Located<String>
  var version: String?
  var doc: String?
  var userInfo: [UserInfoEntry] = []
  var history: Located<HistoryContent>?
  var keepHistory: Located<HistoryLimit>?
  var enums: [EnumDraft] = []
  var codableTypes: [Located<String>] = []
  var codableVersions: [String: Int] = [:]
  var scalars: [ScalarDraft] = []
  var composites: [CompositeDraft] = []
  var entities: [EntityDraft] = []
  var removed: [Located<String>] = []
  var foundationPredicates = false
  /// The released versions whose rows steps of migrations read.
  var migrates: [Located<Int>] = []

  /// Set by the grammar: keys of one object are unique.
  var entityNumbers: [String: Int] = [:]
  var enumNumbers: [String: Int] = [:]

  /// The name of a property in messages: `Entity.property`.
  func path(_ entity: Int, _ property: String) -> String { "\(entities[entity].name.value).\(property)" }
}

struct EnumDraft {
  var name: Located<String>
  var rawType: EnumDescription.RawType = .string
  var cases: [CaseDraft] = []
  var unknown: EnumDescription.UnknownPolicy = .reject
  var unknownOffset = 0
  var doc: String?
}

struct CaseDraft {
  var name: Located<String>
  var rawValue: Located<StoredValue>
  var renamedFrom: [Located<String>] = []
  var doc: String?
}

struct ScalarDraft {
  var name: Located<String>
  var typeName: Located<String>
  /// The stored form. Set by the pass over types.
  var type: AttributeType?
}

struct CompositeDraft {
  var name: Located<String>
  var attributes: [AttributeDraft] = []
  var composites: [CompositeAttributeDraft] = []
  var doc: String?
}

/// An attribute whose type is a composite.
struct CompositeAttributeDraft {
  var name: Located<String>
  var typeName: Located<String>
  var object: JSONObject
  var description: CompositeAttributeDescription
  var renamedFrom: [Located<String>] = []
  /// What is said of single fields. Their types are set by the pass over composites.
  var fields: [AttributeDraft] = []

  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct EntityDraft {
  var name: Located<String>
  var parentName: Located<String>?
  var isAbstract: Located<Bool>?
  var swiftName: Located<String>?
  /// The attributes, with the fields of composites once these are known.
  var attributes: [AttributeDraft] = []
  var composites: [CompositeAttributeDraft] = []
  var relationships: [RelationshipDraft] = []
  var uniqueKeys: [Located<[Located<String>]>] = []
  var indexes: [Located<[Located<String>]>] = []
  var fetchRequests: [FetchRequestDraft] = []
  var hooks: [LifecycleHook] = []
  var renamedFrom: [Located<String>] = []
  var removed: [Located<String>] = []
  var doc: String?
  var userInfo: [UserInfoEntry] = []
  var json: JSONDraft<EntityJSON>?
  var history: Located<HistoryContent>?
  var sync: Located<SyncDecision>?

  /// The entity's own properties by name. Of two with the same name, the first.
  var properties: [String: PropertyPlace] = [:]
  /// The paths of composite attributes and of groups in them. Set by the pass over composites.
  var groups: Set<String> = []
  /// The number of the parent, and the ancestors from the parent up. Set by the pass over parents.
  var parent: Int?
  var ancestors: [Int] = []
}

extension EntityDraft {
  /// The name of the class in Swift, with its place.
  var className: Located<String> { swiftName ?? name }
}

enum PropertyPlace {
  case attribute(Int)
  case relationship(Int)
}

struct AttributeDraft {
  var name: Located<String>
  /// The type as written, without a question mark.
  var typeName: Located<String>
  /// The object that declares the attribute; empty for the short form.
  var object: JSONObject
  /// The description so far: the pass over types sets the type, later passes set rules, default and backfill.
  var description: AttributeDescription
  var renamedFrom: [Located<String>] = []
  var json: JSONDraft<PropertyJSON>?
  /// The expression from which the value is computed.
  var derivation: Located<String>?
  /// Whether the type is valid, so that later passes can use it.
  var hasType = false
  /// Whether the attribute is a field of a composite, which the description declares.
  var isField = false

  /// The offset of a key's value, or of the attribute's name if the key is absent.
  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct RelationshipDraft {
  var name: Located<String>
  var object: JSONObject
  var description: RelationshipDescription
  var renamedFrom: [Located<String>] = []
  var json: JSONDraft<PropertyJSON>?
  /// The number of the destination. Set by the pass over destinations.
  var destination = -1
  /// The inverse; nil if there is none or it does not match. Set by the pass over inverses.
  var inverse: RelationshipPlace?

  func place(of key: String) -> Int { object[key]?.value.offset ?? name.offset }
}

struct RelationshipPlace: Hashable {
  let entity: Int
  let index: Int
}

/// What `"json"` says of an entity or a property.
struct JSONDraft<Mapping> {
  var mapping: Mapping
  let node: JSONNode

  /// The offset of a key's value, or of the whole value if the key is absent.
  func place(of key: String) -> Int { node.object?[key]?.value.offset ?? node.offset }
}

struct FetchRequestDraft {
  var name: Located<String>
  var description: FetchRequestDescription
  var predicate: Located<String>?
  var sort: [Located<String>]
  var prefetch: [Located<String>]
}

// MARK: - Description

extension Draft {
  /// The model without file offsets.
  var description: ModelDescription {
    ModelDescription(
      name: name.value, version: version, doc: doc, enums: enums.map(\.description),
      codableTypes: codableTypes.map(\.value), codableVersions: codableVersions, entities: entities.map(\.description),
      removed: removed.map(\.value),
      userInfo: userInfo, history: history?.value ?? .off, keepHistory: keepHistory?.value,
      scalars: scalars.compactMap { scalar in scalar.type.map { ScalarDescription(scalar.name.value, $0) } },
      composites: composites.map(\.description))
  }
}

extension CompositeDraft {
  fileprivate var description: CompositeDescription {
    CompositeDescription(
      name.value, attributes: attributes.map(\.description), composites: composites.map(\.whole), doc: doc)
  }
}

extension CompositeAttributeDraft {
  /// The description with the words on fields.
  var whole: CompositeAttributeDescription {
    var whole = description
    whole.fields = fields.map(\.description)
    return whole
  }
}

extension EnumDraft {
  var description: EnumDescription {
    EnumDescription(
      name.value, rawType: rawType,
      cases: cases.map {
        EnumDescription.Case(
          $0.name.value, $0.rawValue.value, renamedFrom: $0.renamedFrom.map(\.value), doc: $0.doc)
      }, unknown: unknown, doc: doc)
  }
}

extension EntityDraft {
  fileprivate var description: EntityDescription {
    EntityDescription(
      name.value, parent: parentName?.value, isAbstract: isAbstract?.value ?? false,
      attributes: attributes.filter { !$0.isField }.map(\.description), relationships: relationships.map(\.description),
      uniqueKeys: uniqueKeys.map { $0.value.map(\.value) },
      indexes: indexes.map { index in
        IndexDescription(
          index.value.map { IndexDescription.Element($0.value.withoutSign, descending: $0.value.isDescending) })
      },
      fetchRequests: fetchRequests.map(\.description), hooks: hooks, swiftName: swiftName?.value,
      renamedFrom: renamedFrom.map(\.value), removed: removed.map(\.value), doc: doc, userInfo: userInfo,
      json: json?.mapping, history: history?.value, composites: composites.map(\.whole), sync: sync?.value)
  }
}

// MARK: - Keyed object

/// An object of the grammar. It reports unknown and missing keys, and returns typed values.
struct KeyedObject {
  let object: JSONObject
  /// The name of the object in messages: `attribute 'Diary.mood'`.
  let owner: String
  let findings: Findings

  /// - Parameter keys: all valid keys.
  init(
    _ object: JSONObject, at offset: Int, owner: String, keys: [String], required: [String] = [], _ findings: Findings
  ) {
    self.object = object
    self.owner = owner
    self.findings = findings
    var meant: Set<String> = []
    for member in object.members where !keys.contains(member.key) {
      if let key = reportUnknown(member, keys) { meant.insert(key) }
    }
    // A misspelled key is reported once, as unknown, and not as missing as well.
    for key in required where object[key] == nil && !meant.contains(key) {
      findings.error(.missingKey, at: offset, "\(owner.capitalizedFirst) needs the key '\(key)'.")
    }
  }

  private func reportUnknown(_ member: JSONObject.Member, _ keys: [String]) -> String? {
    let closest = findings.suggestions.closest(to: member.key, among: keys)
    let remedy = closest.map { "did you mean '\($0)'?" } ?? "it may have \(keys.filter { $0 != "$schema" }.listed)."
    findings.error(
      .unknownKey, at: member.keyOffset, "\(owner.capitalizedFirst) has no key \(member.key.quoted); \(remedy)")
    return closest
  }

  func wrongType(_ key: String, _ node: JSONNode, _ expected: String) {
    findings.error(
      .wrongType, at: node.offset, "The value of '\(key)' of \(owner) must be \(expected); here is \(node.kind).")
  }

  // MARK: Values

  func text(_ key: String) -> Located<String>? {
    guard let node = object[key]?.value else { return nil }
    guard let text = node.string else {
      wrongType(key, node, "a string")
      return nil
    }
    return Located(text, at: node.offset)
  }

  func flag(_ key: String) -> Located<Bool>? {
    guard let node = object[key]?.value else { return nil }
    guard case .bool(let flag) = node.content else {
      wrongType(key, node, "true or false")
      return nil
    }
    return Located(flag, at: node.offset)
  }

  func isSet(_ key: String) -> Bool { flag(key)?.value ?? false }

  /// A count.
  func count(_ key: String, least: Int = 0) -> Int? {
    guard let node = object[key]?.value else { return nil }
    guard case .number = node.content else {
      wrongType(key, node, "a whole number")
      return nil
    }
    guard let value = node.integer.flatMap({ Int(exactly: $0) }), value >= least, value <= Int(Int32.max) else {
      findings.error(
        .badCount, at: node.offset,
        "The value of '\(key)' of \(owner) must be a whole number from \(least) to \(Int32.max).")
      return nil
    }
    return value
  }

  /// One of a fixed set of words.
  func word<Word: RawRepresentable & CaseIterable>(_ key: String, _: Word.Type) -> Word? where Word.RawValue == String {
    guard let text = text(key) else { return nil }
    if let word = Word(rawValue: text.value) { return word }
    reportUnknownWord(key, text, Word.allCases.map(\.rawValue))
    return nil
  }

  func reportUnknownWord(_ key: String, _ text: Located<String>, _ words: [String]) {
    let closest = findings.suggestions.clause(for: text.value, among: words)
    findings.error(
      .unknownWord, at: text.offset,
      "\(text.value.quoted) is no value of '\(key)' of \(owner)"
        + (closest.isEmpty ? "; it may be \(words.listed)." : closest))
  }

  func nested(_ key: String) -> JSONObject? {
    guard let node = object[key]?.value else { return nil }
    if node.object == nil { wrongType(key, node, "an object") }
    return node.object
  }

  func list(_ key: String) -> [JSONNode] {
    guard let node = object[key]?.value else { return [] }
    if node.array == nil { wrongType(key, node, "a list") }
    return node.array ?? []
  }

  func texts(_ key: String) -> [Located<String>] {
    list(key).compactMap { node in
      if node.string == nil { wrongType(key, node, "a list of strings") }
      return node.string.map { Located($0, at: node.offset) }
    }
  }

  /// The former names: a text, or a list of texts.
  func formerNames() -> [Located<String>] {
    guard let node = object["renamedFrom"]?.value else { return [] }
    if let text = node.string { return [Located(text, at: node.offset)] }
    if node.array == nil {
      wrongType("renamedFrom", node, "a string, or a list of strings")
      return []
    }
    return texts("renamedFrom")
  }

  /// A list with lists of names as its elements. A single name stands for a list of one.
  func nameLists(_ key: String) -> [Located<[Located<String>]>] {
    list(key).map { node in
      let elements = node.array ?? [node]
      let names = elements.compactMap { element -> Located<String>? in
        if element.string == nil {
          findings.error(
            .wrongType, at: element.offset,
            "The value of '\(key)' of \(owner) must be a list of lists of property names, such as [[\"name\"]].")
        }
        return element.string.map { Located($0, at: element.offset) }
      }
      if elements.isEmpty {
        findings.error(
          .wrongType, at: node.offset, "A list in '\(key)' of \(owner) names no property; name one or take it out.")
      }
      return Located(names, at: node.offset)
    }
  }

  func userInfo() -> [UserInfoEntry] {
    (nested("userInfo")?.members ?? []).compactMap { member in
      if member.value.string == nil { wrongType("userInfo", member.value, "an object whose values are strings") }
      return member.value.string.map { UserInfoEntry(member.key, $0) }
    }
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
