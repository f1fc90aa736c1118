/// A model as its file declares it: names, types and rules, nothing resolved.
///
/// The generated code holds one of these; ``Model`` is what becomes of it when names have become numbers.
public struct ModelDescription: Hashable, Sendable {
  public var name: String
  /// A free text that says which version of the model this is. It takes no part in comparing models.
  public var version: String?
  public var doc: String?
  public var enums: [EnumDescription]
  /// The names of the user's own `Codable` structs that attributes use.
  public var codableTypes: [String]
  public var entities: [EntityDescription]
  public var userInfo: [UserInfoEntry]

  public init(
    name: String, version: String? = nil, doc: String? = nil, enums: [EnumDescription] = [],
    codableTypes: [String] = [], entities: [EntityDescription] = [], userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.version = version
    self.doc = doc
    self.enums = enums
    self.codableTypes = codableTypes
    self.entities = entities
    self.userInfo = userInfo
  }
}

/// One line of `userInfo`: text that Trellis keeps and never reads.
public struct UserInfoEntry: Hashable, Sendable {
  public var key: String
  public var value: String

  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

/// An enum that attributes may have as their type.
public struct EnumDescription: Hashable, Sendable {
  public enum RawType: String, Hashable, Sendable, CaseIterable {
    case string, integer
  }

  /// What becomes of a stored raw value that no case has.
  public enum UnknownPolicy: Hashable, Sendable {
    /// It is kept in a case of its own and written back as it was.
    case preserve
    /// It reads as this case; it is written over when the attribute is set.
    case useDefault(String)
    /// Reading the row fails.
    case reject
  }

  public struct Case: Hashable, Sendable {
    public var name: String
    public var rawValue: StoredValue
    public var doc: String?

    public init(_ name: String, _ rawValue: StoredValue, doc: String? = nil) {
      self.name = name
      self.rawValue = rawValue
      self.doc = doc
    }
  }

  public var name: String
  public var rawType: RawType
  public var cases: [Case]
  public var unknown: UnknownPolicy
  public var doc: String?

  public init(
    _ name: String, rawType: RawType, cases: [Case], unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    self.name = name
    self.rawType = rawType
    self.cases = cases
    self.unknown = unknown
    self.doc = doc
  }

  /// An enum whose raw values are texts, in the form that compiles quickly however many cases there are.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - texts: Their raw values; nil where each is the name of its case.
  ///   - docs: The doc comments of those cases that have one, by name.
  public init(
    _ name: String, caseNames: [String], texts: [String]? = nil, docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, texts ?? caseNames).map { Case($0, .text($1), doc: docs[$0]) }
    self.init(name, rawType: .string, cases: cases, unknown: unknown, doc: doc)
  }

  /// An enum whose raw values are integers, in the form that compiles quickly however many cases there are.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - numbers: Their raw values.
  ///   - docs: The doc comments of those cases that have one, by name.
  public init(
    _ name: String, caseNames: [String], numbers: [Int64], docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, numbers).map { Case($0, .integer($1), doc: docs[$0]) }
    self.init(name, rawType: .integer, cases: cases, unknown: unknown, doc: doc)
  }
}
