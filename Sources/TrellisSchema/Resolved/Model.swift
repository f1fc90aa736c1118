/// A model with names resolved to numbers, as used by the runtime, the queries and the stores.
///
/// Numbers are array indexes: of entities in ``entities``, of properties in ``Entity/properties``, of columns in
/// ``Entity/columns``. They are valid for one model only and are never stored.
public struct Model: Sendable {
  public let description: ModelDescription
  /// The entities, in the order of the model file.
  public let entities: [Entity]
  /// The join tables of the relationships that are stored in no row.
  public let joinTables: [JoinTable]

  private let entityNumbers: [String: Int]
  private let knownChecksum: String?

  public var name: String { description.name }

  /// Resolves a description.
  ///
  /// - Parameter checksum: the checksum of the description if it is known, which saves computing it again.
  /// - Throws: ``SchemaError`` if a name cannot be resolved or parents form a cycle. The model tool rejects such files
  ///   with better messages; this check is the last one for models built in code.
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

  /// The checksum that identifies the model.
  package var checksum: String { knownChecksum ?? description.checksum }

  /// Whether any attribute may store its data in files.
  package var hasExternalData: Bool {
    description.entities.contains { $0.attributes.contains { $0.isExternal && !$0.isTransient } }
  }

  /// The entity of this name; nil if there is none.
  public func entity(named name: String) -> Entity? {
    entityNumbers[name].map { entities[$0] }
  }

  /// The enum of this name; nil if there is none.
  public func enumeration(named name: String) -> EnumDescription? {
    description.enums.first { $0.name == name }
  }

  /// The inverse relationship, as the destination declares or inherits it; nil for a one-way relationship.
  public func inverse(of relationship: Relationship) -> Relationship? {
    relationship.inverse.flatMap { entities[relationship.destination].properties[$0].relationship }
  }
}

/// The reason why a description is not a valid model.
public struct SchemaError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
