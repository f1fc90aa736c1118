/// An entity with numbered properties, including inherited ones.
public struct Entity: Sendable {
  /// The index in ``Model/entities``.
  public let index: Int
  public let name: String
  public let isAbstract: Bool
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

  let propertyNumbers: [String: Int]

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
}

/// Properties with combined values that must be unique among the objects of ``entity`` and its descendants.
public struct UniqueKey: Hashable, Sendable {
  /// The entity that declares the key.
  public let entity: Int
  public let properties: [Int]
}

/// An index on properties, by their numbers.
public struct Index: Hashable, Sendable {
  public struct Element: Hashable, Sendable {
    public let property: Int
    public let isDescending: Bool
  }

  public let elements: [Element]
}

/// An attribute or a relationship, numbered.
public enum Property: Sendable {
  case attribute(Attribute)
  case relationship(Relationship)

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

  public var attribute: Attribute? {
    if case .attribute(let attribute) = self { attribute } else { nil }
  }

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
public struct Attribute: Sendable {
  public let index: Int
  /// The entity that declares the attribute.
  public let entity: Int
  /// The index in ``Entity/columns``; nil if the attribute is transient.
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
  /// The entity that declares the relationship.
  public let entity: Int
  public let destination: Int
  /// The number of the inverse among the destination's properties; nil for a one-way relationship.
  public let inverse: Int?
  /// The delete rule of the inverse, applied to this object when its partner is deleted; nil for a one-way
  /// relationship.
  package let partnerRule: DeleteRule?
  public let home: RelationshipStorage
  public let description: RelationshipDescription

  public var name: String { description.name }
  public var isToMany: Bool { description.isToMany }
  public var isOrdered: Bool { description.isOrdered }
  public var deleteRule: DeleteRule { description.deleteRule }

  /// Whether the reference outlives its target. It then keeps the target's key and reads nil.
  package var isLeftAlone: Bool { !isToMany && partnerRule == .noAction }

  /// Whether the object must have a partner on save. A to-many relationship without a minimum count may be empty.
  public var isRequired: Bool { !isToMany && !description.isOptional }

  /// Whether the relationship is its own inverse. Such a one-to-one is stored in the rows of both partners.
  package var isOwnInverse: Bool { inverse == index && destination == entity }

  /// The index of the reference in ``Entity/columns``; nil if the relationship is stored elsewhere.
  public var column: Int? {
    if case .column(let column, _) = home { column } else { nil }
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
public struct Column: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// The value of an attribute, by property number.
    case attribute(Int)
    /// The key of the object that a to-one relationship references, by property number. The key is never 0.
    case reference(Int, destination: Int)
    /// The position in an ordered to-many, the inverse of the to-one with this property number.
    case order(Int)
  }

  public let name: String
  public let content: Content
  public let storageClass: StorageClass
  /// Whether the value may be null. References and positions always may.
  public let isOptional: Bool
}

/// The join table of a relationship that is stored in no row: pairs of keys, with an order column for each ordered
/// side.
public struct JoinTable: Hashable, Sendable {
  /// One end: the objects of `entity`, on the side of the relationship with the number `property`.
  public struct End: Hashable, Sendable {
    public let entity: Int
    public let property: Int
    /// The key column for the objects of this end.
    public let column: String
    /// The column with the partner's position in this end's relationship; nil if the relationship is unordered.
    public let orderColumn: String?
  }

  public let index: Int
  public let name: String
  public let first: End
  /// The second end; nil for a one-way relationship. Equal to ``first`` except for the column if the relationship is
  /// its own inverse.
  public let second: End?
  /// The key column for the partners of the first end's objects.
  public let partnerColumn: String
  /// The entity of the partners.
  public let partnerEntity: Int

  /// Whether the relationship is its own inverse. Each pair is then stored in both directions.
  public var isSymmetric: Bool { second.map { $0.entity == first.entity && $0.property == first.property } ?? false }
}
