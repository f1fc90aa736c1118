public import TrellisSchema

/// A value that is bound to a place in a format.
public enum FormatArgument: Hashable, Sendable {
  case null
  case value(StoredValue, FormatType)
  case list([FormatArgument])
  /// From the first to the second, the second included or not.
  case range(StoredValue, StoredValue, FormatType, isClosed: Bool)
}

/// What a value in a predicate is.
public enum FormatType: Hashable, Sendable {
  case integer, real, decimal, text, bool, date, data, uuid, url
  /// A case of one of the model's enums, by the enum's name; nil where a value does not tell.
  case enumeration(String?)
  /// The name of an entity.
  case entity
  /// An object, by the number of its entity; nil where a value does not tell.
  case object(Int?)
  /// A list or a `Codable` struct, which is kept as a JSON text.
  case json(String)

  /// The type as a message names it.
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

/// A variable of a format, and what it stands for.
public struct FormatVariable: Hashable, Sendable {
  public enum Shape: Hashable, Sendable {
    case one
    /// A list, as IN takes it.
    case list
    /// From one value to another, as BETWEEN takes them.
    case range
  }

  public let name: String
  public let type: FormatType
  /// The type of the attributes that it is compared with, where they all have the same.
  public internal(set) var attribute: AttributeType?
  public let shape: Shape
  /// Where it is used first, in bytes of UTF-8.
  public let offset: Int

  /// Whether it stands for a list of values.
  public var isList: Bool { shape == .list }
}
