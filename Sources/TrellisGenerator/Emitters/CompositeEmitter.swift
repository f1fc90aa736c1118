import TrellisModel

/// Emits a composite: the struct of its values, with its fields by name for predicates.
enum CompositeEmitter {
  /// - Parameter hasKeyPaths: Whether the struct has a table from key paths to fields, for Foundation predicates.
  static func emit(
    _ composite: CompositeDescription, in model: Model, hasKeyPaths: Bool, to writer: inout CodeWriter
  ) {
    writer.blank()
    writer.line("// MARK: - \(composite.name)")
    writer.blank()
    writer.doc(composite.doc)
    writer.block("public nonisolated struct \(composite.name): \(TypeName.compositeValue)") { writer in
      for member in composite.members {
        writer.doc(member.doc)
        writer.line("public var \(member.label.spelled): \(member.type)")
      }
      writer.blank()
      emitInitialiser(of: composite, in: model, to: &writer)
      writer.blank()
      emitColumns(of: composite, in: model, to: &writer)
      writer.blank()
      let type = "[\(TypeName.compositeField)]"
      writer.block("@_spi(Generated) public var _fields: \(type)") { writer in
        writer.line("var fields: \(type) = []")
        for member in composite.members {
          let value = "self.\(member.label.member)"
          writer.line(member.isGroup ? "fields.append(group: \(value))" : "fields.append(.init(\(value)))")
        }
        writer.line("return fields")
      }
      writer.blank()
      let count = (try? model.description.fieldAttributes(of: .init("", composite.name)).count) ?? 0
      writer.line("@_spi(Generated) public static var _fieldCount: Swift.Int { \(count) }")
      writer.blank()
      if hasKeyPaths {
        emitKeyPaths(of: composite, in: model, to: &writer)
        writer.blank()
      }
      writer.write(
        "static let _description: \(TypeName.compositeDescription) = ", DescriptionEmitter.code(of: composite))
    }
  }

  private static func emitInitialiser(
    of composite: CompositeDescription, in model: Model, to writer: inout CodeWriter
  ) {
    let parameters: [Code] = composite.members.map { member in
      .plain("\(member.label.label): \(member.type)\(defaultArgument(of: member, in: model))")
    }
    writer.write("public ", .call("init", parameters), " {")
    writer.indent()
    for member in composite.members { writer.line("self.\(member.label.member) = \(member.label.spelled)") }
    writer.outdent()
    writer.line("}")
  }

  private static func defaultArgument(of member: DeclaredAttribute, in model: Model) -> String {
    let none = member.isOptional ? " = nil" : ""
    guard case .plain(let attribute) = member, let value = attribute.defaultValue,
      DefaultExpression.canBeArgument(value, attribute),
      let code = DefaultExpression.code(of: value, type: attribute.type, scalar: attribute.scalar, in: model)
    else { return none }
    return " = \(code.flat)"
  }

  /// The members with their places, counted from the first field. A group in the group takes as many places as it has
  /// attributes.
  private static func places(
    of composite: CompositeDescription, in model: Model
  ) -> [(member: DeclaredAttribute, place: Int)] {
    var place = 0
    return composite.members.map { member in
      defer {
        switch member {
        case .plain: place += 1
        case .composite(let group): place += (try? model.description.fieldAttributes(of: group).count) ?? 0
        }
      }
      return (member, place)
    }
  }

  private static func emitKeyPaths(
    of composite: CompositeDescription, in model: Model, to writer: inout CodeWriter
  ) {
    writer.line("@_spi(Generated) public static let _keyPaths = \(TypeName.keyPathTable)([")
    writer.indent()
    for (member, place) in places(of: composite, in: model) {
      writer.line("\\\(composite.name).\(member.label.spelled): \(place),")
    }
    writer.outdent()
    writer.line("])")
  }

  private static func emitColumns(
    of composite: CompositeDescription, in model: Model, to writer: inout CodeWriter
  ) {
    writer.line("/// The fields by name, for predicates and sorts.")
    writer.block("public struct Columns: \(TypeName.compositeColumns)") { writer in
      writer.line("@_spi(Generated) public let _path: \(TypeName.propertyPath)")
      writer.line("@_spi(Generated) public let _first: Swift.Int")
      writer.blank()
      writer.function(
        "@_spi(Generated) public init", ["_ path: \(TypeName.propertyPath)", "_ first: Swift.Int"]
      ) { writer in
        writer.line("_path = path")
        writer.line("_first = first")
      }
      writer.blank()
      writer.line("public typealias Value = \(composite.name)")
      for (member, place) in places(of: composite, in: model) {
        writer.doc(member.doc)
        let position = place == 0 ? "_first" : "_first + \(place)"
        let type: String
        switch member {
        case .plain: type = "\(TypeName.attributePath)<\(member.type)>"
        case .composite(let group):
          let path = group.isOptional ? TypeName.optionalCompositePath : TypeName.compositePath
          type = "\(path)<\(group.composite).Columns>"
        }
        writer.block(
          "public var \(member.label.spelled): \(type)",
          returning: "\(type.prefix { $0 != "<" })(_path, \(position))")
      }
    }
  }
}

extension DeclaredAttribute {
  fileprivate var doc: String? {
    switch self {
    case .plain(let attribute): attribute.doc
    case .composite(let composite): composite.doc
    }
  }

  fileprivate var type: String {
    let base =
      switch self {
      case .plain(let attribute): SwiftType.name(of: attribute)
      case .composite(let composite): composite.composite
      }
    return base + (isOptional ? "?" : "")
  }

  fileprivate var isGroup: Bool { if case .composite = self { true } else { false } }
}
