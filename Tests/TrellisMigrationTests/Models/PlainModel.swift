import TrellisModel

/// A model whose entities and properties have identities, which stay when everything else changes: what became of what is
/// then known without any names.
struct PlainModel {
  var enums: [EnumDescription] = []
  /// The case of the stored enum that each case continues, by the names of the enum and of the case. New cases are absent.
  var caseOrigins: [String: [String: String]] = [:]
  var entities: [PlainEntity] = []
  var removed: [String] = []
  var history = HistoryContent.off
  /// Decides which stored derived attributes the entities have: none if it is 0.
  var derivations = 0
  var version: String?

  static let codableType = "Place"

  subscript(_ entity: Int) -> PlainEntity {
    get { entities[number(of: entity)] }
    set { entities[number(of: entity)] = newValue }
  }

  private func number(of entity: Int) -> Int {
    entities.firstIndex { $0.id == entity } ?? entities.startIndex
  }

  func contains(_ entity: Int) -> Bool { entities.contains { $0.id == entity } }

  // MARK: Hierarchies

  /// The entity and its ancestors, the entity first.
  func lineage(_ entity: Int) -> [Int] {
    var line = [entity]
    while let parent = self[line[line.count - 1]].parent { line.append(parent) }
    return line
  }

  func subtree(_ entity: Int) -> [Int] { entities.map(\.id).filter { lineage($0).contains(entity) } }

  func isEntity(_ entity: Int, within ancestor: Int) -> Bool { lineage(entity).contains(ancestor) }

  // MARK: Properties

  /// The properties of an entity's rows, inherited ones included.
  func properties(_ entity: Int) -> [PlainProperty] { lineage(entity).reversed().flatMap { self[$0].properties } }

  /// The entity that declares a property; nil if there is no such property.
  func owner(_ property: Int) -> Int? {
    entities.first { $0.properties.contains { $0.id == property } }?.id
  }

  func property(_ property: Int) -> PlainProperty? {
    for entity in entities { if let found = entity.properties.first(where: { $0.id == property }) { return found } }
    return nil
  }

  mutating func change(_ property: Int, _ body: (inout PlainProperty) -> Void) {
    for entity in entities.indices {
      for place in entities[entity].properties.indices where entities[entity].properties[place].id == property {
        body(&entities[entity].properties[place])
      }
    }
  }

  /// Takes a property away, with all that needs it.
  mutating func remove(property: Int) {
    for entity in entities.indices {
      entities[entity].properties.removeAll { $0.id == property }
      entities[entity].uniqueKeys.removeAll { $0.contains(property) }
      entities[entity].indexes.removeAll { $0.contains { $0.property == property } }
      for place in entities[entity].properties.indices
      where entities[entity].properties[place].link?.inverse == property {
        entities[entity].properties[place].link?.inverse = nil
      }
    }
  }

  // MARK: Links

  /// The end that the store has first: the to-one with a column, or the first end of a join table.
  func firstEnd(_ end: PlainProperty) -> PlainProperty {
    guard let link = end.link, let inverse = link.inverse, inverse != end.id, let other = property(inverse),
      let otherLink = other.link
    else { return end }
    if link.isToMany != otherLink.isToMany { return link.isToMany ? other : end }
    if !link.isToMany && link.isOptional != otherLink.isOptional { return link.isOptional ? other : end }
    func rank(_ end: PlainProperty) -> (String, String) { (owner(end.id).map { self[$0].name } ?? "", end.name) }
    return rank(end) < rank(other) ? end : other
  }

  /// The first ends of all stored links.
  var links: [PlainProperty] {
    entities.flatMap(\.properties).filter { $0.link != nil && !$0.isTransient && firstEnd($0).id == $0.id }
  }

  /// Whether the references of a link may lead to nothing.
  func isLeftAlone(_ first: PlainProperty) -> Bool {
    guard let link = first.link, !link.isToMany, let inverse = link.inverse else { return false }
    return property(inverse)?.link?.rule == .noAction
  }

  /// The model as one in which every property continues itself.
  var asItself: PlainModel {
    var model = self
    model.caseOrigins = Dictionary(
      enums.map { ($0.name, Dictionary($0.cases.map { ($0.name, $0.name) }) { first, _ in first }) }
    ) { first, _ in first }
    for entity in model.entities.indices {
      for place in model.entities[entity].properties.indices {
        // What is only in memory leaves nothing to continue.
        let property = model.entities[entity].properties[place]
        model.entities[entity].properties[place].origins = property.isTransient ? [] : [property.id]
      }
    }
    return model
  }

  // MARK: Description

  var description: ModelDescription {
    ModelDescription(
      name: "Random", version: version, enums: enums, codableTypes: [Self.codableType],
      entities: entities.map(described),
      removed: removed, history: history, composites: entities.flatMap { groups(of: $0).map(\.composite) })
  }

  /// The composites of an entity: attributes whose names have the same first part before a dot.
  private func groups(
    of entity: PlainEntity
  ) -> [(composite: CompositeDescription, use: CompositeAttributeDescription)] {
    var groups: [(composite: CompositeDescription, use: CompositeAttributeDescription)] = []
    var plain = 0
    for property in entity.properties {
      guard let attribute = describedAttribute(property, history(of: entity.id)) else { continue }
      let parts = attribute.name.split(separator: ".").map(String.init)
      guard parts.count == 2 else {
        plain += 1
        continue
      }
      var field = attribute
      field.name = parts[1]
      var own = AttributeDescription(parts[1], attribute.type)
      (own.renamedFrom, own.backfill, own.isLossy) = (attribute.renamedFrom, attribute.backfill, attribute.isLossy)
      own.isKeptInHistory = attribute.isKeptInHistory
      (field.renamedFrom, field.backfill, field.isLossy, field.isKeptInHistory) = ([], nil, false, false)
      let isPlain = own == AttributeDescription(parts[1], attribute.type)
      let place = groups.firstIndex { $0.use.name == parts[0] } ?? groups.count
      if place == groups.count {
        let name = "\(entity.name)\(parts[0].capitalized)"
        groups.append((CompositeDescription(name), CompositeAttributeDescription(parts[0], name, position: plain)))
      }
      groups[place].composite.attributes.append(field)
      if !isPlain { groups[place].use.fields.append(own) }
    }
    return groups
  }

  /// What is recorded about the objects of an entity: only the root of a hierarchy says so.
  private func history(of entity: Int) -> HistoryContent {
    lineage(entity).last.flatMap { self[$0].history } ?? history
  }

  private func described(_ entity: PlainEntity) -> EntityDescription {
    func name(_ id: Int) -> String { property(id)?.name ?? "" }
    return EntityDescription(
      entity.name, parent: entity.parent.map { self[$0].name }, isAbstract: entity.isAbstract,
      attributes: entity.properties.compactMap { describedAttribute($0, history(of: entity.id)) }.filter {
        !$0.name.contains(".")
      } + derived(entity),
      relationships: entity.properties.compactMap(describedRelationship),
      uniqueKeys: entity.uniqueKeys.map { $0.map(name) },
      indexes: entity.indexes.map { index in
        IndexDescription(index.map { .init(name($0.property), descending: $0.isDescending) })
      }, renamedFrom: entity.formerNames, removed: entity.removed, history: entity.parent == nil ? entity.history : nil,
      composites: groups(of: entity).map(\.use))
  }

  /// Stored derived attributes over the entity's own properties.
  private func derived(_ entity: PlainEntity) -> [AttributeDescription] {
    guard derivations > 0 else { return [] }
    var derived: [AttributeDescription] = []
    for property in entity.properties where !property.isTransient && !property.name.contains(".") {
      guard (derivations + property.id) % 3 > 0 else { continue }
      let name = "derived\((derivations + property.id) % 5 == 0 ? derivations : 0)x\(property.id)"
      func add(_ type: AttributeType, _ text: String, optional: Bool = true) {
        derived.append(AttributeDescription(name, type, optional: optional, derived: text, stored: true))
      }
      switch property.attribute?.type {
      case .integer: add(.int64, "#\(property.name) + \(derivations % 4)")
      case .string: add(.string, "uppercase(#\(property.name)) + 'x'", optional: property.attribute?.isOptional ?? true)
      case .some: break
      case nil:
        guard let link = property.link, !self[link.destination].isAbstract || link.isToMany else { continue }
        if link.isToMany {
          add(.int64, "#\(property.name).@count", optional: false)
        } else if let target = properties(link.destination).first(where: {
          $0.attribute?.type == .string && !$0.isTransient && !$0.name.contains(".")
        }) {
          add(.string, "#\(property.name).#\(target.name)")
        }
      }
    }
    return derived
  }

  private func describedAttribute(_ property: PlainProperty, _ history: HistoryContent) -> AttributeDescription? {
    guard var attribute = property.attribute else { return nil }
    attribute.name = property.name
    attribute.renamedFrom = property.formerNames
    attribute.isTransient = property.isTransient
    attribute.isLossy = property.isLossy && !property.isTransient
    if property.isTransient || attribute.isExternal || history == .off { attribute.isKeptInHistory = false }
    return attribute
  }

  private func describedRelationship(_ property: PlainProperty) -> RelationshipDescription? {
    guard let link = property.link else { return nil }
    return RelationshipDescription(
      property.name, to: self[link.destination].name, inverse: link.inverse.flatMap { self.property($0)?.name },
      deleteRule: link.rule, toMany: link.isToMany, ordered: link.isOrdered, minCount: link.minimum,
      maxCount: link.maximum,
      optional: link.isOptional, transient: property.isTransient, renamedFrom: property.formerNames,
      lossy: property.isLossy && !property.isTransient)
  }
}

/// An entity with an identity.
struct PlainEntity {
  let id: Int
  var name: String
  var parent: Int?
  var isAbstract = false
  var history: HistoryContent?
  var formerNames: [String] = []
  var removed: [String] = []
  var properties: [PlainProperty] = []
  var uniqueKeys: [[Int]] = []
  var indexes: [[(property: Int, isDescending: Bool)]] = []
}

/// A property with an identity.
struct PlainProperty {
  let id: Int
  /// The properties of the stored model that this one continues. Each row has at most one of them.
  var origins: [Int]
  var name: String
  var formerNames: [String] = []
  var isTransient = false
  var isLossy = false
  /// The attribute, apart from its name; nil for a relationship.
  var attribute: AttributeDescription?
  /// The relationship; nil for an attribute.
  var link: PlainLink?

  /// The expression that rows without a value get: the name of a stored attribute.
  var expression: String? {
    if case .expression(let name)? = attribute?.backfill { name } else { nil }
  }

  /// The constant that rows without a value get.
  var filling: DefaultValue? {
    if case .value(let value)? = attribute?.backfill { return value }
    return attribute?.defaultValue
  }
}

/// A relationship.
struct PlainLink {
  var destination: Int
  /// The other end; its own identity if it is its own inverse.
  var inverse: Int?
  var rule = DeleteRule.nullify
  var isToMany = false
  var isOrdered = false
  var isOptional = true
  var minimum: Int?
  var maximum: Int?

  /// Whether an object may have so many partners.
  func allows(_ count: Int) -> Bool {
    if !isToMany { return count == 1 || count == 0 && isOptional }
    if count > maximum ?? .max { return false }
    return count >= minimum ?? 0 || count == 0 && isOptional
  }
}
