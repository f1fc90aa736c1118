import TrellisModel

/// The Swift types of attributes.
enum SwiftType {
  /// The type's qualified name, so that no type of the app can be meant instead.
  static func name(of type: AttributeType) -> String {
    switch type {
    case .string: "Swift.String"
    case .bool: "Swift.Bool"
    case .integer(let integer): "Swift.\(integer.swiftName)"
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

  /// The type of an attribute's values: the app's own, or that of the stored form.
  static func name(of attribute: AttributeDescription) -> String {
    guard let scalar = attribute.scalar else { return name(of: attribute.type) }
    return if case .array = attribute.type { "[\(scalar)]" } else { scalar }
  }

  static func needsFoundation(_ attribute: AttributeDescription) -> Bool {
    attribute.scalar == nil && needsFoundation(attribute.type)
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
    let rounded = attribute?.description.scalar == nil ? "roundedToMicroseconds" : "_rounded"
    return switch attribute?.type {
    case .date: "\(mark).\(rounded)"
    case .array(.date): "\(mark).map { $0.\(rounded) }"
    default: ""
    }
  }

  /// The value as it is stored, from code that may contain optional chaining.
  func rounded(_ code: String) -> String {
    let rounding = rounding(isOptional: attribute?.isOptional == true)
    return rounding.isEmpty ? code : "(\(code))\(rounding)"
  }

  /// The code that converts a value to the form in which the row holds it.
  ///
  /// - Parameter isOptional: Whether the value may be nil.
  func kept(_ value: String, isOptional: Bool) -> String {
    guard isExternal else { return value + rounding(isOptional: isOptional) }
    return isOptional ? "\(value).map(\(TypeName.externalData).init)" : "\(TypeName.externalData)(\(value))"
  }
}

// MARK: - Default expression

/// Default values as Swift expressions. None of them can trap.
enum DefaultExpression {
  static func code(
    of value: DefaultValue, for attribute: Attribute, in model: Model, entity: Entity
  ) throws(GeneratorError) -> Code {
    if let code = code(of: value, type: attribute.type, scalar: attribute.description.scalar, in: model) { return code }
    throw GeneratorError(
      "the default of \(entity.name).\(attribute.name) is no value of type \(attribute.type.spelling)")
  }

  /// - Parameter scalar: The app's type of the value, or of the elements of a list; nil if it has the model's own.
  static func code(of value: DefaultValue, type: AttributeType, scalar: String?, in model: Model) -> Code? {
    func wrapped(_ code: Code) -> Code { scalar.map { .call("\($0)._made", [code]) } ?? code }
    switch (value, type) {
    case (.now, .date): return wrapped(.plain("Foundation.Date()"))
    case (.new, .uuid): return wrapped(.plain("Foundation.UUID()"))
    case (.value(let value), _): return code(of: value, type: type, in: model).map(wrapped)
    case (.list(let values), .array(let element)):
      let codes = values.compactMap { code(of: $0, type: element, in: model).map(wrapped) }
      return codes.count == values.count ? .list(codes) : nil
    default: return nil
    }
  }

  /// Whether a value can be the default of an argument, which may not use what only generated code may.
  static func canBeArgument(_ value: DefaultValue, _ attribute: AttributeDescription) -> Bool {
    guard attribute.scalar == nil else { return false }
    switch (value, attribute.type) {
    case (.now, _), (.new, _): return true
    case (_, .date), (_, .url), (_, .array(.date)), (_, .array(.url)): return false
    default: return true
    }
  }

  private static func code(of value: StoredValue, type: AttributeType, in model: Model) -> Code? {
    switch (type, value) {
    case (.string, .text(let text)): .string(text)
    case (.bool, .integer(let number)): .plain(number == 0 ? "false" : "true")
    case (.integer(let type), .integer(let number)): type.range.contains(number) ? .plain("\(number)") : nil
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

// MARK: - Request plan

/// A fetch request of the model with resolved names, from which its Swift function is generated.
struct RequestPlan {
  struct Parameter {
    let name: Identifier
    /// The type of a single value.
    let type: String
    /// Whether the values are objects, which are identified by their keys.
    let isObject: Bool
    let shape: FormatVariable.Shape
  }

  let description: FetchRequestDescription
  let predicate: QueryPredicate?
  let parameters: [Parameter]
  let sort: [SortKey]
  let prefetch: [PropertyPath]

  init(_ description: FetchRequestDescription, of entity: Entity, in model: Model) throws(GeneratorError) {
    self.description = description
    let name = "\(entity.name).\(description.name)"
    let checked = try Self.checked(description.predicate, of: entity, in: model, name)
    predicate = checked?.predicate
    parameters = (checked?.variables ?? []).map { Parameter($0, in: model) }
    var sort: [SortKey] = []
    for key in description.sort { sort.append(try Self.sortKey(key, of: entity, in: model, name)) }
    self.sort = sort
    var prefetch: [PropertyPath] = []
    for path in description.prefetch {
      guard let (steps, last) = Self.walk(path, from: entity, in: model), last.relationship != nil else {
        throw GeneratorError("the fetch request \(name) cannot prefetch '\(path)'")
      }
      prefetch.append(steps)
    }
    self.prefetch = prefetch
  }

  private static func checked(
    _ predicate: String?, of entity: Entity, in model: Model, _ name: String
  ) throws(GeneratorError) -> CheckedFormat? {
    guard let predicate else { return nil }
    do {
      return try CheckedFormat(predicate, of: entity.index, in: model)
    } catch {
      throw GeneratorError("the predicate of the fetch request \(name) is wrong: \(error.message)")
    }
  }

  private static func sortKey(
    _ key: FetchRequestDescription.Sort, of entity: Entity, in model: Model, _ name: String
  ) throws(GeneratorError) -> SortKey {
    guard let (path, last) = walk(key.path, from: entity, in: model), let attribute = last.attribute else {
      throw GeneratorError("the fetch request \(name) cannot sort by '\(key.path)'")
    }
    if let value = try? model.derivation(of: attribute) {
      let owner = path.steps.dropLast().reduce(PropertyPath(variable: 0)) { $0.appending($1) }
      let operand = value.operand.rooted(at: owner, firstVariable: 1)
      return SortKey(operand, descending: key.isDescending, kind: attribute.valueKind)
    }
    return SortKey(path, descending: key.isDescending, kind: attribute.valueKind)
  }

  /// Resolves a dotted path of names to a property path and its last property.
  private static func walk(_ names: String, from start: Entity, in model: Model) -> (PropertyPath, Property)? {
    var path = PropertyPath(variable: 0)
    var entity: Entity? = start
    var last: Property?
    var names = names.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    while !names.isEmpty {
      guard let (property, length) = entity?.property(at: names) else { return nil }
      names = names.dropFirst(length)
      path = path.appending(property.index)
      last = property
      entity = property.relationship.map { model.entities[$0.destination] }
    }
    return last.map { (path, $0) }
  }
}

extension RequestPlan.Parameter {
  init(_ variable: FormatVariable, in model: Model) {
    name = Identifier(variable.name)
    shape = variable.shape
    if case .object(let entity) = variable.type {
      isObject = true
      type = entity.map { model.className(of: $0) } ?? TypeName.managedObject
    } else {
      isObject = false
      type = variable.attribute.map { SwiftType.name(of: $0) } ?? SwiftType.name(of: variable.type)
    }
  }
}
