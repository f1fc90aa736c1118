/// An enum that attributes can use as their type.
public struct EnumDescription: Hashable, Sendable {
  /// The type of the stored values.
  public enum RawType: String, Hashable, Sendable, CaseIterable {
    /// Texts.
    case string
    /// Integers.
    case integer
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

  /// A case of an enum.
  public struct Case: Hashable, Sendable {
    /// The name in the model.
    public var name: String
    /// The stored value: a text or an integer.
    public var rawValue: StoredValue
    /// The former names, the newest first. A migration recognizes the case by them.
    public var renamedFrom: [String]
    /// The doc comment from the model; nil if there is none.
    public var doc: String?

    /// Creates a case with its name and stored value.
    public init(_ name: String, _ rawValue: StoredValue, renamedFrom: [String] = [], doc: String? = nil) {
      self.name = name
      self.rawValue = rawValue
      self.renamedFrom = renamedFrom
      self.doc = doc
    }
  }

  /// The name in the model.
  public var name: String
  /// The type of the stored values.
  public var rawType: RawType
  /// The cases, in the order of the model.
  public var cases: [Case]
  /// What becomes of stored values without a case.
  public var unknown: UnknownPolicy
  /// The doc comment from the model; nil if there is none.
  public var doc: String?

  /// Creates the description of an enum.
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
  ///   - renamedFrom: The former names, by the name of the case. Cases without one are absent.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  ///   - unknown: What becomes of stored values without a case.
  ///   - name: The name of the enum.
  ///   - doc: The doc comment of the enum.
  public init(
    _ name: String, caseNames: [String], texts: [String]? = nil, renamedFrom: [String: [String]] = [:],
    docs: [String: String] = [:], unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, texts ?? caseNames).map {
      Case($0, .text($1), renamedFrom: renamedFrom[$0] ?? [], doc: docs[$0])
    }
    self.init(name, rawType: .string, cases: cases, unknown: unknown, doc: doc)
  }

  /// Creates an enum with integer raw values, in a form that compiles quickly for any number of cases.
  ///
  /// - Parameters:
  ///   - caseNames: The names of the cases, in order.
  ///   - numbers: The raw values.
  ///   - renamedFrom: The former names, by the name of the case. Cases without one are absent.
  ///   - docs: The doc comments, by the name of the case. Cases without one are absent.
  ///   - unknown: What becomes of stored values without a case.
  ///   - name: The name of the enum.
  ///   - doc: The doc comment of the enum.
  public init(
    _ name: String, caseNames: [String], numbers: [Int64], renamedFrom: [String: [String]] = [:],
    docs: [String: String] = [:], unknown: UnknownPolicy = .reject, doc: String? = nil
  ) {
    let cases = zip(caseNames, numbers).map {
      Case($0, .integer($1), renamedFrom: renamedFrom[$0] ?? [], doc: docs[$0])
    }
    self.init(name, rawType: .integer, cases: cases, unknown: unknown, doc: doc)
  }
}
