/// The type of an attribute.
///
/// The name in a model file is ``spelling``: `"string"`, `"[int64]"`, or the name of an enum or of a `Codable` struct.
public indirect enum AttributeType: Hashable, Sendable {
  case string, bool, int16, int32, int64, float, double, decimal, date, data, uuid, url
  /// One of the model's enums, by name.
  case enumeration(String)
  /// A list of scalars, stored as one JSON text.
  case array(AttributeType)
  /// A `Codable` struct of the app, by name, stored as one JSON text.
  case codable(String)

  /// The scalar types, in the order in which messages list them.
  public static let scalars: [AttributeType] = [
    .string, .bool, .int16, .int32, .int64, .float, .double, .decimal, .date, .data, .uuid, .url,
  ]

  /// The type's name in a model file.
  public var spelling: String {
    switch self {
    case .string: "string"
    case .bool: "bool"
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .float: "float"
    case .double: "double"
    case .decimal: "decimal"
    case .date: "date"
    case .data: "data"
    case .uuid: "uuid"
    case .url: "url"
    case .enumeration(let name), .codable(let name): name
    case .array(let element): "[\(element.spelling)]"
    }
  }
}

/// How a store keeps a value: the four storage classes that every store holds exactly.
public enum StorageClass: String, Hashable, Sendable {
  case integer, real, text, blob
}

extension AttributeType {
  /// The storage class of a value of this type.
  ///
  /// - Parameter rawTypeOf: returns the raw type of an enum by its name. An unknown enum counts as text.
  public func storageClass(rawTypeOf: (String) -> EnumDescription.RawType?) -> StorageClass {
    switch self {
    case .bool, .int16, .int32, .int64, .date: .integer
    case .float, .double: .real
    case .string, .decimal, .url, .array, .codable: .text
    case .data, .uuid: .blob
    case .enumeration(let name): rawTypeOf(name) == .integer ? .integer : .text
    }
  }
}
