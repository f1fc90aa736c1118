/// Emits access to values, references and positions by property number.
enum RowAccessEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    emitValues(plan, to: &writer)
    let references = plan.ownFields.filter(\.isReference)
    emitSwitch(
      "_reference(_ property: Swift.Int) -> Swift.Int64",
      references.map { ($0, "\(unsafeMark)_row.\($0.name.member)?.key ?? 0") },
      otherwise: "super._reference(property)", to: &writer)
    emitSwitch(
      "_setReference(_ property: Swift.Int, _ key: Swift.Int64)",
      references.map { ($0, "\(unsafeMark)_row.\($0.name.member) = .init(optional: key)") },
      otherwise: "super._setReference(property, key)", to: &writer)
    let places = plan.ownPlaces
    emitSwitch(
      "_place(_ property: Swift.Int) -> Swift.Int64?", places.map { ($0, unsafeMark + $0.storage) },
      otherwise: "super._place(property)", to: &writer)
    emitSwitch(
      "_setPlace(_ property: Swift.Int, _ place: Swift.Int64?)",
      places.map { ($0, "\(unsafeMark)\($0.storage) = place") },
      otherwise: "super._setPlace(property, place)", to: &writer)
  }

  private static func emitValues(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let cases = plan.ownTransients.map { ($0, "\(unsafeMark)\($0.storage).storedValue") }
    let signature = "_value(_ property: Swift.Int) -> \(TypeName.storedValue)"
    let otherwise =
      plan.ownRowFields.isEmpty
      ? "super._value(property)" : "\(unsafeMark)_row._value(property) ?? super._value(property)"
    if cases.isEmpty && !plan.ownRowFields.isEmpty {
      writer.blank()
      writer.block("@_spi(Generated) public override func \(signature)", returning: otherwise)
    } else {
      emitSwitch(signature, cases, otherwise: otherwise, to: &writer)
    }
  }

  private static func emitSwitch(
    _ signature: String, _ cases: [(field: Field, code: String)], otherwise: String, to writer: inout CodeWriter
  ) {
    guard !cases.isEmpty else { return }
    writer.blank()
    writer.block("@_spi(Generated) public override func \(signature)") { writer in
      writer.line("switch property {")
      for entry in cases { writer.line("case \(entry.field.number): \(entry.code)") }
      writer.line("default: \(otherwise)")
      writer.line("}")
    }
  }
}
