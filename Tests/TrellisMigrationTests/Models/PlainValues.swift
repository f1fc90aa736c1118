import TrellisModel
import TrellisTestSupport

/// Values of every type, those that fit into other types among them.
enum PlainValues {
  static let scalars: [AttributeType] = AttributeType.scalars

  /// - Parameter target: the type that the values may have to fit into.
  static func value(
    _ type: AttributeType, _ enums: [EnumDescription], target: AttributeType? = nil, _ random: inout SeededGenerator
  ) -> StoredValue {
    if let target, type == .string, random.below(4) > 0 { return fittingText(target, &random) }
    switch type {
    case .bool: return .integer(Int64(random.below(2)))
    case .integer(.int16): return .integer(some([0, 1, -7, 300, 32_767, -32_768], &random))
    case .integer(.int32): return .integer(some([0, 1, 12, 40_000, 16_777_217, -2_147_483_648], &random))
    case .integer(.int64):
      return .integer(some([0, 1, -3, 70_000, 1 << 40, 9_007_199_254_740_993, .max, .min], &random))
    case .float: return .real(some([0, 1, 0.5, -2.25, 1e10, Double(Float(0.1))], &random))
    case .double: return .real(some([0, 1, 0.5, -2.25, 0.1, 1e20, 1.0 / 3, -3e9], &random))
    case .decimal: return .text(some(["0", "1", "1.5", "-12", "0.1", "123456789012345678901234567890"], &random))
    case .date: return .integer(some([0, 1_767_225_600_000_000, 1_000_001, -86_400_000_000, 1], &random))
    case .string: return .text(some(["", "a", "title", "7", "x y", "größer", "o'clock \"q\""], &random))
    case .url: return .text(some(["https://example.org/a", "mailto:a@b.c"], &random))
    case .uuid: return .blob(uuid(UInt8(random.below(5))))
    case .data:
      return .blob(
        some([[], [1, 2, 3], uuid(9), [UInt8](repeating: 7, count: 100), [UInt8](repeating: 8, count: 64)], &random))
    case .array: return .text(some(["[]", "[1,2]", "[3]"], &random))
    case .codable: return .text(some(["{}", "{\"x\":1}"], &random))
    case .enumeration(let name):
      let description = enums.first { $0.name == name }
      let cases = description?.cases ?? []
      if let description, description.unknown != .reject, random.below(8) == 0 {
        return description.rawType == .string ? .text("unknown") : .integer(99_999)
      }
      return cases.isEmpty ? .null : cases[random.below(cases.count)].rawValue
    }
  }

  private static func fittingText(_ target: AttributeType, _ random: inout SeededGenerator) -> StoredValue {
    switch target {
    case .integer, .decimal, .double, .float: .text(some(["0", "1", "12", "-3"], &random))
    case .bool: .text(some(["true", "false", "yes", "0"], &random))
    case .date: .text("2026-01-31T09:30:00Z")
    case .uuid: .text(UUIDText.text(uuid(3)))
    case .url: .text("https://example.org")
    default: .text("plain")
    }
  }

  /// A value that no other number brings.
  static func unique(_ type: AttributeType, _ number: Int) -> StoredValue? {
    switch type {
    case .string: .text("unique \(number)")
    case .integer, .date: .integer(Int64(number))
    case .uuid: .blob(uuid(UInt8(number / 256 % 256)).dropLast() + [UInt8(number % 256)])
    default: nil
    }
  }

  static func hasUniqueValues(_ type: AttributeType) -> Bool { unique(type, 0) != nil }

  private static func uuid(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

  private static func some<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
    values[random.below(values.count)]
  }

  /// A default; nil for types that have none in a model.
  static func constant(
    _ type: AttributeType, _ enums: [EnumDescription], _ random: inout SeededGenerator
  ) -> DefaultValue? {
    switch type {
    case .codable: nil
    case .array(.int64): .list([.integer(1), .integer(2)])
    case .array: nil
    case .date where random.below(3) == 0: .now
    case .uuid where random.below(3) == 0: .new
    case .date: .value(.integer(1_767_225_600_000_000))
    case .float, .double: .value(.real(0.5))
    case .enumeration(let name):
      enums.first { $0.name == name }.flatMap { $0.cases.randomElement(using: &random) }.map { .value($0.rawValue) }
    default: .value(value(type, enums, &random))
    }
  }

  // MARK: Rules

  /// Whether a constant breaks rules.
  static func breaks(_ constant: DefaultValue, _ rules: AttributeRules) -> Bool {
    if case .value(let value) = constant { breaks(value, rules) } else { false }
  }

  /// Whether a value breaks rules that ``RandomModel/rules(of:)`` makes.
  static func breaks(_ value: StoredValue, _ rules: AttributeRules) -> Bool {
    switch value {
    case .integer(let number):
      if case .integer(let least)? = rules.minimum, number < least { return true }
      if case .integer(let most)? = rules.maximum, number > most { return true }
      return false
    case .text(let text):
      if text.unicodeScalars.count < rules.minimumLength ?? 0 { return true }
      if text.unicodeScalars.count > rules.maximumLength ?? .max { return true }
      let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789 ")
      return rules.pattern != nil && !text.allSatisfy(plain.contains)
    case .blob(let bytes): return bytes.count > rules.maximumLength ?? .max
    default: return false
    }
  }
}

extension PlainValues {
  /// Whether an expression that is the name of an attribute gives values of another type.
  static func isComputed(_ type: AttributeType, _ target: AttributeType) -> Bool {
    switch type {
    case .enumeration, .codable, .array, .data: false
    default: type == target || targets(type, []).contains(target)
    }
  }

  /// The types that a value of another type may be converted to.
  static func targets(_ type: AttributeType, _ enums: [EnumDescription]) -> [AttributeType] {
    switch type {
    case .integer:
      [.int16, .int32, .int64, .bool, .double, .float, .string, .decimal, .date].filter { $0 != type }
    case .bool: [.int16, .int64, .double, .string, .decimal]
    case .float: [.double, .int64, .string, .decimal]
    case .double: [.float, .int32, .int64, .string, .decimal]
    case .decimal: [.int64, .double, .string]
    case .date: [.int64, .int32, .string]
    case .string: [.int64, .int16, .bool, .double, .decimal, .date, .uuid, .url]
    case .url: [.string]
    case .uuid: [.string, .data]
    case .data: [.uuid, .string]
    case .array, .codable: [.string]
    case .enumeration(let name): enums.first { $0.name == name }?.rawType == .integer ? [.int64, .string] : [.string]
    }
  }

  /// The counterpart of a value of an enum in the enum that it became; nil if it has none.
  ///
  /// - Parameter origins: the stored case of each current one, by name.
  static func converted(
    _ value: StoredValue, _ stored: EnumDescription, _ current: EnumDescription, _ origins: [String: String]
  ) -> StoredValue? {
    let keepsUnknown = stored.rawType == current.rawType && current.unknown != .reject
    guard let old = stored.cases.first(where: { $0.rawValue == value }) else { return keepsUnknown ? value : nil }
    if let new = current.cases.first(where: { origins[$0.name] == old.name }) { return new.rawValue }
    guard stored.rawType == current.rawType else { return nil }
    if let holder = current.cases.first(where: { $0.rawValue == value }) {
      // A new name for the same raw value is a rename.
      return origins[holder.name] == nil ? value : nil
    }
    return keepsUnknown ? value : nil
  }

  /// The counterpart of a value in another type; nil if it has none.
  static func converted(_ value: StoredValue, _ type: AttributeType, _ target: AttributeType) -> StoredValue? {
    if type == target { return value }
    switch (type, value) {
    case (.enumeration, .integer(let number)): return fromInteger(number, target)
    case (.enumeration, _): return value
    case (.bool, .integer(let number)) where target == .string: return .text(number == 1 ? "true" : "false")
    case (.date, .integer(let number)) where target == .string: return .text(DateText.text(number))
    case (_, .integer(let number)): return fromInteger(number, target)
    case (.float, .real(let number)) where target == .string: return .text("\(Float(number))")
    case (.float, .real(let number)) where target == .decimal:
      return DecimalText.canonical("\(Float(number))").map { .text($0) }
    case (_, .real(let number)): return fromReal(number, target)
    case (.uuid, .blob(let bytes)): return target == .string ? .text(UUIDText.text(bytes)) : value
    case (.data, .blob(let bytes)):
      if target == .string { return .text(Base64Text.text(bytes)) }
      return bytes.count == 16 ? value : nil
    case (.decimal, .text(let text)), (.string, .text(let text)): return fromText(text, target)
    default: return value
    }
  }

  private static func fromInteger(_ number: Int64, _ target: AttributeType) -> StoredValue? {
    switch target {
    case .integer(.int16): Int16(exactly: number).map { .integer(Int64($0)) }
    case .integer(.int32): Int32(exactly: number).map { .integer(Int64($0)) }
    case .bool: number == 0 || number == 1 ? .integer(number) : nil
    case .double: Double(exactly: number).map { .real($0) }
    case .float: Float(exactly: number).map { .real(Double($0)) }
    case .string, .decimal: .text(String(number))
    default: .integer(number)
    }
  }

  private static func fromReal(_ number: Double, _ target: AttributeType) -> StoredValue? {
    switch target {
    case .int32, .int64: Int64(exactly: number).flatMap { fromInteger($0, target) }
    case .float: Double(Float(number)) == number ? .real(number) : nil
    case .string: .text("\(number)")
    case .decimal: DecimalText.canonical("\(number)").map { .text($0) }
    default: .real(number)
    }
  }

  private static func fromText(_ text: String, _ target: AttributeType) -> StoredValue? {
    switch target {
    case .integer: return Int64(text).flatMap { fromInteger($0, target) }
    case .bool: return ["true": 1, "yes": 1, "1": 1, "false": 0, "no": 0, "0": 0][text].map { .integer($0) }
    case .double:
      guard let number = Double(text), DecimalText.canonical("\(number)") == text else { return nil }
      return .real(number)
    case .decimal: return DecimalText.canonical(text).map { .text($0) }
    case .date: return DateText.microseconds(text).map { .integer($0) }
    case .uuid: return UUIDText.bytes(text).map { .blob($0) }
    case .url: return text.isEmpty ? nil : .text(text)
    default: return .text(text)
    }
  }
}
