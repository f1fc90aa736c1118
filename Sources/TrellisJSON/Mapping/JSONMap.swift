package import TrellisModel
import TrellisStorage

/// The mapping of a model in the form that imports and exports use, made once for each of them.
package final class JSONMap {
  package let model: Model
  /// The mappings by entity number; nil for entities that are not mapped.
  package let entities: [EntityMap?]
  /// The unique keys by which objects are found.
  let keys: [UniqueKey]
  /// The keys that references hold, with their numbers among ``keys``, by the entity that has them.
  let referenceKeys: [Int: [(number: Int, property: Int)]]

  /// The relationships without an inverse that take their partners along when an owner is deleted.
  private(set) lazy var oneWayOwners: [Relationship] = model.oneWayReferences
    .compactMap { model.entities[$0.entity].properties[$0.property].relationship }
    .filter { $0.deleteRule == .cascade }

  /// - Throws: ``JSONImportError`` if the mapping of an entity does not fit the model. The build checks the same with
  ///   better messages; this is for models from elsewhere.
  package init(_ model: Model) throws(JSONMappingFault) {
    self.model = model
    var reader = MapReader(model)
    entities = try reader.read()
    var keys: [UniqueKey] = []
    func number(of key: UniqueKey?) -> Int? {
      guard let key else { return nil }
      if let known = keys.firstIndex(of: key) { return known }
      keys.append(key)
      return keys.count - 1
    }
    var referenceKeys: [Int: [(number: Int, property: Int)]] = [:]
    for case let map? in entities {
      map.keyNumber = number(of: map.key)
      for link in map.links {
        link.referenceKeyNumber = number(of: link.referenceKey)
        guard let key = link.referenceKey, let number = link.referenceKeyNumber else { continue }
        for entity in model.entities[key.entity].subtree
        where referenceKeys[entity]?.contains(where: { $0.number == number }) != true {
          referenceKeys[entity, default: []].append((number, key.properties[0]))
        }
      }
    }
    self.keys = keys
    self.referenceKeys = referenceKeys
  }

  /// Whether a record or a reference can tell which object of an entity it is about.
  func canBeNamed(_ entity: Int) -> Bool { entities[entity]?.key != nil || referenceKeys[entity] != nil }

  /// The mapping of an entity.
  ///
  /// - Throws: ``JSONMappingFault`` if the entity has none.
  package func map(of entity: Int) throws(JSONMappingFault) -> EntityMap {
    if let map = entities[entity] { return map }
    throw JSONMappingFault(
      "Entity '\(model.entities[entity].name)' has no mapping to JSON; add \"json\" to it in the model.")
  }
}

/// The reason why a model cannot be read from JSON: a sentence.
package struct JSONMappingFault: Error {
  package let message: String

  init(_ message: String) { self.message = message }
}

/// How objects of one entity are read and written.
package final class EntityMap {
  package let entity: Entity
  package let fields: [FieldMap]
  package let links: [LinkMap]
  /// The unique key by which objects are found; nil if each is a new one, or is found by its owner.
  package let key: UniqueKey?
  /// The number of the key in ``JSONMap/keys``.
  fileprivate(set) var keyNumber: Int?
  /// The parts of the key, in the order of the key's properties.
  package let keyParts: [KeyPart]
  /// The keys of the path to the text that tells the entity; nil if there is none.
  package let entityPath: [[UInt8]]?
  /// The text that stands for this entity there.
  package let entityValue: String
  /// The entities by their texts.
  package fileprivate(set) var entitiesByValue: [String: Int] = [:]
  /// Where the values of an object are.
  let root: PathNode
  /// The fields whose values are elsewhere than inside the object.
  let keyField: Int?
  package let valueField: Int?
  let enclosingFields: [Int]

  package enum KeyPart {
    /// The value of a field.
    case field(Int)
    /// The partner in a to-one relationship: a link of the object, or the owner that it is nested in.
    case partner(property: Int)

    func isPartner(_ property: Int) -> Bool {
      if case .partner(property) = self { true } else { false }
    }
  }

  init(
    _ entity: Entity, fields: [FieldMap], links: [LinkMap], key: UniqueKey?, entityPath: [[UInt8]]?, entityValue: String
  ) {
    self.entity = entity
    self.fields = fields
    self.links = links
    self.key = key
    self.entityPath = entityPath
    self.entityValue = entityValue
    keyParts = (key?.properties ?? []).map { property in
      fields.firstIndex { $0.attribute.index == property }.map { .field($0) } ?? .partner(property: property)
    }
    root = PathNode()
    for (number, field) in fields.enumerated() where field.isInside {
      root.add(field.path.steps, field.path.isPlural ? .item(number) : .field(number))
    }
    for (number, link) in links.enumerated() { root.add(link.path.steps, .link(number)) }
    groups = entity.optionalGroups.compactMap { group in
      guard let presence = fields.firstIndex(where: { $0.attribute.index == group.presence }) else { return nil }
      return (presence, fields.indices.filter { group.fields.contains(fields[$0].attribute.index) })
    }
    keyField = fields.firstIndex { $0.path.steps == [.key] }
    valueField = fields.firstIndex { $0.path.steps == [.value] }
    enclosingFields = fields.indices.filter { fields[$0].path.steps.first == .enclosing }
  }

  /// The fields that tell whether there is a value of a composite, each with the fields below it.
  package let groups: [(presence: Int, fields: [Int])]

  /// Whether objects are values that are no JSON objects.
  package var isScalar: Bool { valueField != nil && root.isLeaf }
}

/// How an attribute is read and written.
package final class FieldMap {
  package let attribute: Attribute
  package let path: JSONPath
  package let value: ValueMap
  package let keepsOnNull: Bool

  init(_ attribute: Attribute, _ path: JSONPath, _ value: ValueMap, keepsOnNull: Bool) {
    self.attribute = attribute
    self.path = path
    self.value = value
    self.keepsOnNull = keepsOnNull
  }

  /// Whether the value lies inside the object.
  fileprivate var isInside: Bool {
    switch path.steps.first {
    case .key, .value, .enclosing, nil: false
    case .name, .entries, .elements, .element, .matching: true
    }
  }
}

/// How a relationship is read and written.
package final class LinkMap {
  package let relationship: Relationship
  /// The path to the partner, or to each member.
  package let path: JSONPath
  package let keepsOnNull: Bool
  let members: PropertyJSON.Members
  /// Whether the values are never objects, but hold the key of the partner.
  package let isReference: Bool
  /// How a key of the partner is read; nil if partners are nested only.
  package let reference: ValueMap?
  /// The unique key of the partner that a reference holds.
  let referenceKey: UniqueKey?
  /// The number of that key in ``JSONMap/keys``.
  fileprivate(set) var referenceKeyNumber: Int?
  /// The inverse to-one, which nesting sets.
  let owner: Relationship?

  init(
    _ relationship: Relationship, _ path: JSONPath, keepsOnNull: Bool, members: PropertyJSON.Members,
    isReference: Bool, reference: ValueMap?, referenceKey: UniqueKey?, owner: Relationship?
  ) {
    self.relationship = relationship
    self.path = path
    self.keepsOnNull = keepsOnNull
    self.members = members
    self.isReference = isReference
    self.reference = reference
    self.referenceKey = referenceKey
    self.owner = owner
  }

  /// Whether a member without an owner is deleted: the relationship takes it along, or it requires an owner.
  var ownsMembers: Bool { relationship.deleteRule == .cascade || owner?.isRequired == true }

  /// Whether a member requires its owner, and may have no room beside others.
  var leavesNoRoom: Bool {
    owner?.isRequired == true && members == .replace
      && (!relationship.isToMany || relationship.maximumCount != nil)
  }
}

// MARK: - Reading the description

private struct MapReader {
  let model: Model
  private let declared: [EntityDescription]

  init(_ model: Model) {
    self.model = model
    declared = model.description.entities
  }

  mutating func read() throws(JSONMappingFault) -> [EntityMap?] {
    var maps: [EntityMap?] = []
    for entity in model.entities { maps.append(try map(of: entity)) }
    for map in maps {
      guard let map, map.entityPath != nil else { continue }
      for number in map.entity.subtree where !model.entities[number].isAbstract {
        guard let other = maps[number] else { continue }
        map.entitiesByValue[other.entityValue] = number
      }
    }
    return maps
  }

  /// The entity and its ancestors, itself first.
  private func lineage(of entity: Entity) -> [Entity] {
    var found = [entity]
    while let parent = found[found.count - 1].parent { found.append(model.entities[parent]) }
    return found
  }

  private func map(of entity: Entity) throws(JSONMappingFault) -> EntityMap? {
    let lineage = lineage(of: entity)
    let words = lineage.compactMap { declared[$0.index].json }
    guard !words.isEmpty else { return nil }
    let style = words.compactMap(\.style).first ?? .camelCase
    var fields: [FieldMap] = []
    var links: [LinkMap] = []
    for property in entity.properties {
      switch property {
      case .attribute(let attribute):
        if let field = try field(attribute, of: entity, style) { fields.append(field) }
      case .relationship(let relationship):
        if let link = try link(relationship, of: entity, style) { links.append(link) }
      }
    }
    var key: UniqueKey?
    if let names = Self.keyNames(words) { key = try self.key(names, of: entity) }
    var entityPath: [[UInt8]]?
    if let text = words.compactMap(\.entityPath).first {
      entityPath = try names(in: path(text, entity.name), text).map { Array($0.utf8) }
    }
    let map = EntityMap(
      entity, fields: fields, links: links, key: key, entityPath: entityPath,
      entityValue: declared[entity.index].json?.entityValue ?? entity.name)
    for case .partner(let property) in map.keyParts where entity.properties[property].relationship == nil {
      throw JSONMappingFault(
        "The key of '\(entity.name)' has '\(entity.properties[property].name)', which is not read from JSON.")
    }
    return map
  }

  private func path(_ text: String, _ owner: String) throws(JSONMappingFault) -> JSONPath {
    do throws(JSONPathFault) { return try JSONPath(text) } catch {
      throw JSONMappingFault("The path '\(text)' of '\(owner)' is none: \(error.message).")
    }
  }

  /// The path of a property, or its name as a path.
  private func path(_ words: PropertyJSON, _ owner: String, _ name: String) throws(JSONMappingFault) -> JSONPath {
    if let text = words.path { return try path(text, owner) }
    return JSONPath([.name(name)])
  }

  /// The nearest key that an entity or an ancestor declares.
  private static func keyNames(_ words: [EntityJSON]) -> [String]? { words.map(\.key).first { !$0.isEmpty } }

  private func names(in path: JSONPath, _ text: String) throws(JSONMappingFault) -> [String] {
    var names: [String] = []
    for step in path.steps {
      guard case .name(let name) = step else { throw JSONMappingFault("The path '\(text)' must have keys only.") }
      names.append(name)
    }
    return names
  }

  /// The unique key with some properties.
  private func key(_ names: [String], of entity: Entity) throws(JSONMappingFault) -> UniqueKey {
    let numbers = Set(names.compactMap { entity.property(named: $0)?.index })
    guard let key = entity.uniqueKeys.first(where: { Set($0.properties) == numbers }), numbers.count == names.count
    else {
      throw JSONMappingFault(
        "'\(entity.name)' has no unique key of \(names.joined(separator: ", ")), by which objects could be found.")
    }
    return key
  }

  private func field(
    _ attribute: Attribute, of entity: Entity, _ style: EntityJSON.Style
  ) throws(JSONMappingFault) -> FieldMap? {
    let words = attribute.description.json ?? PropertyJSON()
    guard words.isMapped, attribute.column != nil else { return nil }
    let name = "\(entity.name).\(attribute.name)"
    var found =
      attribute.isField && words.path == nil
      ? JSONPath(attribute.name.split(separator: ".").map { .name(style.spelling(of: String($0))) })
      : try path(words, name, style.spelling(of: attribute.name))
    // A store keeps such elements in another form than documents of others have.
    if case .array(let element) = attribute.type, element == .date || element == .decimal, !found.isPlural {
      found.steps.append(.elements)
    }
    let value = try ValueMap(attribute, words, isItem: found.isPlural, name)
    return FieldMap(attribute, found, value, keepsOnNull: words.keepsOnNull)
  }

  private func link(
    _ relationship: Relationship, of entity: Entity, _ style: EntityJSON.Style
  ) throws(JSONMappingFault) -> LinkMap? {
    guard let words = relationship.description.json, words.isMapped, !relationship.isTransient else { return nil }
    let name = "\(entity.name).\(relationship.name)"
    var path = try path(words, name, style.spelling(of: relationship.name))
    if relationship.isToMany, !path.isPlural { path.steps.append(.elements) }
    let destination = model.entities[relationship.destination]
    var reference: Attribute?
    var referenceKey: UniqueKey?
    if let attribute = words.reference {
      guard let found = destination.property(named: attribute)?.attribute,
        let key = destination.uniqueKeys.first(where: { $0.properties == [found.index] })
      else {
        throw JSONMappingFault("'\(name)' refers to '\(attribute)', which is no unique key of '\(destination.name)'.")
      }
      (reference, referenceKey) = (found, key)
    } else {
      let words = lineage(of: destination).compactMap { declared[$0.index].json }
      guard !words.isEmpty else {
        throw JSONMappingFault("'\(name)' leads to '\(destination.name)', which has no mapping to JSON.")
      }
      if let names = Self.keyNames(words), names.count == 1,
        let found = destination.property(named: names[0])?.attribute
      {
        referenceKey = try key(names, of: destination)
        reference = found
      }
    }
    let own = PropertyJSON(
      take: words.take.isEmpty ? reference?.description.json?.take ?? [] : words.take, emptyIsNull: words.emptyIsNull)
    let inverse = model.inverse(of: relationship)
    var referenceMap: ValueMap?
    if let reference { referenceMap = try ValueMap(reference, own, isItem: false, name) }
    return LinkMap(
      relationship, path, keepsOnNull: words.keepsOnNull, members: words.members, isReference: words.reference != nil,
      reference: referenceMap, referenceKey: referenceKey, owner: inverse.flatMap { $0.isToMany ? nil : $0 })
  }
}
