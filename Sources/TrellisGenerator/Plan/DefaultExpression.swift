import TrellisSchema

/// Default values as Swift expressions. None of them can trap.
enum DefaultExpression {
  static func code(
    of value: DefaultValue, for attribute: Attribute, in model: Model, entity: Entity
  ) throws(GeneratorError) -> Code {
    if let code = code(of: value, type: attribute.type, in: model) { return code }
    throw GeneratorError(
      "the default of \(entity.name).\(attribute.name) is no value of type \(attribute.type.spelling)")
  }

  private static func code(of value: DefaultValue, type: AttributeType, in model: Model) -> Code? {
    switch (value, type) {
    case (.now, .date): return .plain("Foundation.Date()")
    case (.new, .uuid): return .plain("Foundation.UUID()")
    case (.value(let value), _): return code(of: value, type: type, in: model)
    case (.list(let values), .array(let element)):
      let codes = values.compactMap { code(of: $0, type: element, in: model) }
      return codes.count == values.count ? .list(codes) : nil
    default: return nil
    }
  }

  private static func code(of value: StoredValue, type: AttributeType, in model: Model) -> Code? {
    switch (type, value) {
    case (.string, .text(let text)): .string(text)
    case (.bool, .integer(let number)): .plain(number == 0 ? "false" : "true")
    case (.int16, .integer(let number)): Int16(exactly: number).map { .plain("\($0)") }
    case (.int32, .integer(let number)): Int32(exactly: number).map { .plain("\($0)") }
    case (.int64, .integer(let number)): .plain("\(number)")
    case (.float, .real(let number)): .plain(Numbers.literal(Float(number)))
    case (.double, .real(let number)): .plain(Numbers.literal(number))
    case (.decimal, .text(let text)): decimal(text)
    case (.date, .integer(let micros)): .plain("Foundation.Date(storedMicroseconds: \(micros))")
    case (.data, .blob(let bytes)): data(bytes)
    case (.uuid, .blob(let bytes)): uuid(bytes)
    case (.url, .text(let text)): url(text)
    case (.enumeration(let name), _): enumCase(value, of: name, in: model)
    default: nil
    }
  }

  /// An integer is exact as a literal; any other decimal is exact as text.
  private static func decimal(_ text: String) -> Code {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let isWhole = !digits.isEmpty && digits.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    if isWhole, Int64(text) != nil { return .plain(text) }
    let number: Code = .call("Foundation.Decimal", [.labeled("string", .string(text)), .plain("locale: nil")])
    return .wrapped("(", number, " ?? 0)")
  }

  private static func data(_ bytes: [UInt8]) -> Code {
    if bytes.isEmpty { return .plain("Foundation.Data()") }
    let data: Code = .call("Foundation.Data", [.labeled("base64Encoded", .string(Base64.text(of: bytes)))])
    return .wrapped("(", data, " ?? Foundation.Data())")
  }

  private static func uuid(_ bytes: [UInt8]) -> Code? {
    guard bytes.count == 16 else { return nil }
    let tuple: Code = .filledCall("", bytes.map { .plain("0x" + Numbers.hexadecimal($0)) })
    return .call("Foundation.UUID", [.labeled("uuid", tuple)])
  }

  private static func url(_ text: String) -> Code {
    .wrapped("(", .call("Foundation.URL", [.labeled("string", .string(text))]), " ?? Foundation.URL.placeholder)")
  }

  private static func enumCase(_ value: StoredValue, of name: String, in model: Model) -> Code? {
    let cases = model.enumeration(named: name)?.cases
    return cases?.first { $0.rawValue == value }.map { .plain("\(name).\(Identifier($0.name).member)") }
  }
}

/// Numbers as Swift literals.
enum Numbers {
  static func literal<Number: BinaryFloatingPoint & CustomStringConvertible>(_ number: Number) -> String {
    if number.isNaN { return ".nan" }
    if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
    return number.description
  }

  static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count < 2 ? "0" + digits : digits
  }
}
