import TrellisModel

/// Emits the types of former versions: a struct for the rows of each entity, and the enums.
enum HistoryEmitter {
  static func emit(_ plan: HistoryPlan, to writer: inout CodeWriter) {
    if plan.versions.isEmpty { return }
    writer.blank()
    writer.line("// MARK: - \(plan.name)")
    writer.blank()
    writer.line("/// The rows of former versions of the model, for steps of migrations.")
    writer.block("public nonisolated enum \(plan.name)") { writer in
      writer.line("/// The checksums of all released versions.")
      writer.write(
        "fileprivate static let _released: [Swift.String] = ", .filledList(plan.checksums.map { .string($0) }))
      for version in plan.versions { emit(version, plan, to: &writer) }
    }
  }

  private static func emit(_ version: HistoryPlan.Version, _ plan: HistoryPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.line("/// Version \(version.number), released on \(version.released).")
    writer.block("public enum V\(version.number): \(TypeName.formerVersion)") { writer in
      writer.line("public static let number = \(version.number)")
      writer.block(
        "@_spi(Generated) public static var _current: \(TypeName.objectModel)",
        returning: "\(TypeName.objectModel).\(plan.modelName)")
      writer.block("@_spi(Generated) public static var _released: [Swift.String]", returning: "\(plan.name)._released")
      for enumeration in version.model.description.enums {
        EnumEmitter.emit(enumeration, isFormer: true, to: &writer)
      }
      for entity in version.model.entities { emit(entity, version, to: &writer) }
      writer.blank()
      emitText(version.text, to: &writer)
    }
  }

  // MARK: Rows

  private static func emit(_ entity: Entity, _ version: HistoryPlan.Version, to writer: inout CodeWriter) {
    let fields = entity.properties.compactMap { FormerField($0, in: version.model) }
    writer.blank()
    writer.doc(version.model.description.entities[entity.index].doc)
    writer.block("public struct \(version.model.className(of: entity.index)): \(TypeName.formerRow)") { writer in
      writer.line("public typealias Version = V\(version.number)")
      for field in fields { field.emit(to: &writer) }
      writer.blank()
      writer.line("@_spi(Generated) public static let _entity = \(entity.index)")
      writer.line("@_spi(Generated) public let _place: \(TypeName.formerPlace)")
      writer.blank()
      writer.function(
        "@_spi(Generated) public init", ["_ row: borrowing \(TypeName.rowReader)", "_ place: \(TypeName.formerPlace)"]
      ) { writer in
        writer.line("_place = place")
        for field in fields { field.emitReading(to: &writer) }
      }
    }
  }

  // MARK: Text

  /// Emits the model's text as a literal without escapes.
  private static func emitText(_ text: String, to writer: inout CodeWriter) {
    var mark = "#"
    while text.contains("\\" + mark) || text.contains("\"\"\"" + mark) { mark += "#" }
    writer.block("@_spi(Generated) public static var _text: Swift.String") { writer in
      writer.line(mark + "\"\"\"")
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.isEmpty { writer.blank() } else { writer.line(String(line)) }
      }
      writer.line("\"\"\"" + mark)
    }
  }
}

// MARK: - Former field

/// A property of a former version.
private struct FormerField {
  private enum Kind {
    case value(type: String, column: Int)
    /// Data that is read when it is used.
    case external(isOptional: Bool, column: Int)
    case one(String, entity: Int)
    case many(String, entity: Int)
  }

  private let kind: Kind
  private let number: Int
  private let name: Identifier
  private let doc: String?

  /// Nil for a property that was not stored.
  init?(_ property: Property, in model: Model) {
    number = property.index
    let isField = property.attribute?.isField == true
    name = Identifier(isField ? String(property.swiftName.dropFirst()) : property.swiftName)
    switch property {
    case .attribute(let attribute):
      guard let column = attribute.column else { return nil }
      doc = attribute.description.doc
      kind =
        attribute.description.isExternal
        ? .external(isOptional: attribute.isOptional, column: column)
        : .value(type: Self.type(of: attribute), column: column)
    case .relationship(let relationship):
      if case .transient = relationship.home { return nil }
      doc = relationship.description.doc
      let destination = model.className(of: relationship.destination)
      kind =
        relationship.isToMany
        ? .many(destination, entity: relationship.entity) : .one(destination, entity: relationship.entity)
    }
  }

  /// A type of the app may have gone, so its values are the JSON text that is stored.
  private static func type(of attribute: Attribute) -> String {
    let type: String =
      switch attribute.type {
      case .codable, .array(.codable): "Swift.String"
      default: SwiftType.name(of: attribute.type)
      }
    return attribute.isOptional ? type + "?" : type
  }

  private var storage: String { "_\(name.name)" }

  func emit(to writer: inout CodeWriter) {
    writer.doc(doc)
    switch kind {
    case .value(let type, _): writer.line("public let \(name.spelled): \(type)")
    case .external(let isOptional, _):
      writer.line("private let \(storage): \(TypeName.externalData)\(isOptional ? "?" : "")")
      let data = "try _place.load(\(storage))"
      writer.block("public var \(name.spelled): Foundation.Data\(isOptional ? "?" : "")") { writer in
        writer.line(
          isOptional
            ? "get throws { \(data).map { Foundation.Data($0) } }"
            : "get throws { Foundation.Data(\(data) ?? []) }")
      }
    case .one(let destination, let entity):
      writer.block("public var \(name.spelled): \(destination)?") { writer in
        writer.line("get throws { try _place.one(\(number), of: \(entity)) }")
      }
    case .many(let destination, let entity):
      writer.block("public var \(name.spelled): [\(destination)]") { writer in
        writer.line("get throws { try _place.many(\(number), of: \(entity)) }")
      }
    }
  }

  func emitReading(to writer: inout CodeWriter) {
    switch kind {
    case .value(_, let column): writer.line("\(name.member(besides: "row", "place")) = .read(row, \(column))")
    case .external(_, let column): writer.line("\(storage) = .read(row, \(column))")
    case .one, .many: break
    }
  }
}
