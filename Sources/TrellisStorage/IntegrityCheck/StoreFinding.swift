/// A problem found in a store: its kind, its place, a description, and a repair.
///
/// A finding contains no user data: it identifies an object by its key.
public struct StoreFinding: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file's own structure is damaged, or a part of it cannot be read.
    public static let damaged = Code(rawValue: "damaged")
    /// A table of the model is missing, or has a different definition.
    public static let tableDiffers = Code(rawValue: "table-differs")
    /// An index that the store relies on is missing, or has a different definition.
    public static let indexDiffers = Code(rawValue: "index-differs")
    /// A row belongs to no entity of the model.
    public static let unknownEntity = Code(rawValue: "unknown-entity")
    /// An object's key was never reserved, so a new object may get the same key.
    public static let unreservedKey = Code(rawValue: "unreserved-key")
    /// A stored value is invalid for its attribute.
    public static let unreadableValue = Code(rawValue: "unreadable-value")
    /// The file with an attribute's external data is missing, or has other content.
    public static let externalFile = Code(rawValue: "external-file")
    /// A required attribute or a required to-one relationship is null.
    public static let missingValue = Code(rawValue: "missing-value")
    /// A value violates a validation rule of its attribute.
    public static let brokenRule = Code(rawValue: "broken-rule")
    /// A to-many relationship has too few or too many members.
    public static let memberCount = Code(rawValue: "member-count")
    /// A reference leads to no object, or to an object of another entity.
    public static let danglingReference = Code(rawValue: "dangling-reference")
    /// One end of a relationship references the other, but not vice versa.
    public static let missingInverse = Code(rawValue: "missing-inverse")
    /// Two objects have the same key, the same unique key, or the same partner of a one-to-one.
    public static let notUnique = Code(rawValue: "not-unique")
  }

  public var code: Code
  /// The entity; nil for a finding about the whole store.
  public var entity: String?
  /// The object; nil for a finding about several objects or none.
  public var key: Int64?
  /// The properties; empty if there are none.
  public var properties: [String]
  /// The problem, as a sentence.
  public var message: String
  /// The repair, as a sentence.
  public var repair: String

  /// - Parameters:
  ///   - message: The problem, as a sentence without user data.
  ///   - repair: The repair, as a sentence.
  public init(
    _ code: Code, _ message: String, repair: String, entity: String? = nil, key: Int64? = nil, properties: [String] = []
  ) {
    self.code = code
    self.message = message
    self.repair = repair
    self.entity = entity
    self.key = key
    self.properties = properties
  }

  /// The place, the problem, the repair, and the code.
  public var description: String {
    let object = entity.map { entity in key.map { "\(entity)/\($0)" } ?? entity }
    let place = ([object] + [properties.isEmpty ? nil : properties.joined(separator: ", ")]).compactMap(\.self)
    let start = place.isEmpty ? "" : place.joined(separator: ".") + ": "
    return "\(start)\(message) \(repair) [\(code.rawValue)]"
  }
}
