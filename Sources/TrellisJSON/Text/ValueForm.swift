import TrellisModel

/// The written form of a column's values.
enum ValueForm: Hashable, Sendable {
  case string, url, decimal, date, data, uuid, bool, float, double
  /// Data that may lie in a file.
  case external
  case integer(ClosedRange<Int64>)
  /// Lists and structs, as plain JSON.
  case json
  /// The key of another object.
  case reference

  /// Keys of external data.
  static let file = "file"
  static let size = "size"

  init(_ column: Column, _ property: Property, _ model: Model) {
    if case .reference = column.content {
      self = .reference
    } else {
      self = property.attribute.map { ValueForm($0) } ?? .integer(Int64.min...Int64.max)
    }
  }

  init(_ attribute: Attribute) { self.init(attribute.type, attribute) }

  /// - Parameter type: The type of the attribute, or of an element of its list.
  init(_ type: AttributeType, _ attribute: Attribute) {
    switch type {
    case .string: self = .string
    case .bool: self = .bool
    case .integer: self = .integer(type.integerRange)
    case .float: self = .float
    case .double: self = .double
    case .decimal: self = .decimal
    case .date: self = .date
    case .data: self = attribute.description.isExternal ? .external : .data
    case .uuid: self = .uuid
    case .url: self = .url
    case .enumeration:
      self = attribute.enumeration?.rawType == .integer ? .integer(Int64.min...Int64.max) : .string
    case .array, .codable: self = .json
    }
  }
}
