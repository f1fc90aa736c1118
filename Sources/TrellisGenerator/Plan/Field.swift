import TrellisSchema

/// A property in generated code: its number, its Swift name and type, and its storage.
///
/// A class rather than a struct, because emitters pass fields around often and an attribute is expensive to copy.
final class Field {
  enum Kind {
    /// An attribute stored in the row, with its column.
    case attribute(Attribute, column: Int)
    /// An attribute in memory only.
    case transient(Attribute)
    /// A to-one stored in the row, with its column and the column of its position in the inverse's order.
    case reference(Relationship, column: Int, place: Int?)
    /// A to-one stored at the other end, or in memory only.
    case partner(Relationship)
    case toMany(Relationship)
  }

  let kind: Kind
  let number: Int
  let name: Identifier
  let doc: String?
  /// The class, struct or enum without `?`: the type of an attribute's value or of a relationship's objects.
  let base: String
  /// The Swift name of a relationship's inverse.
  let inverseName: String?
  /// The name of the private property for a transient value or the position of a reference.
  var storage = ""

  init(_ property: Property, in model: Model) {
    number = property.index
    name = Identifier(property.swiftName)
    switch property {
    case .attribute(let attribute):
      kind = attribute.column.map { .attribute(attribute, column: $0) } ?? .transient(attribute)
      base = SwiftType.name(of: attribute.type)
      doc = attribute.description.doc
      inverseName = nil
    case .relationship(let relationship):
      kind = Self.kind(of: relationship)
      base = model.entities[relationship.destination].name
      doc = relationship.description.doc
      inverseName = model.inverse(of: relationship).map { Property.relationship($0).swiftName }
    }
  }

  private static func kind(of relationship: Relationship) -> Kind {
    if relationship.isToMany { return .toMany(relationship) }
    guard case .column(let column, let place) = relationship.home else { return .partner(relationship) }
    return .reference(relationship, column: column, place: place)
  }
}

extension Field {
  var attribute: Attribute? {
    switch kind {
    case .attribute(let attribute, _), .transient(let attribute): attribute
    default: nil
    }
  }

  /// The type of the property in the class.
  var type: String {
    switch kind {
    case .attribute(let attribute, _), .transient(let attribute): attribute.isOptional ? base + "?" : base
    case .reference, .partner: base + "?"
    case .toMany(let relationship): "\(relationship.isOrdered ? TypeName.orderedToMany : TypeName.toMany)<\(base)>"
    }
  }

  /// The type of the field in the row.
  var rowType: String {
    if isReference { return "\(TypeName.objectID)<\(base)>?" }
    guard let attribute, isExternal else { return type }
    return TypeName.externalData + (attribute.isOptional ? "?" : "")
  }

  /// Whether the row holds a handle to external data that the property loads.
  var isExternal: Bool {
    if case .attribute(let attribute, _) = kind { attribute.description.isExternal } else { false }
  }

  var isReference: Bool { if case .reference = kind { true } else { false } }
  var isTransient: Bool { if case .transient = kind { true } else { false } }

  /// The column of the value or the reference; nil if the field is not stored in the row.
  var column: Int? {
    switch kind {
    case .attribute(_, let column), .reference(_, let column, _): column
    default: nil
    }
  }

  /// The order column of a reference.
  var placeColumn: Int? { if case .reference(_, _, let place) = kind { place } else { nil } }

  /// Whether the property is a to-one relationship.
  var isToOne: Bool {
    switch kind {
    case .reference, .partner: true
    default: false
    }
  }
}
