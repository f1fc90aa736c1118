/// A model with every name resolved to a number: what the runtime, the queries and the stores work with.
///
/// Numbers are places in arrays: an entity's in ``entities``, a property's in ``Entity/properties``, a column's in
/// ``Entity/columns``. They hold for one model only and are never stored.
public struct Model: Sendable {
  public let description: ModelDescription
  /// In the order of the model file.
  public let entities: [Entity]
  /// The tables of the relationships that lie in no row.
  public let joinTables: [JoinTable]

  private let entityNumbers: [String: Int]
  private let knownChecksum: String?

  public var name: String { description.name }

  /// Resolves a description.
  ///
  /// - Parameter checksum: the description's checksum where it is known, so that nobody has to make it again.
  /// - Throws: ``SchemaError`` when a name leads nowhere or parents go in a circle. The model tool refuses such files
  ///   with better words; this is the last line of defence for models made in code.
  /// - Complexity: linear in the number of properties.
  public init(_ description: ModelDescription, checksum: String? = nil) throws(SchemaError) {
    var resolver = try ModelResolver(description)
    try resolver.resolve()
    self.description = description
    knownChecksum = checksum
    entities = resolver.entities
    joinTables = resolver.joinTables
    entityNumbers = resolver.entityNumbers
  }

  /// What tells this model from any other.
  package var checksum: String { knownChecksum ?? description.checksum }

  /// Whether data of some attribute may lie in files.
  package var hasExternalData: Bool {
    description.entities.contains { $0.attributes.contains { $0.isExternal && !$0.isTransient } }
  }

  /// The entity of this name, or nil.
  public func entity(named name: String) -> Entity? {
    entityNumbers[name].map { entities[$0] }
  }

  /// The enum of this name, or nil.
  public func enumeration(named name: String) -> EnumDescription? {
    description.enums.first { $0.name == name }
  }

  /// The relationship at the other end, and the entity that declares or inherits it; nil for a one-way relationship.
  public func inverse(of relationship: Relationship) -> Relationship? {
    relationship.inverse.flatMap { entities[relationship.destination].properties[$0].relationship }
  }
}

/// Why a description is no model.
public struct SchemaError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
