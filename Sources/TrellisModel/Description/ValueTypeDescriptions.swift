/// The app's own type of single values, with the form in which they are stored.
///
/// The program writes the type, which conforms to `ScalarAttribute`. Stores, predicates in text and JSON see the stored
/// form alone.
public struct ScalarDescription: Hashable, Sendable {
  /// The name of the type, in the model and in Swift.
  public var name: String
  /// The stored form: a scalar that has an order, which is every one but `data`.
  public var type: AttributeType

  /// Creates the description of a type.
  public init(_ name: String, _ type: AttributeType) {
    self.name = name
    self.type = type
  }

  /// The types that can be a stored form, in the order in which messages list them.
  package static let storedForms = AttributeType.scalars.filter { $0 != .data }
}

/// A named group of attributes. An entity uses it as the type of one attribute, and each row has its values in columns
/// of their own.
public struct CompositeDescription: Hashable, Sendable {
  /// The name, in the model and in Swift.
  public var name: String
  /// The attributes of the group, in the order of the file.
  public var attributes: [AttributeDescription]
  /// The groups in the group, in the order of the file.
  public var composites: [CompositeAttributeDescription]
  /// The doc comment from the model.
  public var doc: String?

  /// Creates the description of a group.
  public init(
    _ name: String, attributes: [AttributeDescription] = [], composites: [CompositeAttributeDescription] = [],
    doc: String? = nil
  ) {
    self.name = name
    self.attributes = attributes
    self.composites = composites
    self.doc = doc
  }
}

/// An attribute of an entity or of a composite whose type is a composite.
///
/// The model has one attribute for each field, `price.amount` and `price.currency`, and stores have a column for each.
/// If the whole may be nil, the attribute `price` itself is true for rows that have a value, and nil for others.
public struct CompositeAttributeDescription: Hashable, Sendable {
  /// The name in the model.
  public var name: String
  /// The name of the composite.
  public var composite: String
  /// Whether the whole may be nil.
  public var isOptional: Bool
  /// The number of plain attributes that the file declares before it.
  public var position: Int
  /// What the model says of single fields here, beyond the words of the composite. Names are those of fields, with dots
  /// for fields of inner groups; optionality and type are those of the field.
  public var fields: [AttributeDescription]
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String?
  /// The former names, the newest first. A migration finds the stored data by them.
  public var renamedFrom: [String]
  /// The doc comment from the model.
  public var doc: String?
  /// Notes for other programs, which Trellis only stores.
  public var userInfo: [UserInfoEntry]

  /// Creates the description of a composite attribute.
  public init(
    _ name: String, _ composite: String, optional: Bool = false, position: Int = .max,
    fields: [AttributeDescription] = [], swiftName: String? = nil, renamedFrom: [String] = [], doc: String? = nil,
    userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.composite = composite
    isOptional = optional
    self.position = position
    self.fields = fields
    self.swiftName = swiftName
    self.renamedFrom = renamedFrom
    self.doc = doc
    self.userInfo = userInfo
  }
}

/// A declared attribute of an entity or of a composite, plain or with a composite as its type.
package enum DeclaredAttribute: Sendable {
  case plain(AttributeDescription)
  case composite(CompositeAttributeDescription)

  /// The declared attributes, in the order of the file.
  package static func list(
    _ attributes: [AttributeDescription], _ composites: [CompositeAttributeDescription]
  ) -> [DeclaredAttribute] {
    if composites.isEmpty { return attributes.map { .plain($0) } }
    var all: [DeclaredAttribute] = []
    for place in 0...attributes.count {
      for composite in composites where min(composite.position, attributes.count) == place {
        all.append(.composite(composite))
      }
      if place < attributes.count { all.append(.plain(attributes[place])) }
    }
    return all
  }

  package var name: String {
    switch self {
    case .plain(let attribute): attribute.name
    case .composite(let composite): composite.name
    }
  }

  package var isOptional: Bool {
    switch self {
    case .plain(let attribute): attribute.isOptional
    case .composite(let composite): composite.isOptional
    }
  }
}

extension CompositeDescription {
  /// The fields and inner groups, in the order of the file.
  package var members: [DeclaredAttribute] { DeclaredAttribute.list(attributes, composites) }
}
