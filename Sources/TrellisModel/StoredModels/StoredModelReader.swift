/// The reason why a stored model text cannot be used.
package struct StoredModelFault: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, Hashable, Sendable {
    /// The text contains words that this version of Trellis does not know, because a newer version wrote it.
    case newerFormat = "newer-format"
    /// The text was not written by any version of Trellis.
    case damaged = "damaged"
    /// The text or its model exceeds ``Limits``.
    case limit = "limit"
  }

  package let kind: Kind
  /// The problem and its position, as a sentence. It may name entities and properties.
  package let message: String

  package var description: String { "\(message) [\(kind.rawValue)]" }
}

extension ModelDescription {
  /// Reads the model text from a store, which an earlier version of Trellis may have written under other rules.
  ///
  /// The text was checked when it was written, so only what a valid model needs is checked: the grammar, and the names
  /// that have to lead somewhere. Names, patterns and predicates may be arbitrary, because no code is generated from them;
  /// a default, a backfill or a bound that does not match its type is left out, since it would only affect new values. The
  /// text may come from a hostile file: it cannot cause a trap, and text that exceeds ``Limits`` is refused.
  ///
  /// - Parameter text: the text, as from ``canonicalJSON()``, in any layout.
  /// - Throws: ``StoredModelFault``.
  /// - Complexity: linear in the length of the text, and in the number of relationships times those of their
  ///   destinations.
  package init(storedText text: [UInt8]) throws(StoredModelFault) {
    do throws(StoredModelReader.Fault) {
      self = try StoredModelReader.model(try JSONTree.read(text))
    } catch {
      let before = text.prefix(error.offset)
      let line = before.lazy.filter { $0 == UInt8(ascii: "\n") }.count + 1
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
      throw StoredModelFault(
        kind: error.kind,
        message: "The stored model cannot be read at line \(line), column \(column): \(error.message)")
    }
    do throws(SchemaError) {
      _ = try Model(self)
    } catch {
      throw StoredModelFault(
        kind: .damaged, message: "The stored text describes no valid model: \(error.description.asMessage).")
    }
  }
}

/// Converts the JSON of a stored model to its description.
struct StoredModelReader {
  /// The first fault of the text.
  struct Fault: Error {
    let kind: StoredModelFault.Kind
    let offset: Int
    let message: String

    init(_ kind: StoredModelFault.Kind, at offset: Int, _ message: String) {
      self.kind = kind
      self.offset = offset
      self.message = message
    }
  }

  /// A type by its name in the text.
  private enum NamedType {
    case attribute(AttributeType, scalar: String?)
    case composite
  }

  private let types: [String: NamedType]
  /// The model so far, whose composites have the types of fields.
  private var model: ModelDescription
  private let values: StoredValueReader

  static func model(_ root: JSONNode) throws(Fault) -> ModelDescription {
    let fields = try StoredFields(root, "the model", ModelKeys.model)
    guard let name = try fields.text("model") else {
      throw Fault(.damaged, at: root.offset, "The model needs the key 'model'.")
    }
    var model = ModelDescription(name: name)
    model.version = try fields.text("version")
    model.doc = try fields.text("doc")
    model.userInfo = try fields.userInfo()
    model.history = try fields.history() ?? .off
    if let limit = fields["keepHistory"] {
      let limit = try StoredFields(limit, "'keepHistory'", ModelKeys.historyLimit)
      model.keepHistory = HistoryLimit(
        days: try limit.count("days", least: 1), transactions: try limit.count("transactions", least: 1))
    }
    model.codableTypes = try fields.texts("codableTypes")
    if let versions = fields["codableVersions"] {
      let versions = try StoredFields(versions, "'codableVersions'", model.codableTypes)
      for type in model.codableTypes { model.codableVersions[type] = try versions.count(type, least: 1) }
    }
    for (name, node) in try fields.members("enums", atMost: Limits.enums) {
      model.enums.append(try enumeration(name, node))
    }
    for (name, node) in try fields.members("scalars", atMost: Limits.enums) {
      guard let type = ScalarDescription.storedForms.first(where: { $0.spelling == node.string }) else {
        throw Fault(.newerFormat, at: node.offset, "The stored form of '\(name.shown)' is unknown.")
      }
      model.scalars.append(ScalarDescription(name, type))
    }
    let composites = try fields.members("composites", atMost: Limits.enums)
    var reader = StoredModelReader(model, composites: composites.map(\.0))
    for (name, node) in composites {
      let fields = try StoredFields(node, "composite '\(name.shown)'", ModelKeys.composite)
      let (attributes, inner) = try reader.attributes(fields, of: name)
      model.composites.append(
        CompositeDescription(name, attributes: attributes, composites: inner, doc: try fields.text("doc")))
    }
    reader.model = model
    for (name, node) in try fields.members("entities", atMost: Limits.entities) {
      model.entities.append(try reader.entity(name, node))
    }
    model.removed = try fields.texts("removed")
    try checkParents(of: model, at: fields["entities"]?.offset ?? root.offset)
    return model
  }

  private init(_ model: ModelDescription, composites: [String]) {
    var types: [String: NamedType] = [:]
    for composite in composites { types[composite] = .composite }
    for type in model.codableTypes { types[type] = .attribute(.codable(type), scalar: nil) }
    for scalar in model.scalars {
      types["[\(scalar.name)]"] = .attribute(.array(scalar.type), scalar: scalar.name)
      types[scalar.name] = .attribute(scalar.type, scalar: scalar.name)
    }
    for enumeration in model.enums {
      types[enumeration.name] = .attribute(.enumeration(enumeration.name), scalar: nil)
    }
    for scalar in AttributeType.scalars {
      types["[\(scalar.spelling)]"] = .attribute(.array(scalar), scalar: nil)
      types[scalar.spelling] = .attribute(scalar, scalar: nil)
    }
    self.types = types
    self.model = model
    values = StoredValueReader(model.enums)
  }

  /// Checks the depth of hierarchies, so that nothing that follows them takes long.
  private static func checkParents(of model: ModelDescription, at offset: Int) throws(Fault) {
    let parents = Dictionary(model.entities.map { ($0.name, $0.parent) }, uniquingKeysWith: { first, _ in first })
    for entity in model.entities {
      var (current, depth) = (entity.parent, 1)
      while let parent = current, depth <= model.entities.count {
        current = parents[parent] ?? nil
        depth += 1
      }
      // A circle has no end, and is reported as one.
      if current == nil, depth > Limits.ancestors {
        throw Fault(
          .limit, at: offset, "Entity '\(entity.name.shown)' has more than \(Limits.ancestors - 1) ancestors.")
      }
      if current != nil { return }
    }
  }

  // MARK: Enums

  private static func enumeration(_ name: String, _ node: JSONNode) throws(Fault) -> EnumDescription {
    let fields = try StoredFields(node, "enum '\(name.shown)'", ModelKeys.enumeration)
    let rawType: EnumDescription.RawType = try fields.word("type", RawTypeWord.self) == .int ? .integer : .string
    let nodes = try fields.read("cases", "a list", \.array) ?? []
    guard nodes.count <= Limits.enumCases else {
      throw Fault(.limit, at: node.offset, "There are \(nodes.count) cases; there may be \(Limits.enumCases).")
    }
    var cases: [EnumDescription.Case] = []
    for node in nodes { cases.append(try enumCase(node, rawType, of: fields.owner)) }
    var unknown = EnumDescription.UnknownPolicy.reject
    if let policy = fields["unknown"], policy.object != nil {
      let policy = try StoredFields(policy, "'unknown' of \(fields.owner)", ["default"])
      unknown = try policy.text("default").map { .useDefault($0) } ?? .reject
    } else if try fields.word("unknown", UnknownWord.self) == .preserve {
      unknown = .preserve
    }
    return EnumDescription(name, rawType: rawType, cases: cases, unknown: unknown, doc: try fields.text("doc"))
  }

  private static func enumCase(
    _ node: JSONNode, _ type: EnumDescription.RawType, of owner: String
  ) throws(Fault) -> EnumDescription.Case {
    if type == .string, let name = node.string { return EnumDescription.Case(name, .text(name)) }
    let fields = try StoredFields(node, "a case of \(owner)", ModelKeys.enumCase)
    let value: StoredValue? =
      switch type {
      case .string: try fields.text("value").map { .text($0) }
      case .integer: try fields.read("value", "a whole number of 64 bits", \.integer).map { .integer($0) }
      }
    guard let name = try fields.text("name"), let value = value ?? (type == .string ? .text(name) : nil) else {
      throw Fault(.damaged, at: node.offset, "A case of \(owner) needs the keys 'name' and 'value'.")
    }
    return EnumDescription.Case(
      name, value, renamedFrom: try fields.textOrTexts("renamedFrom"), doc: try fields.text("doc"))
  }

  // MARK: Entities

  private func entity(_ name: String, _ node: JSONNode) throws(Fault) -> EntityDescription {
    let fields = try StoredFields(node, "entity '\(name.shown)'", ModelKeys.entity)
    var entity = EntityDescription(
      name, parent: try fields.text("parent"), isAbstract: try fields.flag("abstract"),
      uniqueKeys: try fields.nameLists("unique"),
      indexes: try fields.nameLists("indexes").map { index in
        IndexDescription(index.map { IndexDescription.Element($0.withoutSign, descending: $0.isDescending) })
      },
      hooks: try fields.words("hooks", LifecycleHook.self), swiftName: try fields.text("swiftName"),
      renamedFrom: try fields.textOrTexts("renamedFrom"), removed: try fields.texts("removed"),
      doc: try fields.text("doc"), userInfo: try fields.userInfo(), json: try entityJSON(fields),
      history: try fields.history(), sync: try sync(fields))
    (entity.attributes, entity.composites) = try attributes(fields, of: name)
    let left = Limits.properties - entity.attributes.count
    for (relationship, node) in try fields.members("relationships", atMost: left) {
      entity.relationships.append(try self.relationship(relationship, node, of: name))
    }
    for (request, node) in try fields.members("fetchRequests", atMost: .max) {
      entity.fetchRequests.append(try fetchRequest(request, node, of: name))
    }
    return entity
  }

  private func fetchRequest(
    _ name: String, _ node: JSONNode, of entity: String
  ) throws(Fault) -> FetchRequestDescription {
    let fields = try StoredFields(node, "fetch request '\(entity.shown).\(name.shown)'", ModelKeys.fetchRequest)
    return FetchRequestDescription(
      name, predicate: try fields.text("predicate"),
      sort: try fields.texts("sort").map {
        FetchRequestDescription.Sort($0.withoutSign, descending: $0.isDescending)
      },
      limit: try fields.count("limit", least: 1), offset: try fields.count("offset"),
      prefetch: try fields.texts("prefetch"), doc: try fields.text("doc"))
  }

  // MARK: Attributes

  /// The attributes of an entity or a composite.
  private func attributes(
    _ owner: StoredFields, of name: String
  ) throws(Fault) -> ([AttributeDescription], [CompositeAttributeDescription]) {
    var attributes: [AttributeDescription] = []
    var composites: [CompositeAttributeDescription] = []
    for (attribute, node) in try owner.members("attributes", atMost: Limits.properties) {
      let owner = "attribute '\(name.shown).\(attribute.shown)'"
      guard let spelling = node.string ?? node.object?["type"]?.value.string else {
        throw Fault(.damaged, at: node.offset, "The \(owner) needs the key 'type'.")
      }
      let isOptional = spelling.utf8.last == UInt8(ascii: "?")
      switch types[isOptional ? String(spelling.dropLast()) : spelling] {
      case .attribute(let type, let scalar)?:
        attributes.append(
          try self.attribute(attribute, node, owner: owner, type, optional: isOptional, scalar: scalar))
      case .composite?:
        let name = isOptional ? String(spelling.dropLast()) : spelling
        var composite = CompositeAttributeDescription(
          attribute, name, optional: isOptional, position: attributes.count)
        if node.object != nil { try read(node, owner: owner, into: &composite) }
        composites.append(composite)
      case nil:
        throw Fault(
          .newerFormat, at: node.object?["type"]?.value.offset ?? node.offset,
          "The type '\(spelling.shown)' of \(owner) is unknown.")
      }
    }
    return (attributes, composites)
  }

  private func read(
    _ node: JSONNode, owner: String, into composite: inout CompositeAttributeDescription
  ) throws(Fault) {
    let fields = try StoredFields(node, owner, ModelKeys.compositeAttribute)
    let isOptional = try fields.flag("optional")
    composite.isOptional = composite.isOptional || isOptional
    composite.swiftName = try fields.text("swiftName")
    composite.renamedFrom = try fields.textOrTexts("renamedFrom")
    composite.doc = try fields.text("doc")
    composite.userInfo = try fields.userInfo()
    let words = try fields.members("fields", atMost: Limits.properties)
    // A composite without fields, or in a circle, is a fault of the model.
    guard !words.isEmpty, let known = try? model.fieldAttributes(of: composite) else { return }
    for (field, node) in words {
      let owner = "field '\(field.shown)' of \(owner)"
      guard let description = known.first(where: { $0.name == "\(composite.name).\(field)" }) else {
        throw Fault(.damaged, at: node.offset, "There is no \(owner).")
      }
      _ = try StoredFields(node, owner, ModelKeys.field)
      composite.fields.append(
        try attribute(field, node, owner: owner, description.type, optional: false, scalar: nil))
    }
  }

  private func attribute(
    _ name: String, _ node: JSONNode, owner: String, _ type: AttributeType, optional isOptional: Bool, scalar: String?
  ) throws(Fault) -> AttributeDescription {
    if node.string != nil {
      var attribute = AttributeDescription(name, type, optional: isOptional)
      if let scalar { attribute.scalar = scalar }
      return attribute
    }
    let fields = try StoredFields(node, owner, ModelKeys.attribute)
    var attribute = AttributeDescription(
      name, type, optional: try fields.flag("optional") || isOptional, transient: try fields.flag("transient"),
      default: fields["default"].flatMap { try? values.readConstant($0, as: type) },
      rules: try rules(fields, type), external: try fields.flag("externalStorage"),
      searchable: try fields.flag("searchable"), swiftName: try fields.text("swiftName"),
      renamedFrom: try fields.textOrTexts("renamedFrom"),
      lossy: try fields.word("convert", ConversionWord.self) == .lossy, doc: try fields.text("doc"),
      userInfo: try fields.userInfo(), json: try propertyJSON(fields, ModelKeys.attributeJSON),
      keptInHistory: try fields.flag("keepInHistory"), scalar: scalar, derived: try fields.text("derived"),
      stored: try fields.flag("stored"), sync: try sync(fields))
    if let backfill = fields["backfill"], !attribute.isTransient {
      attribute.backfill = values.readBackfill(backfill, as: type)
    }
    return attribute
  }

  private func rules(_ fields: StoredFields, _ type: AttributeType) throws(Fault) -> AttributeRules {
    var rules = AttributeRules()
    if type.hasBounds {
      rules.minimum = fields["min"].flatMap { try? values.read($0, as: type) }
      rules.maximum = fields["max"].flatMap { try? values.read($0, as: type) }
    }
    rules.minimumLength = try fields.count("minLength")
    rules.maximumLength = try fields.count("maxLength")
    rules.pattern = try fields.text("pattern")
    return rules
  }

  // MARK: Relationships

  private func relationship(
    _ name: String, _ node: JSONNode, of entity: String
  ) throws(Fault) -> RelationshipDescription {
    let owner = "relationship '\(entity.shown).\(name.shown)'"
    let fields = try StoredFields(node, owner, ModelKeys.relationship)
    guard let destination = try fields.text("destination") else {
      throw Fault(.damaged, at: node.offset, "The \(owner) needs the key 'destination'.")
    }
    return RelationshipDescription(
      name, to: destination, inverse: try fields.text("inverse"),
      deleteRule: try fields.word("deleteRule", DeleteRule.self) ?? .nullify, toMany: try fields.flag("toMany"),
      ordered: try fields.flag("ordered"), minCount: try fields.count("minCount"),
      maxCount: try fields.count("maxCount", least: 1), optional: try fields.flag("optional"),
      transient: try fields.flag("transient"), swiftName: try fields.text("swiftName"),
      renamedFrom: try fields.textOrTexts("renamedFrom"),
      lossy: try fields.word("convert", ConversionWord.self) == .lossy, doc: try fields.text("doc"),
      userInfo: try fields.userInfo(), json: try propertyJSON(fields, ModelKeys.relationshipJSON),
      sync: try sync(fields))
  }

  // MARK: Sync

  private func sync(_ owner: StoredFields) throws(Fault) -> SyncDecision? {
    guard let node = owner["sync"] else { return nil }
    return try StoredFields(node, "'sync' of \(owner.owner)", ModelKeys.sync).word("conflict", SyncDecision.self)
  }

  // MARK: Mapping of JSON

  private func entityJSON(_ entity: StoredFields) throws(Fault) -> EntityJSON? {
    guard let node = entity["json"] else { return nil }
    if case .bool(true) = node.content { return EntityJSON() }
    let fields = try StoredFields(node, "'json' of \(entity.owner)", ModelKeys.entityJSON)
    return EntityJSON(
      key: try fields.textOrTexts("key"), style: try fields.word("style", EntityJSON.Style.self),
      entityPath: try fields.text("entity"), entityValue: try fields.text("as"))
  }

  private func propertyJSON(_ property: StoredFields, _ keys: [String]) throws(Fault) -> PropertyJSON? {
    guard let node = property["json"] else { return nil }
    switch node.content {
    case .bool(let isMapped): return PropertyJSON(mapped: isMapped)
    case .string(let path): return PropertyJSON(path)
    default:
      let fields = try StoredFields(node, "'json' of \(property.owner)", keys)
      return PropertyJSON(
        try fields.text("path"), date: try fields.text("date"), take: try fields.words("take", PropertyJSON.Take.self),
        keepsOnNull: try fields.word("null", NullWord.self) == .keep,
        emptyIsNull: try fields.word("empty", EmptyWord.self) == .null, reference: try fields.text("reference"),
        members: try fields.word("members", PropertyJSON.Members.self) ?? .replace)
    }
  }
}

// MARK: - Stored fields

/// The members of one object of the text. Keys and words that this version does not know are those of a newer one.
private struct StoredFields {
  private let object: JSONObject
  /// The name of the object in messages.
  let owner: String

  init(_ node: JSONNode, _ owner: String, _ keys: [String]) throws(StoredModelReader.Fault) {
    guard let object = node.object else {
      throw .init(.damaged, at: node.offset, "The \(owner) must be an object; here is \(node.kind).")
    }
    for member in object.members where !keys.contains(member.key) {
      throw .init(.newerFormat, at: member.keyOffset, "The \(owner) has no key '\(member.key.shown)'.")
    }
    self.object = object
    self.owner = owner
  }

  subscript(key: String) -> JSONNode? { object[key]?.value }

  /// Reads the value of a key, if it is there.
  ///
  /// - Parameters:
  ///   - expected: The kind of the value, for the message.
  ///   - convert: Returns nil for a value of another kind.
  func read<Value>(
    _ key: String, _ expected: String, _ convert: (JSONNode) -> Value?
  ) throws(StoredModelReader.Fault) -> Value? {
    guard let node = self[key] else { return nil }
    if let value = convert(node) { return value }
    throw .init(
      .damaged, at: node.offset, "The value of '\(key)' of \(owner) must be \(expected); here is \(node.kind).")
  }

  func text(_ key: String) throws(StoredModelReader.Fault) -> String? { try read(key, "a string", \.string) }

  func flag(_ key: String) throws(StoredModelReader.Fault) -> Bool {
    try read(key, "true or false") { node in if case .bool(let flag) = node.content { flag } else { nil } } ?? false
  }

  func count(_ key: String, least: Int = 0) throws(StoredModelReader.Fault) -> Int? {
    try read(key, "a whole number from \(least) to \(Int32.max)") { node in
      node.integer.flatMap { Int(exactly: $0) }.flatMap { (least...Int(Int32.max)).contains($0) ? $0 : nil }
    }
  }

  func texts(_ key: String) throws(StoredModelReader.Fault) -> [String] {
    try read(key, "a list of strings", \.strings) ?? []
  }

  func textOrTexts(_ key: String) throws(StoredModelReader.Fault) -> [String] {
    try read(key, "a string, or a list of strings") { node in node.string.map { [$0] } ?? node.strings } ?? []
  }

  /// Lists with at least one name each. A single name stands for a list of one.
  func nameLists(_ key: String) throws(StoredModelReader.Fault) -> [[String]] {
    try read(key, "a list of lists of property names") { node in
      let lists = node.array?.compactMap { $0.strings ?? $0.string.map { [$0] } }
      return lists?.count == node.array?.count && lists?.allSatisfy { !$0.isEmpty } == true ? lists : nil
    } ?? []
  }

  func word<Word: RawRepresentable>(
    _ key: String, _: Word.Type
  ) throws(StoredModelReader.Fault) -> Word? where Word.RawValue == String {
    guard let text = try text(key) else { return nil }
    return try word(text, key)
  }

  func words<Word: RawRepresentable>(
    _ key: String, _: Word.Type
  ) throws(StoredModelReader.Fault) -> [Word] where Word.RawValue == String {
    var words: [Word] = []
    for text in try textOrTexts(key) { words.append(try word(text, key)) }
    return words
  }

  private func word<Word: RawRepresentable>(
    _ text: String, _ key: String
  ) throws(StoredModelReader.Fault) -> Word where Word.RawValue == String {
    if let word = Word(rawValue: text) { return word }
    throw .init(
      .newerFormat, at: self[key]?.offset ?? 0, "'\(text.shown)' is no value of '\(key)' of \(owner) that is known.")
  }

  func history() throws(StoredModelReader.Fault) -> HistoryContent? {
    guard let node = self["history"] else { return nil }
    switch node.content {
    case .bool(let isRecorded): return isRecorded ? .changes : .off
    default: return try word("history", HistoryWord.self).map { _ in .values }
    }
  }

  func members(_ key: String, atMost limit: Int) throws(StoredModelReader.Fault) -> [(String, JSONNode)] {
    guard let members = try read(key, "an object", \.object)?.members else { return [] }
    guard members.count <= limit else {
      throw .init(
        .limit, at: self[key]?.offset ?? 0, "The \(owner) has \(members.count) \(key); there may be \(limit).")
    }
    return members.map { ($0.key, $0.value) }
  }

  func userInfo() throws(StoredModelReader.Fault) -> [UserInfoEntry] {
    try read("userInfo", "an object whose values are strings") { node in
      let entries = node.object?.members.compactMap { member in
        member.value.string.map { UserInfoEntry(member.key, $0) }
      }
      return entries?.count == node.object?.members.count ? entries : nil
    } ?? []
  }
}

extension JSONNode {
  /// The elements of a list of strings.
  fileprivate var strings: [String]? {
    guard let array else { return nil }
    let strings = array.compactMap(\.string)
    return strings.count == array.count ? strings : nil
  }
}
