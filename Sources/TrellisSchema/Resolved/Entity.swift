/// An entity with its inherited properties, numbered.
public struct Entity: Sendable {
  /// Its place in ``Model/entities``.
  public let index: Int
  public let name: String
  public let isAbstract: Bool
  public let parent: Int?
  /// The topmost ancestor, which may be the entity itself. All entities of one root share a table.
  public let root: Int
  /// The entity itself and everything below it, the entity first.
  public let subtree: [Int]
  /// Inherited ones first, in the ancestors' order; then the entity's own attributes, then its own relationships.
  public let properties: [Property]
  /// What a row holds, inherited columns first. Reading and writing go by these places.
  public let columns: [Column]
  /// The first column that the entity declares itself; the ones before it are inherited.
  public let firstOwnColumn: Int
  /// Property numbers whose values together belong to one object; inherited keys come first.
  public let uniqueKeys: [UniqueKey]
  /// The indexes that the entity declares itself.
  public let indexes: [Index]

  let propertyNumbers: [String: Int]

  /// Whether other entities share this entity's table.
  public var isInHierarchy: Bool { parent != nil || subtree.count > 1 }

  /// Whether a column's data may lie in a file.
  package func isExternal(_ column: Column) -> Bool {
    guard case .attribute(let number) = column.content else { return false }
    return properties[number].attribute?.description.isExternal == true
  }

  /// The property of this name, or nil.
  public func property(named name: String) -> Property? {
    propertyNumbers[name].map { properties[$0] }
  }
}

/// A key that no two objects of ``entity`` or of an entity below it may share.
public struct UniqueKey: Hashable, Sendable {
  /// The entity that declares the key.
  public let entity: Int
  public let properties: [Int]
}

/// An index over property numbers.
public struct Index: Hashable, Sendable {
  public struct Element: Hashable, Sendable {
    public let property: Int
    public let isDescending: Bool
  }

  public let elements: [Element]
}

/// An attribute or a relationship in its numbered place.
public enum Property: Sendable {
  case attribute(Attribute)
  case relationship(Relationship)

  public var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  /// Its place in ``Entity/properties``.
  public var index: Int {
    switch self {
    case .attribute(let attribute): attribute.index
    case .relationship(let relationship): relationship.index
    }
  }

  public var attribute: Attribute? {
    if case .attribute(let attribute) = self { attribute } else { nil }
  }

  public var relationship: Relationship? {
    if case .relationship(let relationship) = self { relationship } else { nil }
  }

  /// Its place in ``Entity/columns``; nil when it does not lie in the row.
  public var column: Int? {
    switch self {
    case .attribute(let attribute): attribute.column
    case .relationship(let relationship): relationship.column
    }
  }
}

/// An attribute, numbered.
public struct Attribute: Sendable {
  public let index: Int
  /// The entity that declares it.
  public let entity: Int
  /// Its place in ``Entity/columns``; nil when it is transient.
  public let column: Int?
  public let storageClass: StorageClass
  public let description: AttributeDescription

  public var name: String { description.name }
  public var type: AttributeType { description.type }
  public var isOptional: Bool { description.isOptional }
}

/// A relationship, numbered.
public struct Relationship: Sendable {
  public let index: Int
  /// The entity that declares it.
  public let entity: Int
  public let destination: Int
  /// The number of the other end among the destination's properties; nil for a one-way relationship.
  public let inverse: Int?
  /// What the deletion of the object at the other end does to this one; nil for a one-way relationship.
  package let partnerRule: DeleteRule?
  public let home: RelationshipHome
  public let description: RelationshipDescription

  public var name: String { description.name }
  public var isToMany: Bool { description.isToMany }
  public var isOrdered: Bool { description.isOrdered }
  public var deleteRule: DeleteRule { description.deleteRule }

  /// Whether the reference outlives the object that it leads to. Then it keeps its key, and reads nil.
  package var isLeftAlone: Bool { !isToMany && partnerRule == .noAction }

  /// Whether an object must have a partner here when it is saved. A to-many without a minimum count may be empty.
  public var isRequired: Bool { !isToMany && !description.isOptional }

  /// Whether both ends are this very relationship. A one-to-one like that lies in the rows of both partners.
  package var isOwnInverse: Bool { inverse == index && destination == entity }

  /// The reference's place in ``Entity/columns``; nil when it lies elsewhere.
  public var column: Int? {
    if case .column(let column, _) = home { column } else { nil }
  }
}

/// Where a relationship lies in a store.
public enum RelationshipHome: Hashable, Sendable {
  /// In the object's own row. `order` is the column with its place among the other end's members, where that is ordered.
  case column(Int, order: Int?)
  /// In the rows at the other end, under the inverse.
  case inverseColumn
  /// In a table of pairs, whose `first` or second end this is.
  case joinTable(Int, isFirst: Bool)
  /// Nowhere: the relationship lives in memory only.
  case transient
}

extension Entity {
  /// The column of the to-one whose objects have their places in a column; nil when that holds no places.
  package func reference(placedBy column: Int) -> Int? {
    for property in properties {
      if case .column(let reference, order: column)? = property.relationship?.home { return reference }
    }
    return nil
  }
}

/// One value of a row.
public struct Column: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// The value of an attribute, by property number.
    case attribute(Int)
    /// The key of the object that a to-one leads to, by property number; 0 never occurs.
    case reference(Int, destination: Int)
    /// The place among the members of an ordered to-many, whose inverse is the to-one of this property number.
    case order(Int)
  }

  public let name: String
  public let content: Content
  public let storageClass: StorageClass
  /// Whether the value may be null. References and places may always be.
  public let isOptional: Bool
}

/// The table of a relationship that lies in no row: pairs of keys, with an order for either side that is ordered.
public struct JoinTable: Hashable, Sendable {
  /// One end: the objects of `entity`, which hold the relationship of number `property`.
  public struct End: Hashable, Sendable {
    public let entity: Int
    public let property: Int
    /// The column with the key of this end's object.
    public let column: String
    /// The column with a partner's place in this end's relationship; nil when it has no order.
    public let orderColumn: String?
  }

  public let index: Int
  public let name: String
  public let first: End
  /// Nil for a one-way relationship; equal to ``first`` but for the column when a relationship is its own inverse.
  public let second: End?
  /// The column with the key of the partner of the first end's object.
  public let partnerColumn: String
  /// The partner's entity.
  public let partnerEntity: Int

  /// Whether the relationship is its own inverse: each pair is then kept in both directions.
  public var isSymmetric: Bool { second.map { $0.entity == first.entity && $0.property == first.property } ?? false }
}
