public import TrellisSchema

/// A value bound to a placeholder of a format.
public enum FormatArgument: Hashable, Sendable {
  case null
  case value(StoredValue, FormatType)
  case list([FormatArgument])
  /// A range from the first value to the second, which is included if `isClosed`.
  case range(StoredValue, StoredValue, FormatType, isClosed: Bool)
}

/// The type of a value in a predicate.
public enum FormatType: Hashable, Sendable {
  case integer, real, decimal, text, bool, date, data, uuid, url
  /// A case of one of the model's enums, by the enum's name; nil if the value does not determine it.
  case enumeration(String?)
  /// The name of an entity.
  case entity
  /// An object, by the number of its entity; nil if the value does not determine it.
  case object(Int?)
  /// A list or a `Codable` struct, which is stored as a JSON text.
  case json(String)

  /// The type's name in messages.
  var name: String {
    switch self {
    case .integer: "a whole number"
    case .real: "a real number"
    case .decimal: "a decimal"
    case .text: "a text"
    case .bool: "a Bool"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .enumeration(let name): name.map { "the enum \($0)" } ?? "a case of an enum"
    case .entity: "an entity"
    case .object: "an object"
    case .json(let spelling): "\(spelling), which predicates cannot look into"
    }
  }

  var isNumber: Bool { self == .integer || self == .real || self == .decimal }
}

/// A variable of a format, with its type and shape.
public struct FormatVariable: Hashable, Sendable {
  public enum Shape: Hashable, Sendable {
    case one
    /// A list, for IN.
    case list
    /// A range with a lower and an upper bound, for BETWEEN.
    case range
  }

  public let name: String
  public let type: FormatType
  /// The type of the attributes that the variable is compared with, if they all have the same type.
  public internal(set) var attribute: AttributeType?
  public let shape: Shape
  /// The offset of the first use, in bytes of UTF-8.
  public let offset: Int

  /// Whether the variable stands for a list of values.
  public var isList: Bool { shape == .list }
}
