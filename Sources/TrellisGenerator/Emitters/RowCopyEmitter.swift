/// Keeping a copy of the row before it changes, and going back to it.
enum RowCopyEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    guard plan.hasRow else { return }
    let modifiers = "@_spi(Generated) public override func"
    let copy = plan.isRoot ? "RowCopy(_row)" : "RowCopy(_row, parent: super._copyRow())"
    writer.blank()
    writer.block("\(modifiers) _copyRow() -> RowCopyBase", returning: copy)
    guard !plan.ownRowFields.isEmpty else { return }
    writer.blank()
    writer.block("\(modifiers) _restore(_ properties: ColumnMask, from copy: RowCopyBase)") { writer in
      emitStart(plan, superCall: "super._restore(properties, from: parent)", to: &writer)
      for field in plan.ownRowFields {
        let name = field.name.member
        writer.line("if properties.contains(\(field.number)) { _row.\(name) = old.\(name) }")
      }
    }
  }

  private static func emitStart(_ plan: EntityPlan, superCall: String, to writer: inout CodeWriter) {
    if plan.isRoot {
      return writer.line("guard let old = (copy as? RowCopy<Snapshot>)?.row else { return }")
    }
    writer.line("guard let copy = copy as? RowCopy<Fields>, let parent = copy.parent else { return }")
    writer.line(superCall)
    writer.line("let old = copy.row")
  }
}
