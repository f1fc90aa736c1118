/// A model with names resolved to numbers, as used by the runtime, the queries and the stores.
///
/// A model, its entities, attributes and relationships are classes: they never change, and are passed around all the
/// time.
///
/// Numbers are array indexes: of entities in ``entities``, of properties in ``Entity/properties``, of columns in
/// ``Entity/columns``. They are valid for one model only and are never stored.
public final class Model: Sendable {
  /// The description that the model was resolved from.
  public let description: ModelDescription
  /// The entities, in the order of the model file. Each is resolved when it is first used.
  public let entities: LazyList<Entity>
  /// The join tables of the relationships that are stored in no row.
  public let joinTables: [JoinTable]

  let links: ModelLinks
  let derivations = Derivations()
  private let knownChecksum: String?

  /// The name in the model.
  public var name: String { description.name }

  /// Resolves a description.
  ///
  /// - Parameter checksum: the checksum of the description if it is known, which saves computing it again.
  /// - Parameter description: The description of the model.
  /// - Throws: ``SchemaError`` if a name cannot be resolved or parents form a cycle. The model tool rejects such files
  ///   with better messages; this check is the last one for models built in code.
  /// - Complexity: linear in the number of properties.
  public init(_ description: ModelDescription, checksum: String? = nil) throws(SchemaError) {
    let links = try ModelLinks(description)
    self.links = links
    self.description = description
    knownChecksum = checksum
    entities = LazyList(count: description.entities.count) { EntityResolver.entity($0, links) }
    joinTables = links.joinTables
  }

  /// The checksum that identifies the model.
  package var checksum: String { knownChecksum ?? description.checksum }

  /// Whether any attribute may store its data in files.
  package var hasExternalData: Bool { links.hasExternalData }

  /// Whether any attribute is in the full-text index.
  package var hasSearchableText: Bool { links.hasSearchableText }

  /// Whether a store keeps the value of any derived attribute.
  package var hasStoredDerivations: Bool { links.hasStoredDerivations }

  /// What a store records about the changes of an entity's objects.
  package func history(of entity: Int) -> HistoryContent {
    description.entities[links.root(of: entity)].history ?? description.history
  }

  /// Whether a store records the changes of any entity.
  package var hasHistory: Bool {
    let entities = description.entities
    return entities.indices.contains {
      entities[$0].parent == nil && (entities[$0].history ?? description.history) != .off
    }
  }

  /// The entity of this name; nil if there is none.
  public func entity(named name: String) -> Entity? {
    links.entityNumbers[name].map { entities[$0] }
  }

  /// The enum of this name; nil if there is none.
  public func enumeration(named name: String) -> EnumDescription? {
    description.enums.first { $0.name == name }
  }

  /// The name of an entity, for which it need not be resolved.
  package func name(ofEntity entity: Int) -> String { description.entities[entity].name }

  /// The inverse relationship, as the destination declares or inherits it; nil for a one-way relationship.
  public func inverse(of relationship: Relationship) -> Relationship? {
    relationship.inverse.flatMap { entities[relationship.destination].properties[$0].relationship }
  }
}

// MARK: - What needs no resolved entity

extension Model {
  /// A relationship without an inverse, by numbers.
  package struct OneWayReference: Sendable {
    /// The entity that declares the relationship.
    package let entity: Int
    /// The number of the relationship.
    package let property: Int
    /// The entity at the other end.
    package let destination: Int
  }

  /// The stored relationships without an inverse.
  ///
  /// - Complexity: linear in the number of relationships.
  package var oneWayReferences: [OneWayReference] {
    var found: [OneWayReference] = []
    links.forEachRelationship { declaration, link in
      guard link.inverse == nil, link.home != .transient else { return }
      found.append(
        OneWayReference(
          entity: declaration.entity, property: links.propertyNumber(declaration), destination: link.destination))
    }
    return found
  }

  /// The entity and its ancestors, the entity first.
  package func lineage(of entity: Int) -> [Int] { links.lineage(entity) }

  /// Whether an entity is another one or a descendant of it.
  package func isEntity(_ entity: Int, within ancestor: Int) -> Bool { links.isEntity(entity, within: ancestor) }

  /// The root entity of each entity's hierarchy.
  ///
  /// - Complexity: linear in the number of entities.
  package var roots: [Int] { description.entities.indices.map(links.root) }

  /// Calls a closure with each relationship that a row stores: the entity that declares it, and its destination.
  ///
  /// - Complexity: linear in the number of relationships.
  package func forEachReference(_ body: (_ entity: Int, _ destination: Int) -> Void) {
    links.forEachRelationship { declaration, link in
      if link.home.isColumn { body(declaration.entity, link.destination) }
    }
  }

  /// Whether any relationship is its own inverse and stored in the rows of both partners.
  ///
  /// - Complexity: linear in the number of relationships.
  package var hasCouples: Bool {
    links.containsRelationship { declaration, link in link.inverse == declaration && link.home.isColumn }
  }

  /// Whether a save of others can break a rule of any relationship: a number of members, a required partner, or a
  /// delete rule that a join table has to be asked for.
  ///
  /// - Complexity: linear in the number of relationships.
  package var hasLinkRules: Bool {
    links.containsRelationship { declaration, link in
      guard link.home != .transient else { return false }
      let relationship = links.relationship(declaration)
      if relationship.isToMany && relationship.isCounted { return true }
      if case .joinTable = link.home, relationship.deleteRule == .cascade || relationship.deleteRule == .deny {
        return true
      }
      guard link.home.isColumn, let inverse = link.inverse.map(links.relationship) else { return false }
      return inverse.isCounted || inverse.isRequired
    }
  }
}

extension RelationshipDescription {
  /// Whether the members are counted at a save.
  var isCounted: Bool { minimumCount != nil || maximumCount != nil }

  /// Whether the object must have a partner on save.
  var isRequired: Bool { !isToMany && !isOptional }
}

/// The reason why a description is not a valid model.
public struct SchemaError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

// MARK: - Entity

/// An entity with numbered properties, including inherited ones.
public final class Entity: Sendable {
  /// The index in ``Model/entities``.
  public let index: Int
  /// The name in the model.
  public let name: String
  /// Whether only subentities have objects.
  public let isAbstract: Bool
  /// The number of the parent entity; nil for a root.
  public let parent: Int?
  /// The topmost ancestor, possibly the entity itself. All entities with the same root share a table.
  public let root: Int
  /// The entity itself, first, and all of its descendants.
  public let subtree: [Int]
  /// The properties: inherited ones first, in the order of the ancestors, then the entity's attributes, then its
  /// relationships.
  public let properties: [Property]
  /// The columns of a row, inherited ones first. Rows are read and written by these indexes.
  public let columns: [Column]
  /// The index of the first column that the entity declares itself. All columns before it are inherited.
  public let firstOwnColumn: Int
  /// The unique keys, by property numbers. Inherited keys come first.
  public let uniqueKeys: [UniqueKey]
  /// The indexes that the entity itself declares.
  public let indexes: [Index]
  /// The composite attributes, inherited ones first. Their fields are among ``properties``.
  public let composites: [Composite]
  /// The composite attributes that may be nil, inherited ones first, outer ones before inner ones.
  package let optionalGroups: [OptionalGroup]

  let propertyNumbers: [String: Int]

  init(
    index: Int, name: String, isAbstract: Bool, parent: Int?, root: Int, subtree: [Int], properties: [Property],
    columns: [Column], firstOwnColumn: Int, uniqueKeys: [UniqueKey], indexes: [Index], composites: [Composite],
    propertyNumbers: [String: Int]
  ) {
    self.index = index
    self.name = name
    self.isAbstract = isAbstract
    self.parent = parent
    self.root = root
    self.subtree = subtree
    self.properties = properties
    self.columns = columns
    self.firstOwnColumn = firstOwnColumn
    self.uniqueKeys = uniqueKeys
    self.indexes = indexes
    self.composites = composites
    optionalGroups = composites.flatMap(\.optionalGroups)
    self.propertyNumbers = propertyNumbers
  }

  /// Whether the entity shares its table with other entities.
  public var isInHierarchy: Bool { parent != nil || subtree.count > 1 }

  /// Whether the column's data may be stored in a file.
  package func isExternal(_ column: Column) -> Bool {
    guard case .attribute(let number) = column.content else { return false }
    return properties[number].attribute?.description.isExternal == true
  }

  /// The property of this name; nil if there is none.
  public func property(named name: String) -> Property? {
    propertyNumbers[name].map { properties[$0] }
  }

  /// The property that a path begins with. A field of a composite takes several names of the path.
  ///
  /// - Parameter names: The names of a path from the entity.
  /// - Returns: the property, and the number of its names; nil for an unknown name.
  public func property(at names: ArraySlice<String>) -> (property: Property, length: Int)? {
    guard var path = names.first else { return nil }
    var length = 1
    while length < names.count, composite(named: path) != nil {
      path += "." + names[names.startIndex + length]
      length += 1
    }
    return property(named: path).map { ($0, length) }
  }

  /// The composite attribute of this path, which may be a group in a group; nil for another path.
  public func composite(named path: String) -> Composite? {
    var found: Composite?
    var members = composites
    repeat {
      found = members.first { path == $0.name || path.hasPrefix($0.name + ".") }
      members = found?.members.compactMap { if case .composite(let inner) = $0 { inner } else { nil } } ?? []
    } while found != nil && found?.name != path
    return found
  }
}

/// Properties with combined values that must be unique among the objects of ``entity`` and its descendants.
public struct UniqueKey: Hashable, Sendable {
  /// The entity that declares the key.
  public let entity: Int
  /// The numbers of the properties.
  public let properties: [Int]
}

/// An index on properties, by their numbers.
public struct Index: Hashable, Sendable {
  /// A column of the index.
  public struct Element: Hashable, Sendable {
    /// The number of the property.
    public let property: Int
    /// Whether the order of the column is descending.
    public let isDescending: Bool
  }

  /// The columns, the most important first.
  public let elements: [Element]
}

/// An attribute or a relationship, numbered.
public enum Property: Sendable {
  /// An attribute.
  case attribute(Attribute)
  /// A relationship.
  case relationship(Relationship)

  /// The name in the model.
  public var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  /// The index in ``Entity/properties``.
  public var index: Int {
    switch self {
    case .attribute(let attribute): attribute.index
    case .relationship(let relationship): relationship.index
    }
  }

  /// The attribute; nil for a relationship.
  public var attribute: Attribute? {
    if case .attribute(let attribute) = self { attribute } else { nil }
  }

  /// The relationship; nil for an attribute.
  public var relationship: Relationship? {
    if case .relationship(let relationship) = self { relationship } else { nil }
  }

  /// The index in ``Entity/columns``; nil if the property is not stored in the row.
  public var column: Int? {
    switch self {
    case .attribute(let attribute): attribute.column
    case .relationship(let relationship): relationship.column
    }
  }
}

/// An attribute, numbered.
public final class Attribute: Sendable {
  /// The number in the model.
  public let index: Int
  /// The entity that declares the attribute.
  public let entity: Int
  /// The index in ``Entity/columns``; nil if the attribute is transient.
  public let column: Int?
  /// The class of the stored values.
  public let storageClass: StorageClass
  /// The description that the attribute was resolved from.
  public let description: AttributeDescription
  /// The enum of the value, or of the elements of a list; nil for any other type.
  package let enumeration: EnumDescription?
  /// What the attribute is to a composite.
  public let role: Role

  /// What an attribute is to a composite.
  public enum Role: Sendable {
    /// An attribute of its own.
    case plain
    /// A field.
    case field
    /// True if there is a value of a composite that may be nil, and nil otherwise.
    case presence
  }

  init(
    index: Int, entity: Int, column: Int?, storageClass: StorageClass, description: AttributeDescription,
    enumeration: EnumDescription?, role: Role
  ) {
    self.index = index
    self.entity = entity
    self.column = column
    self.storageClass = storageClass
    self.description = description
    self.enumeration = enumeration
    self.role = role
  }

  /// Whether the attribute belongs to a composite.
  public var isField: Bool { role != .plain }

  /// The name in the model.
  public var name: String { description.name }
  /// The type.
  public var type: AttributeType { description.type }
  /// Whether nil, or no member, is allowed.
  public var isOptional: Bool { description.isOptional }
}

/// A relationship, numbered.
public final class Relationship: Sendable {
  /// The number in the model, the same in the declaring entity and all its descendants.
  public let index: Int
  /// The entity that declares the relationship.
  public let entity: Int
  /// The number of the entity at the other end.
  public let destination: Int
  /// The number of the inverse among the destination's properties; nil for a one-way relationship.
  public let inverse: Int?
  /// Where the relationship is stored.
  public let home: RelationshipStorage
  /// The description that the relationship was resolved from.
  public let description: RelationshipDescription

  /// The name in the model.
  public let name: String
  /// Whether there may be several partners.
  public let isToMany: Bool
  /// Whether the members have an order.
  public let isOrdered: Bool
  /// What a delete of the owner does to the partners.
  public let deleteRule: DeleteRule
  /// Whether the object must have a partner on save. A to-many relationship without a minimum count may be empty.
  public let isRequired: Bool

  /// The name of the entity that declares the relationship.
  package let entityName: String
  /// What a delete of the owner does along the relationship.
  package let deleteAction: DeleteAction
  /// The delete rule of the inverse, applied to this object when its partner is deleted; nil for a one-way
  /// relationship.
  package let partnerRule: DeleteRule?
  /// Whether the relationship is its own inverse. Such a one-to-one is stored in the rows of both partners.
  package let isOwnInverse: Bool
  /// Whether a to-one may be nil, or a to-many with a minimum count be empty.
  package let isOptional: Bool
  /// The least number of members.
  package let minimumCount: Int?
  /// The greatest number of members.
  package let maximumCount: Int?

  package init(
    _ description: RelationshipDescription, index: Int, entity: Int, entityName: String, destination: Int,
    inverse: Int?, partnerRule: DeleteRule?, home: RelationshipStorage
  ) {
    self.description = description
    self.index = index
    self.entity = entity
    self.entityName = entityName
    self.destination = destination
    self.inverse = inverse
    self.partnerRule = partnerRule
    self.home = home
    name = description.name
    isToMany = description.isToMany
    isOrdered = description.isOrdered
    deleteRule = description.deleteRule
    isRequired = description.isRequired
    isOptional = description.isOptional
    isOwnInverse = inverse == index && destination == entity
    minimumCount = description.minimumCount
    maximumCount = description.maximumCount
    deleteAction = DeleteAction(
      description.deleteRule, isInPartnersRow: home == .inverseColumn || home.isColumn && isOwnInverse)
  }

  /// The number among the properties of an entity.
  @inlinable package var property: Int { index }

  /// Whether both are the same relationship, even if they were looked up through different entities of a hierarchy.
  @inlinable package func isSame(as other: Relationship) -> Bool { entity == other.entity && index == other.index }

  /// Whether the members are counted at a save.
  package var isCounted: Bool { minimumCount != nil || maximumCount != nil }

  /// Whether the reference outlives its target. It then keeps the target's key and reads nil.
  package var isLeftAlone: Bool { !isToMany && partnerRule == .noAction }

  // MARK: Home

  /// The index of the reference in ``Entity/columns``; nil if the relationship is stored elsewhere.
  @inlinable public var column: Int? {
    if case .column(let column, _) = home { column } else { nil }
  }

  /// Whether the reference is stored in the object's own row.
  @inlinable package var isColumn: Bool { home.isColumn }

  /// Whether the relationship is stored in a join table.
  @inlinable package var isJoined: Bool {
    if case .joinTable = home { true } else { false }
  }

  /// Whether the relationship exists only in memory.
  @inlinable package var isTransient: Bool { home == .transient }
}

/// What a delete does along a relationship of the deleted object, by the delete rule and by what holds the reference:
///
/// | rule       | the partner's row | the own row, a join table, memory |
/// |------------|-------------------|-----------------------------------|
/// | `cascade`  | deletes partners  | deletes partners                  |
/// | `deny`     | is refused        | is refused                        |
/// | `nullify`  | clears references | nothing                           |
/// | `noAction` | leaves references | nothing                           |
///
/// This is the only place that combines the two: the graph, the checks of a save and the stores ask for the action.
package enum DeleteAction: Sendable {
  /// The partners are deleted as well.
  case deletePartners
  /// A partner that remains refuses the delete.
  case refuse
  /// The references in the partners' rows become nil.
  case clearReferences
  /// The references in the partners' rows stay, and lead to nothing.
  case leaveReferences
  /// The link goes with the row, or with the pairs, of the deleted object.
  case nothing

  package init(_ rule: DeleteRule, isInPartnersRow: Bool) {
    switch rule {
    case .cascade: self = .deletePartners
    case .deny: self = .refuse
    case .nullify: self = isInPartnersRow ? .clearReferences : .nothing
    case .noAction: self = isInPartnersRow ? .leaveReferences : .nothing
    }
  }
}

extension Relationship {
  /// Whether a store can follow the delete by itself: the partners are deleted, and their rows hold the reference.
  package var cascadesInStore: Bool { deleteAction == .deletePartners && home == .inverseColumn }

  /// Whether a delete of the owner asks the store for pairs that other contexts have added meanwhile, since no row
  /// shows them.
  package var asksForPairs: Bool {
    isJoined && (deleteAction == .deletePartners || deleteAction == .refuse)
  }
}

/// The place where a relationship is stored.
public enum RelationshipStorage: Hashable, Sendable {
  /// In the object's own row. `order` is the column with the object's position in the inverse, if that is ordered.
  case column(Int, order: Int?)
  /// In the rows of the destination, as the inverse's reference.
  case inverseColumn
  /// In a join table. `isFirst` tells whether the relationship is the first end.
  case joinTable(Int, isFirst: Bool)
  /// Not stored: the relationship exists in memory only.
  case transient

  /// Whether the object's own row holds the reference.
  @inlinable package var isColumn: Bool {
    if case .column = self { true } else { false }
  }
}

extension Entity {
  /// The column of the to-one relationship that this column orders; nil if it is not an order column.
  package func reference(placedBy column: Int) -> Int? {
    for property in properties {
      if case .column(let reference, order: column)? = property.relationship?.home { return reference }
    }
    return nil
  }
}

/// A column of a row.
public final class Column: Sendable {
  /// What a column contains.
  public enum Content: Hashable, Sendable {
    /// The value of an attribute, by property number.
    case attribute(Int)
    /// The key of the object that a to-one relationship references, by property number. The key is never 0.
    case reference(Int, destination: Int)
    /// The position in an ordered to-many, the inverse of the to-one with this property number.
    case order(Int)
  }

  /// The name in the store.
  public let name: String
  /// What the column contains.
  public let content: Content
  /// The class of the stored values.
  public let storageClass: StorageClass
  /// Whether the value may be null. References and positions always may.
  public let isOptional: Bool

  init(name: String, content: Content, storageClass: StorageClass, isOptional: Bool) {
    self.name = name
    self.content = content
    self.storageClass = storageClass
    self.isOptional = isOptional
  }
}

/// The join table of a relationship that is stored in no row: pairs of keys, with an order column for each ordered
/// side.
public final class JoinTable: Sendable {
  /// One end: the objects of `entity`, on the side of the relationship with the number `property`.
  public struct End: Hashable, Sendable {
    /// The number of the entity that declares the relationship.
    public let entity: Int
    /// The number of the property.
    public let property: Int
    /// The key column for the objects of this end.
    public let column: String
    /// The column with the partner's position in this end's relationship; nil if the relationship is unordered.
    public let orderColumn: String?
  }

  /// The number of the table in the model.
  public let index: Int
  /// The name in the store.
  public let name: String
  /// The relationship whose owners are in the first column.
  public let first: End
  /// The second end; nil for a one-way relationship. Equal to ``first`` except for the column if the relationship is
  /// its own inverse.
  public let second: End?
  /// The key column for the partners of the first end's objects.
  public let partnerColumn: String
  /// The entity of the partners.
  public let partnerEntity: Int

  init(index: Int, name: String, first: End, second: End?, partnerColumn: String, partnerEntity: Int) {
    self.index = index
    self.name = name
    self.first = first
    self.second = second
    self.partnerColumn = partnerColumn
    self.partnerEntity = partnerEntity
  }

  /// Whether the relationship is its own inverse. Each pair is then stored in both directions.
  public var isSymmetric: Bool { second.map { $0.entity == first.entity && $0.property == first.property } ?? false }
}

// MARK: - Storage signature

extension Model {
  /// The facts that a store's content depends on, one per line, sorted. Models with equal signatures can open each
  /// other's stores.
  ///
  /// The facts are names, types, optionality, the shapes and homes of relationships, parents, uniqueness, and enum raw
  /// types. Defaults, rules, docs and delete rules are no facts, except for `noAction`, because its references have no
  /// foreign key.
  ///
  /// ```
  /// attribute Tag.name: string, required
  /// entity Tag
  /// relationship Tag.diaries: to many EmotionDiary, inverse tags, in table _EmotionDiary_tags
  /// unique Tag: name
  /// ```
  ///
  /// - Complexity: n log n in the number of declared properties.
  public var storageSignature: String {
    var lines = description.enums.map { "enum \($0.name): \($0.rawType.rawValue)" }
    for entity in entities {
      lines.append("entity \(entity.name)" + (entity.parent.map { ": child of \(entities[$0].name)" } ?? ""))
      for property in entity.properties { lines += signatureLine(property, of: entity) }
      for key in entity.uniqueKeys where key.entity == entity.index {
        lines.append(
          "unique \(entity.name): " + key.properties.map { entity.properties[$0].name }.joined(separator: ", "))
      }
    }
    return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "\n")
  }

  /// The line of a property, if the entity itself declares it and stores it.
  private func signatureLine(_ property: Property, of entity: Entity) -> [String] {
    switch property {
    case .attribute(let attribute):
      guard attribute.entity == entity.index, !attribute.description.isTransient else { return [] }
      let external = attribute.description.isExternal ? ", external" : ""
      return [
        "attribute \(entity.name).\(attribute.name): \(attribute.type.spelling), "
          + (attribute.isOptional ? "optional" : "required") + external
      ]
    case .relationship(let relationship):
      guard relationship.entity == entity.index, relationship.home != .transient else { return [] }
      return [signatureLine(relationship, of: entity)]
    }
  }

  private func signatureLine(_ relationship: Relationship, of entity: Entity) -> String {
    let count = relationship.isToMany ? "to many" : "to one"
    var parts = ["relationship \(entity.name).\(relationship.name): \(count) \(relationship.description.destination)"]
    if relationship.isOrdered { parts.append("ordered") }
    parts.append(relationship.description.inverse.map { "inverse \($0)" } ?? "one-way")
    if relationship.isRequired { parts.append("required") }
    if relationship.deleteRule == .noAction { parts.append("no foreign key") }
    switch relationship.home {
    case .column(_, let order): parts.append(order == nil ? "in its row" : "in its row with its place")
    case .inverseColumn: parts.append("in the row of its inverse")
    case .joinTable(let table, _): parts.append("in table \(joinTables[table].name)")
    case .transient: break
    }
    return parts.joined(separator: ", ")
  }
}
