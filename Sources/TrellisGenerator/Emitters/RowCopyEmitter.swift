/// Emits copying of the row before a change, and restoring it.
enum RowCopyEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    guard plan.hasRow else { return }
    let modifiers = "@_spi(Generated) public override func"
    let copy = "\(TypeName.rowCopy)(\(unsafeMark)_row\(plan.isRoot ? "" : ", parent: super._copyRow()"))"
    writer.blank()
    writer.block("\(modifiers) _copyRow() -> \(TypeName.rowCopyBase)", returning: copy)
    guard !plan.ownRowFields.isEmpty else { return }
    writer.blank()
    writer.function("\(modifiers) _restore", RowCopyEmitter.parameters) { writer in
      emitStart(plan, superCall: "super._restore(properties, from: parent)", to: &writer)
      for field in plan.ownRowFields {
        let name = field.name.member
        writer.line("if properties.contains(\(field.number)) { \(unsafeMark)_row.\(name) = old.\(name) }")
      }
    }
  }

  /// The parameters of the functions that restore a copy.
  static let parameters = ["_ properties: \(TypeName.columnMask)", "from copy: \(TypeName.rowCopyBase)"]

  private static func emitStart(_ plan: EntityPlan, superCall: String, to writer: inout CodeWriter) {
    if plan.isRoot {
      return writer.line("guard let old = (copy as? \(TypeName.rowCopy)<Snapshot>)?.row else { return }")
    }
    writer.line(
      "guard let copy = copy as? \(TypeName.rowCopy)<\(plan.rowType)>, let parent = copy.parent else { return }")
    writer.line(superCall)
    writer.line("let old = copy.row")
  }
}
