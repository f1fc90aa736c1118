/// Something in a store that is not as it should be: what kind, where, in words, and what would put it right.
///
/// Nothing of it holds user data: an object is named by its key.
public struct StoreFinding: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of fault it is. The set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file's own structure is broken, or a part of it cannot be read.
    public static let damaged = Code(rawValue: "damaged")
    /// A table of the model is missing, or made in another way.
    public static let tableDiffers = Code(rawValue: "table-differs")
    /// An index that the store relies on is missing, or made in another way.
    public static let indexDiffers = Code(rawValue: "index-differs")
    /// A row belongs to no entity of the model.
    public static let unknownEntity = Code(rawValue: "unknown-entity")
    /// An object's key was never given out, so that a new object might get it too.
    public static let unreservedKey = Code(rawValue: "unreserved-key")
    /// A stored value does not fit its attribute.
    public static let unreadableValue = Code(rawValue: "unreadable-value")
    /// The file beside the store with an attribute's data is missing, or holds something else.
    public static let externalFile = Code(rawValue: "external-file")
    /// A required attribute, or a required to-one, is empty.
    public static let missingValue = Code(rawValue: "missing-value")
    /// A value breaks a rule of its attribute.
    public static let brokenRule = Code(rawValue: "broken-rule")
    /// A to-many has too few members, or too many.
    public static let memberCount = Code(rawValue: "member-count")
    /// A reference leads to no object, or to one of another entity.
    public static let danglingReference = Code(rawValue: "dangling-reference")
    /// One end of a relationship knows of the other, but not the other way round.
    public static let missingInverse = Code(rawValue: "missing-inverse")
    /// Two objects have the same key, the same unique key, or the same partner of a one-to-one.
    public static let notUnique = Code(rawValue: "not-unique")
  }

  public var code: Code
  /// The entity concerned; nil where it is about the whole store.
  public var entity: String?
  /// The object concerned; nil where it is about more than one, or none.
  public var key: Int64?
  /// The properties concerned; empty where there are none.
  public var properties: [String]
  /// What is wrong, as a sentence.
  public var message: String
  /// What would put it right, as a sentence.
  public var repair: String

  /// - Parameters:
  ///   - message: What is wrong, as a sentence without user data.
  ///   - repair: What would put it right, as a sentence.
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

  /// The place, what is wrong, the repair, and the code.
  public var description: String {
    let object = entity.map { entity in key.map { "\(entity)/\($0)" } ?? entity }
    let place = ([object] + [properties.isEmpty ? nil : properties.joined(separator: ", ")]).compactMap(\.self)
    let start = place.isEmpty ? "" : place.joined(separator: ".") + ": "
    return "\(start)\(message) \(repair) [\(code.rawValue)]"
  }
}
