import TrellisModel

/// A type of the server's, by its number in `pg_type`, which is the same in every database.
///
/// Source of the numbers: PostgreSQL's `pg_type.dat`.
enum ServerType: UInt32 {
  case boolean = 16
  case bytes = 17
  case bigint = 20
  case smallint = 21
  case integer = 23
  case text = 25
  case double = 701
  case timestamp = 1184
  case numeric = 1700
  case uuid = 2950

  /// The number of the type of arrays of this type.
  var array: UInt32 {
    switch self {
    case .boolean: 1000
    case .bytes: 1001
    case .bigint: 1016
    case .smallint: 1005
    case .integer: 1007
    case .text: 1009
    case .double: 1022
    case .timestamp: 1185
    case .numeric: 1231
    case .uuid: 2951
    }
  }

  /// The name in a statement. Names without a schema are those of the server's own catalog, which is searched first.
  var name: String {
    switch self {
    case .boolean: "boolean"
    case .bytes: "bytea"
    case .bigint: "bigint"
    case .smallint: "smallint"
    case .integer: "integer"
    case .text: "text"
    case .double: "double precision"
    case .timestamp: "timestamptz"
    case .numeric: "numeric"
    case .uuid: "uuid"
    }
  }

  /// The kind by which its values are ordered.
  var kind: ValueKind {
    switch self {
    case .boolean, .smallint, .integer, .bigint, .timestamp: .integer
    case .double: .real
    case .text: .text
    case .numeric: .decimal
    case .bytes, .uuid: .blob
    }
  }

  /// The type of a column. A reference, and a position, are bigint.
  init(of column: Column, in entity: Entity) {
    guard case .attribute(let property) = column.content, let attribute = entity.properties[property].attribute else {
      self = .bigint
      return
    }
    self.init(of: attribute)
  }

  /// The type of an attribute's values.
  init(of attribute: Attribute) {
    switch attribute.type {
    case .string, .url, .array, .codable: self = .text
    case .bool: self = .boolean
    case .integer(.int16): self = .smallint
    case .integer(.int32): self = .integer
    case .integer(.int64): self = .bigint
    // A real that is no Float comes back as it was.
    case .float, .double: self = .double
    case .decimal: self = .numeric
    case .date: self = .timestamp
    case .data: self = .bytes
    case .uuid: self = .uuid
    case .enumeration: self = attribute.storageClass == .integer ? .bigint : .text
    }
  }
}
