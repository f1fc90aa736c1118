/// Emits creating an object from a row, and reading a row again.
enum RowReadingEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let modifiers = "@_spi(Generated) public"
    writer.blank()
    let parameters = ["_ row: borrowing \(TypeName.rowReader)", "in link: borrowing \(TypeName.contextLink)"]
    writer.function("\(modifiers) required init", parameters) { writer in
      emitReading(plan, to: &writer)
      for field in plan.ownTransients {
        writer.write("\(unsafeMark)\(field.storage) = ", initialValue(of: field, plan))
      }
      writer.line("super.init(row, in: link)")
      if plan.description.hooks.contains(.didFetch) { writer.line("_noteFetch()") }
    }
    writer.blank()
    writer.block("\(modifiers) override class var _entity: Swift.Int", returning: "\(plan.entity.index)")
    if plan.isRoot {
      writer.blank()
      let type = TypeName.objectModel
      writer.block("\(modifiers) override class var _model: \(type)?", returning: "\(type).\(plan.modelName)")
    }
    guard plan.hasRow else { return }
    writer.blank()
    writer.block("\(modifiers) override func _read(_ row: \(TypeName.rowReader))") { writer in
      if !plan.isRoot { writer.line("super._read(row)") }
      emitReading(plan, to: &writer)
    }
  }

  private static func emitReading(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.hasRow { writer.line("\(unsafeMark)_row = \(plan.rowType)(row)") }
    for field in plan.ownPlaces {
      if let column = field.placeColumn { writer.line("\(unsafeMark)\(field.storage) = .read(row, \(column))") }
    }
  }

  /// The initial value of a transient attribute in an object loaded from a store.
  private static func initialValue(of field: Field, _ plan: EntityPlan) -> Code {
    guard let value = plan.defaults[field.number] else {
      return .plain(field.attribute?.isOptional == true ? "nil" : ".placeholder")
    }
    // A default is never nil, so its rounding needs no optional chaining.
    return .wrapped("", value, field.rounding(isOptional: false))
  }
}
