/// Emits the properties by name, for predicates and sorts.
enum ColumnsEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let name = plan.name
    writer.line("/// The properties by name, for predicates and sorts.")
    writer.block("public struct Columns: \(TypeName.entityColumns)") { writer in
      writer.line("public typealias Object = \(name)")
      writer.line("public typealias Snapshot = \(name).Snapshot")
      emitPath(plan, to: &writer)
      writer.blank()
      writer.function(
        "public static func snapshot", ["of object: \(name)"], " -> \(name).Snapshot", returning: "object.snapshot")
      let fields = plan.fields.filter(isStored)
      if !fields.isEmpty { writer.blank() }
      for field in fields {
        writer.doc(field.doc)
        let type = self.type(of: field)
        let head = type.prefix { $0 != "<" }
        writer.block(
          "public var \(field.name.spelled): \(type)", returning: "\(head)(self, \(field.number))")
      }
    }
  }

  /// Whether a field is stored. A predicate cannot use a field that exists in memory only.
  static func isStored(_ field: Field) -> Bool {
    switch field.kind {
    case .attribute, .reference: true
    case .transient: false
    case .partner(let relationship), .toMany(let relationship): !relationship.description.isTransient
    }
  }

  private static func type(of field: Field) -> String {
    switch field.kind {
    case .attribute, .transient: "\(TypeName.attributePath)<\(field.rowType)>"
    case .reference, .partner: "\(TypeName.toOnePath)<\(field.base).Columns>"
    case .toMany: "\(TypeName.toManyPath)<\(field.base).Columns>"
    }
  }

  /// Emits the path and its initializer. The path has another name if the model has a property `path`.
  private static func emitPath(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let isTaken = plan.fields.contains { $0.name.name == "path" }
    let name = isTaken ? "_path" : "path"
    let prefix = isTaken ? "@_implements(\(TypeName.entityColumns),path) " : ""
    writer.line("\(prefix)public let \(name): \(TypeName.propertyPath)")
    writer.blank()
    writer.line("public init(_ path: \(TypeName.propertyPath)) { self.\(name) = path }")
  }
}
