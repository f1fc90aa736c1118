/// Emits the snapshot and, in a hierarchy, the struct of the fields that a class adds to its parent class.
enum RowStructEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.line("/// The stored values of one object: a value that may go anywhere.")
    let fields = plan.isRoot ? ", \(TypeName.storedFields)" : ""
    let header = "public struct Snapshot: \(TypeName.entitySnapshot)\(fields)"
    writer.block(header) { writer in
      writer.line("public var objectID: \(TypeName.objectID)<\(plan.name)>")
      for field in plan.rowFields {
        writer.doc(field.doc)
        writer.line("public var \(field.name.spelled): \(field.rowType)")
      }
      writer.blank()
      if plan.isRoot { emitMemberwise(plan, to: &writer) } else { emitJoining(plan, to: &writer) }
      writer.blank()
      writer.block("@_spi(Generated) public init(_ row: borrowing \(TypeName.rowReader))") { writer in
        writer.line("objectID = .init(row.key)")
        emitReading(plan.rowFields, to: &writer)
      }
      SnapshotConformanceEmitter.emit(plan, to: &writer)
      if plan.isRoot { emitValues(plan.rowFields, modifiers: "@_spi(Generated) public ", to: &writer) }
    }
    if !plan.isRoot && plan.hasRow { emitFields(plan, to: &writer) }
  }

  private static func emitMemberwise(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let parameters: [Code] = plan.rowFields.map { .plain("\($0.name.label): \($0.rowType)") }
    let identity: Code = .plain("objectID: \(TypeName.objectID)<\(plan.name)>")
    writer.write("fileprivate ", .call("init", [identity] + parameters), " {")
    writer.indent()
    writer.line("self.objectID = objectID")
    for field in plan.rowFields { writer.line("self.\(field.name.member) = \(field.name.spelled)") }
    writer.outdent()
    writer.line("}")
  }

  /// Emits the initializer that joins the parent class's snapshot and the class's own fields.
  private static func emitJoining(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let own = plan.hasRow ? ", _ own: \(plan.rowType)" : ""
    writer.block("fileprivate init(_ inherited: \(plan.parentName ?? "").Snapshot\(own))") { writer in
      writer.line("self.objectID = .init(inherited.objectID.key)")
      for field in plan.inheritedRowFields {
        writer.line("self.\(field.name.member) = inherited.\(field.name.member)")
      }
      for field in plan.ownRowFields { writer.line("self.\(field.name.member) = own.\(field.name.member)") }
    }
  }

  private static func emitFields(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.blank()
    writer.line("/// What the class adds to the one above.")
    writer.block("fileprivate struct \(plan.rowType): \(TypeName.storedFields)") { writer in
      for field in plan.ownRowFields { writer.line("var \(field.name.spelled): \(field.rowType)") }
      writer.blank()
      let parameters: [Code] = plan.ownRowFields.map { .plain("\($0.name.label): \($0.rowType)") }
      writer.write("", .call("init", parameters), " {")
      writer.indent()
      for field in plan.ownRowFields { writer.line("self.\(field.name.member) = \(field.name.spelled)") }
      writer.outdent()
      writer.line("}")
      writer.blank()
      writer.block("init(_ row: borrowing \(TypeName.rowReader))") { emitReading(plan.ownRowFields, to: &$0) }
      emitValues(plan.ownRowFields, modifiers: "", to: &writer)
    }
  }

  private static func emitValues(_ fields: [Field], modifiers: String, to writer: inout CodeWriter) {
    writer.blank()
    writer.block("\(modifiers)func _value(_ property: Swift.Int) -> \(TypeName.storedValue)?") { writer in
      writer.line("switch property {")
      for field in fields { writer.line("case \(field.number): \(field.name.member(besides: "property")).storedValue") }
      writer.line("default: nil")
      writer.line("}")
    }
  }

  private static func emitReading(_ fields: [Field], to writer: inout CodeWriter) {
    for field in fields {
      guard let column = field.column else { continue }
      writer.line("\(field.name.member(besides: "row")) = .read(row, \(column))")
    }
  }
}
