/// A model as its file declares it: names, types and rules, with nothing resolved.
///
/// The generated code holds a description. ``Model`` is its resolved form, with numbers in place of names.
public struct ModelDescription: Hashable, Sendable {
  public var name: String
  /// The version of the model, as free text. Comparing models ignores it.
  public var version: String?
  public var doc: String?
  public var enums: [EnumDescription]
  /// The names of the app's `Codable` structs that attributes use.
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

/// One entry of `userInfo`: text that Trellis stores and never interprets.
public struct UserInfoEntry: Hashable, Sendable {
  public var key: String
  public var value: String

  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

/// An enum that attributes can use as their type.
public struct EnumDescription: Hashable, Sendable {
  public enum RawType: String, Hashable, Sendable, CaseIterable {
    case string, integer
  }

  /// The handling of a stored raw value that matches no case.
  public enum UnknownPolicy: Hashable, Sendable {
    /// Keeps the raw value in a separate case and writes it back unchanged.
    case preserve
    /// Reads the raw value as this case. Setting the attribute overwrites the stored value.
    case useDefault(String)
    /// Fails to read the row.
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

  /// Creates an enum with text raw values, in a form that compiles quickly for any number of cases.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - texts: The raw values; nil if each is the name of its case.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  public init(
    _ name: String, caseNames: [String], texts: [String]? = nil, docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, texts ?? caseNames).map { Case($0, .text($1), doc: docs[$0]) }
    self.init(name, rawType: .string, cases: cases, unknown: unknown, doc: doc)
  }

  /// Creates an enum with integer raw values, in a form that compiles quickly for any number of cases.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - numbers: The raw values.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  public init(
    _ name: String, caseNames: [String], numbers: [Int64], docs: [String: String] = [:],
    unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, numbers).map { Case($0, .integer($1), doc: docs[$0]) }
    self.init(name, rawType: .integer, cases: cases, unknown: unknown, doc: doc)
  }
}
