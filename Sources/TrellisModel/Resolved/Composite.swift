/// A composite attribute of an entity, resolved to the attributes of its fields.
public final class Composite: Sendable {
  /// A member of the group.
  public enum Member: Sendable {
    /// A field, by the number of its attribute.
    case attribute(Int)
    /// A group in the group.
    case composite(Composite)
  }

  /// The path of the attribute from the entity: `price`, or `address.position` for a group in a group.
  public let name: String
  /// The description that the attribute was resolved from.
  public let description: CompositeAttributeDescription
  /// The composite that is its type.
  public let type: CompositeDescription
  /// The number of the attribute that tells whether there is a value; nil if there always is one.
  public let presence: Int?
  /// The fields and inner groups, in the order of the file.
  public let members: [Member]

  /// The numbers of all attributes of the group, the presence first.
  package let attributes: Range<Int>

  init(
    name: String, description: CompositeAttributeDescription, type: CompositeDescription, presence: Int?,
    members: [Member], attributes: Range<Int>
  ) {
    self.name = name
    self.description = description
    self.type = type
    self.presence = presence
    self.members = members
    self.attributes = attributes
  }

  /// The paths of the fields and inner groups from the entity.
  package var fieldNames: [String] { type.members.map { "\(name).\($0.name)" } }
}

// MARK: - Expansion

/// The attributes that a description has in place of its composite attributes: one for each field, under the path of the
/// field.
///
/// A field of a composite that may be nil as a whole may be nil itself, and is nil if the whole is.
struct CompositeExpansion {
  /// An attribute, with its place in a composite.
  struct Field {
    var attribute: AttributeDescription
    let role: Attribute.Role
  }

  /// The greatest number of groups around a field.
  static let depth = 8

  private let model: ModelDescription
  private let firstNumber: Int
  /// The attributes, in the order of their numbers.
  private(set) var fields: [Field] = []
  /// The composite attributes.
  private(set) var composites: [Composite] = []

  /// - Parameter firstNumber: The property number of the first attribute.
  /// - Throws: ``SchemaError`` if a composite or a field is not in the model, or composites contain each other.
  init(
    _ attributes: [AttributeDescription], _ composites: [CompositeAttributeDescription], in model: ModelDescription,
    firstNumber: Int = 0
  ) throws(SchemaError) {
    self.model = model
    self.firstNumber = firstNumber
    for case .composite(let composite) in try append(attributes, composites, in: Surroundings()) {
      self.composites.append(composite)
    }
  }

  private var nextNumber: Int { firstNumber + fields.count }

  /// What is around a group.
  private struct Surroundings {
    var prefix = ""
    var formerPrefixes = [""]
    var isOptional = false
    var depth = 0
  }

  private mutating func append(
    _ attributes: [AttributeDescription], _ groups: [CompositeAttributeDescription], in outer: Surroundings
  ) throws(SchemaError) -> [Composite.Member] {
    guard outer.depth <= Self.depth else {
      throw SchemaError("\(outer.prefix.dropLast()) is in more than \(Self.depth) composites")
    }
    var members: [Composite.Member] = []
    for declared in DeclaredAttribute.list(attributes, groups) {
      switch declared {
      case .plain(let attribute):
        members.append(.attribute(nextNumber))
        append(attribute, in: outer)
      case .composite(let group): members.append(.composite(try append(group, in: outer)))
      }
    }
    return members
  }

  private mutating func append(_ attribute: AttributeDescription, in outer: Surroundings) {
    guard outer.depth > 0 else { return fields.append(Field(attribute: attribute, role: .plain)) }
    var field = attribute
    field.name = outer.prefix + attribute.name
    field.renamedFrom = outer.formerPrefixes.flatMap { former in
      ([attribute.name] + attribute.renamedFrom).map { former + $0 }
    }.filter { $0 != field.name }
    field.isOptional = attribute.isOptional || outer.isOptional
    // A field is nil if the whole is. `OptionalGroup` has the default.
    if outer.isOptional { field.defaultValue = nil }
    fields.append(Field(attribute: field, role: .field))
  }

  private mutating func append(
    _ group: CompositeAttributeDescription, in outer: Surroundings
  ) throws(SchemaError) -> Composite {
    guard let type = model.composites.first(where: { $0.name == group.composite }) else {
      throw SchemaError("there is no composite named \(group.composite)")
    }
    let name = outer.prefix + group.name
    let former = outer.formerPrefixes.flatMap { former in ([group.name] + group.renamedFrom).map { former + $0 } }
    let start = nextNumber
    let presence = group.isOptional ? start : nil
    if group.isOptional {
      let attribute = AttributeDescription(
        name, .bool, optional: true, renamedFrom: former.filter { $0 != name }, doc: group.doc)
      fields.append(Field(attribute: attribute, role: .presence))
    }
    let first = fields.count
    let members = try append(
      type.attributes, type.composites,
      in: Surroundings(
        prefix: name + ".", formerPrefixes: former.map { $0 + "." }, isOptional: outer.isOptional || group.isOptional,
        depth: outer.depth + 1))
    guard !members.isEmpty else { throw SchemaError("the composite \(type.name) has no attributes") }
    for own in group.fields {
      let path = name + "." + own.name
      guard let place = fields[first...].firstIndex(where: { $0.attribute.name == path }) else {
        throw SchemaError("\(type.name) has no field \(own.name)")
      }
      fields[place].attribute.add(own, mayBeAbsent: outer.isOptional || group.isOptional)
    }
    return Composite(
      name: name, description: group, type: type, presence: presence, members: members,
      attributes: start..<nextNumber)
  }
}

extension AttributeDescription {
  /// Adds what a composite attribute says of the field.
  ///
  /// - Parameter mayBeAbsent: whether there may be no value of a composite around the field, whose default it is not then.
  fileprivate mutating func add(_ own: AttributeDescription, mayBeAbsent: Bool) {
    if let value = own.defaultValue, !mayBeAbsent { defaultValue = value }
    if let value = own.backfill { backfill = value }
    if let value = own.json { json = value }
    if let value = own.doc { doc = value }
    if let value = own.sync { sync = value }
    renamedFrom += own.renamedFrom
    isSearchable = isSearchable || own.isSearchable
    isLossy = isLossy || own.isLossy
    isKeptInHistory = isKeptInHistory || own.isKeptInHistory
  }
}

extension ModelDescription {
  /// The greatest number of composites around a field.
  package static var compositeDepth: Int { CompositeExpansion.depth }

  /// The attributes of a composite attribute, under the names that they have in its entity.
  ///
  /// - Throws: ``SchemaError`` if a composite or a field is not in the model, or composites contain each other.
  package func fieldAttributes(of use: CompositeAttributeDescription) throws(SchemaError) -> [AttributeDescription] {
    try CompositeExpansion([], [use], in: self).fields.map(\.attribute)
  }
}
