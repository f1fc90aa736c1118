/// Keeping a copy of transient values before they change, and going back to it.
enum TransientCopyEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let fields = plan.ownTransients
    if fields.isEmpty { return }
    let modifiers = "@_spi(Generated) public override func"
    writer.blank()
    writer.block("private struct Transients: StoredFields") { writer in
      for field in fields { writer.line("let \(field.name.spelled): \(field.type)") }
    }
    writer.blank()
    writer.block("\(modifiers) _copyTransients() -> RowCopyBase?") { writer in
      writer.write("let values = ", .call("Transients", fields.map { .labeled($0.name.argument, .plain($0.storage)) }))
      writer.line("return RowCopy(values\(plan.isRoot ? "" : ", parent: super._copyTransients()"))")
    }
    writer.blank()
    writer.block("\(modifiers) _restoreTransients(_ properties: ColumnMask, from copy: RowCopyBase)") { writer in
      writer.line("guard let copy = copy as? RowCopy<Transients> else { return }")
      if !plan.isRoot {
        writer.line("if let parent = copy.parent { super._restoreTransients(properties, from: parent) }")
      }
      for field in fields {
        writer.line("if properties.contains(\(field.number)) { \(field.storage) = copy.row.\(field.name.member) }")
      }
    }
  }
}
