/// Emits copying of transient values before a change, and restoring them.
enum TransientCopyEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let fields = plan.ownTransients
    if fields.isEmpty { return }
    let modifiers = "@_spi(Generated) public override func"
    writer.blank()
    writer.block("private struct _Transients: \(TypeName.storedFields)") { writer in
      for field in fields { writer.line("let \(field.name.spelled): \(field.type)") }
    }
    writer.blank()
    writer.block("\(modifiers) _copyTransients() -> \(TypeName.rowCopyBase)?") { writer in
      writer.write(
        "let values = ",
        .call("_Transients", fields.map { .labeled($0.name.argument, .plain(unsafeMark + $0.storage)) }))
      writer.line("return \(TypeName.rowCopy)(values\(plan.isRoot ? "" : ", parent: super._copyTransients()"))")
    }
    writer.blank()
    writer.function("\(modifiers) _restoreTransients", RowCopyEmitter.parameters) { writer in
      writer.line("guard let copy = copy as? \(TypeName.rowCopy)<_Transients> else { return }")
      if !plan.isRoot {
        writer.line("if let parent = copy.parent { super._restoreTransients(properties, from: parent) }")
      }
      for field in fields {
        writer.line(
          "if properties.contains(\(field.number)) { \(unsafeMark)\(field.storage) = copy.row.\(field.name.member) }")
      }
    }
  }
}
