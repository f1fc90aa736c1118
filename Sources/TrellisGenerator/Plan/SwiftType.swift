import TrellisQuery
import TrellisSchema

/// The Swift types of attributes.
enum SwiftType {
  /// The type's qualified name, so that no type of the app can be meant instead.
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

  /// The type of values that belong to no single attribute.
  static func name(of type: FormatType) -> String {
    switch type {
    case .integer: "Swift.Int64"
    case .real: "Swift.Double"
    case .decimal: "Foundation.Decimal"
    case .text, .json, .entity: "Swift.String"
    case .bool: "Swift.Bool"
    case .date: "Foundation.Date"
    case .data: "Foundation.Data"
    case .uuid: "Foundation.UUID"
    case .url: "Foundation.URL"
    case .enumeration(let name): name ?? "Swift.String"
    case .object: TypeName.managedObject
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
  /// The suffix that rounds a value before it is stored: dates are rounded to whole microseconds, so that a value
  /// equals itself after a round trip through a store.
  ///
  /// - Parameter isOptional: Whether the value may be nil.
  func rounding(isOptional: Bool) -> String {
    let mark = isOptional ? "?" : ""
    return switch attribute?.type {
    case .date: "\(mark).roundedToMicroseconds"
    case .array(.date): "\(mark).map { $0.roundedToMicroseconds }"
    default: ""
    }
  }

  /// The code that converts a value to the form in which the row holds it.
  ///
  /// - Parameter isOptional: Whether the value may be nil.
  func kept(_ value: String, isOptional: Bool) -> String {
    guard isExternal else { return value + rounding(isOptional: isOptional) }
    return isOptional ? "\(value).map(\(TypeName.externalData).init)" : "\(TypeName.externalData)(\(value))"
  }
}
