import TrellisSchema

/// The Swift types of attributes.
enum SwiftType {
  /// The type's full name, so that no type of the user's can be meant instead.
  static func name(of type: AttributeType) -> String {
    switch type {
    case .string: "Swift.String"
    case .bool: "Swift.Bool"
    case .int16: "Swift.Int16"
    case .int32: "Swift.Int32"
    case .int64: "Swift.Int64"
    case .float: "Swift.Float"
    case .double: "Swift.Double"
    case .decimal: "Foundation.Decimal"
    case .date: "Foundation.Date"
    case .data: "Foundation.Data"
    case .uuid: "Foundation.UUID"
    case .url: "Foundation.URL"
    case .enumeration(let name), .codable(let name): name
    case .array(let element): "[\(name(of: element))]"
    }
  }

  static func needsFoundation(_ type: AttributeType) -> Bool {
    switch type {
    case .decimal, .date, .data, .uuid, .url: true
    case .array(let element): needsFoundation(element)
    default: false
    }
  }
}

extension Field {
  /// A value as it is kept: dates are whole microseconds, so that what was set equals what comes back from a store.
  ///
  /// - Parameter isOptional: whether the expression may be nil.
  func kept(_ value: String, isOptional: Bool) -> String {
    guard let attribute else { return value }
    let mark = isOptional ? "?" : ""
    switch attribute.type {
    case .date: return "\(value)\(mark).roundedToMicroseconds"
    case .array(.date): return "\(value)\(mark).map { $0.roundedToMicroseconds }"
    default: return value
    }
  }

  /// Whether ``kept(_:isOptional:)`` changes anything.
  var isRounded: Bool { attribute.map { $0.type == .date || $0.type == .array(.date) } ?? false }
}
