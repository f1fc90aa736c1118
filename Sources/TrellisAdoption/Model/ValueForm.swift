package import TrellisForeignFiles
package import TrellisModel
import TrellisModelFile
import TrellisStorage

/// How values of a column become values of its attribute.
package indirect enum ValueForm: Hashable, Sendable {
  case bool
  case integer(ClosedRange<Int64>)
  case double, float, decimal
  /// A text; numbers become texts.
  case string
  case date(DateForm)
  /// Bytes; other values become the bytes of their text.
  case data
  case uuid
  /// Values that an enum allows, and what the database takes for one of them.
  case among([StoredValue], ValueForm, TextFolding = .exact)
  /// A list as JSON.
  case list(ValueForm)

  /// The stored form of a value.
  ///
  /// - Returns: nil for a value of another type.
  package func stored(_ value: ForeignValue) -> StoredValue? {
    if value.isNull { return .null }
    return switch self {
    case .bool: Self.bool(value)
    case .integer(let range): Self.integer(value).flatMap { range.contains($0) ? .integer($0) : nil }
    case .double: Self.real(value).map { .real($0) }
    case .float: Self.real(value).flatMap { Float($0).isInfinite && $0.isFinite ? nil : .real(Double(Float($0))) }
    case .decimal: Self.decimal(value).map { .text($0) }
    case .string: Self.text(value).map { .text($0) }
    case .date(let form): form.microseconds(value).map { .integer($0) }
    case .data: Self.bytes(value).map { .blob($0) }
    case .uuid: Self.uuid(value).map { .blob($0) }
    case .among(let allowed, let form, let folding):
      form.stored(value).flatMap { Self.member($0, of: allowed, folding) }
    case .list(let element): Self.list(value, of: element).map { .text($0) }
    }
  }

  /// Whether a value is one of some to the database.
  static func contains(_ values: [StoredValue], _ value: StoredValue, _ folding: TextFolding) -> Bool {
    member(value, of: values, folding) != nil
  }

  /// The allowed value that is the same to the database.
  private static func member(
    _ value: StoredValue, of allowed: [StoredValue], _ folding: TextFolding
  ) -> StoredValue? {
    if allowed.contains(value) { return value }
    guard folding != .exact, case .text(let text) = value else { return nil }
    let folded = folding.folded(text)
    return allowed.first { if case .text(let other) = $0 { folding.folded(other) == folded } else { false } }
  }

  private static func bool(_ value: ForeignValue) -> StoredValue? {
    switch value {
    case .integer(0), .integer(1), .real(0), .real(1): integer(value).map { .integer($0) }
    case .text(let text): BooleanText.value(text).map { .integer($0 ? 1 : 0) }
    default: nil
    }
  }

  private static func integer(_ value: ForeignValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    case .text(let text): Int64(text)
    default: nil
    }
  }

  private static func real(_ value: ForeignValue) -> Double? {
    switch value {
    // A greater one would lose digits.
    case .integer(let number): Int64(exactly: Double(number)) == number ? Double(number) : nil
    case .real(let number): number.isNaN ? nil : number
    case .text(let text): DecimalText.canonical(text).flatMap { _ in Double(text) }
    default: nil
    }
  }

  private static func decimal(_ value: ForeignValue) -> String? {
    switch value {
    case .integer(let number): String(number)
    // The shortest text that means this binary number.
    case .real(let number): number.isFinite ? DecimalText.canonical("\(number)") : nil
    case .text(let text): DecimalText.canonical(text)
    default: nil
    }
  }

  private static func text(_ value: ForeignValue) -> String? {
    switch value {
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    default: nil
    }
  }

  private static func bytes(_ value: ForeignValue) -> [UInt8]? {
    switch value {
    case .blob(let bytes), .unsound(let bytes): bytes
    default: text(value).map { Array($0.utf8) }
    }
  }

  private static func uuid(_ value: ForeignValue) -> [UInt8]? {
    switch value {
    case .blob(let bytes) where bytes.count == 16: bytes
    case .text(let text): UUIDText.bytes(text)
    default: nil
    }
  }

  /// A list as the stored form of lists, from one of JSON.
  private static func list(_ value: ForeignValue, of element: ValueForm) -> String? {
    guard case .text(let text) = value else { return nil }
    guard case .array(let members)? = ModelFile.readJSON(Array(text.utf8), path: "").root?.content else { return nil }
    let values = members.compactMap { member in member.scalar.flatMap { element.stored($0) } }
    guard values.count == members.count, !values.contains(.null) else { return nil }
    return ListText.text(values, of: element.elementType)
  }

  /// The type of an element of a list.
  private var elementType: AttributeType {
    switch self {
    case .bool: .bool
    case .integer(let range): .integer(IntegerType.allCases.first { $0.range == range } ?? .int64)
    case .double: .double
    case .float: .float
    case .decimal: .decimal
    case .string, .among, .list: .string
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    }
  }
}

extension JSONNode {
  /// The value of an element of a list; nil for a list or an object in it.
  fileprivate var scalar: ForeignValue? {
    switch content {
    case .null: .null
    case .bool(let value): .integer(value ? 1 : 0)
    case .number(let text): Int64(text).map { .integer($0) } ?? .text(text)
    case .string(let text): .text(text)
    default: nil
    }
  }
}
