import TrellisSchema

extension FormatType {
  init(_ attribute: Attribute) {
    self =
      switch attribute.type {
      case .string: .text
      case .bool: .bool
      case .int16, .int32, .int64: .integer
      case .float, .double: .real
      case .decimal: .decimal
      case .date: .date
      case .data: .data
      case .uuid: .uuid
      case .url: .url
      case .enumeration(let name): .enumeration(name)
      case .array, .codable: .json(attribute.type.spelling)
      }
  }

  /// The kind by which values of the type are compared.
  var kind: ValueKind {
    switch self {
    case .integer, .bool, .date, .object: .integer
    case .real: .real
    case .decimal: .decimal
    case .text, .url, .json, .enumeration, .entity: .text
    case .data, .uuid: .blob
    }
  }
}
