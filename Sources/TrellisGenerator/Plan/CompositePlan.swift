import TrellisModel

/// A composite attribute in generated code: the struct of its values, and the fields of the class that hold them.
final class CompositePlan {
  let composite: Composite
  /// The name of the property in the class.
  let name: Identifier
  let doc: String?
  /// The fields of all attributes of the group, in the order of their numbers.
  let fields: [Field]
  /// The value of new objects as Swift code; nil if a field without a default has to be given.
  let defaultValue: Code?

  private let fieldsByNumber: [Int: Field]

  /// - Parameters:
  ///   - fields: All fields of the entity, by number.
  ///   - defaults: The default values of attributes as Swift code, by property number.
  init(_ composite: Composite, _ fields: [Field], defaults: [Int: Code]) {
    self.composite = composite
    name = Identifier(composite.description.swiftName ?? composite.name)
    doc = composite.description.doc
    self.fields = Array(fields[composite.attributes])
    fieldsByNumber = Dictionary(uniqueKeysWithValues: self.fields.map { ($0.number, $0) })
    defaultValue =
      composite.description.isOptional ? nil : Self.defaultValue(of: composite, fields, defaults)
  }

  var isOptional: Bool { composite.description.isOptional }
  var base: String { composite.type.name }
  var type: String { base + (isOptional ? "?" : "") }

  /// The type of the property of a `Columns` struct.
  var columnsType: String {
    "\(isOptional ? TypeName.optionalCompositePath : TypeName.compositePath)<\(base).Columns>"
  }

  // MARK: Values

  /// The value of the whole, made of the values of its fields.
  ///
  /// - Parameter prefix: The code before the name of a field.
  func value(_ prefix: String) -> Code { value(of: composite, prefix) }

  private func value(of group: Composite, _ prefix: String) -> Code {
    var arguments: [Code] = []
    for (label, isOptional, member) in group.labelledMembers {
      switch member {
      case .attribute(let number):
        let field = fieldsByNumber[number]
        let code = prefix + (field?.name.member ?? "")
        let needsValue = !isOptional && field?.attribute?.isOptional == true
        arguments.append(.labeled(label.argument, .plain(code + (needsValue ? " ?? .placeholder" : ""))))
      case .composite(let inner): arguments.append(.labeled(label.argument, value(of: inner, prefix)))
      }
    }
    let whole: Code = .call(group.type.name, arguments)
    guard let presence = group.presence, let field = fieldsByNumber[presence] else { return whole }
    return .wrapped("\(prefix)\(field.name.member) == nil ? nil : ", whole, "")
  }

  /// Emits the property with the whole.
  ///
  /// - Parameter emitSetter: Emits the statements that take the fields from `newValue`.
  func emitProperty(
    _ modifiers: String, to writer: inout CodeWriter, emitSetter: ([Part], inout CodeWriter) -> Void
  ) {
    writer.blank()
    writer.doc(doc)
    writer.block("\(modifiers) var \(name.spelled): \(type)") { writer in
      let value = value("self.")
      if value.flat.utf8.count <= 90 {
        writer.line("get { \(value.flat) }")
      } else {
        writer.block("get") { writer in writer.write("", value) }
      }
      writer.block("set") { writer in emitSetter(parts(of: "newValue"), &writer) }
    }
  }

  /// The value of a field as code.
  struct Part {
    let field: Field
    let code: String
    /// Code that is true if the value is another one than that of the field.
    let differs: String
    /// The outermost group around the field that may be nil, by the number of its presence. Its fields are changed
    /// together, so that merges and undos keep what belongs together.
    let unit: Int?
  }

  /// The values of the fields, taken from the value of the whole.
  ///
  /// - Parameter whole: The code of the value of the whole.
  func parts(of whole: String) -> [Part] { parts(of: composite, whole, unit: nil) }

  private func parts(of group: Composite, _ whole: String, unit: Int?) -> [Part] {
    var parts: [Part] = []
    let unit = unit ?? group.presence
    if let presence = group.presence, let field = fieldsByNumber[presence] {
      parts.append(
        Part(
          field: field, code: "\(whole) == nil ? nil : true",
          differs: "(\(whole) == nil) != (self.\(field.name.member) == nil)", unit: unit))
    }
    let dot = group.description.isOptional ? "?." : "."
    for (label, _, member) in group.labelledMembers {
      switch member {
      case .attribute(let number):
        guard let field = fieldsByNumber[number] else { continue }
        let code = whole + dot + label.member
        parts.append(
          Part(
            field: field, code: code, differs: "!(\(code)).isSameStored(as: self.\(field.name.member))", unit: unit))
      case .composite(let inner): parts += self.parts(of: inner, whole + dot + label.member, unit: unit)
      }
    }
    return parts
  }

  private static func defaultValue(of group: Composite, _ fields: [Field], _ defaults: [Int: Code]) -> Code? {
    var arguments: [Code] = []
    for (label, isOptional, member) in group.labelledMembers {
      switch member {
      case .attribute(let number):
        if let code = defaults[number] {
          arguments.append(.labeled(label.argument, code))
        } else if !isOptional {
          return nil
        }
      case .composite(let inner) where inner.description.isOptional: break
      case .composite(let inner):
        guard let value = defaultValue(of: inner, fields, defaults) else { return nil }
        arguments.append(.labeled(label.argument, value))
      }
    }
    return .call(group.type.name, arguments)
  }
}

extension Composite {
  /// The members with their names in the struct.
  fileprivate var labelledMembers: [(label: Identifier, isOptional: Bool, member: Composite.Member)] {
    zip(type.members, members).map { ($0.label, $0.isOptional, $1) }
  }
}

extension DeclaredAttribute {
  /// The name in the struct.
  var label: Identifier {
    switch self {
    case .plain(let attribute): Identifier(attribute.swiftName ?? attribute.name)
    case .composite(let composite): Identifier(composite.swiftName ?? composite.name)
    }
  }
}
