/// Emits the snapshot and, in a hierarchy, the struct of the fields that a class adds to its parent class.
enum RowStructEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.line("/// The stored values of one object: a value that may go anywhere.")
    writer.block("public struct Snapshot") { writer in
      writer.line("public var objectID: \(TypeName.objectID)<\(plan.name)>")
      for field in plan.rowFields {
        writer.doc(field.doc)
        let modifiers = field.isField ? "@_spi(Generated) public" : "public"
        writer.line("\(modifiers) var \(field.name.spelled): \(field.rowType)")
      }
      for composite in plan.composites {
        composite.emitProperty("public", to: &writer) { parts, writer in
          for part in parts { writer.line("self.\(part.field.name.member) = \(part.field.rounded(part.code))") }
        }
      }
    }
    guard !plan.isRoot && plan.hasRow else { return }
    writer.blank()
    writer.line("/// What the class adds to the one above.")
    writer.block("fileprivate struct \(plan.rowType)") { writer in
      for field in plan.ownRowFields { writer.line("var \(field.name.spelled): \(field.rowType)") }
    }
  }

  /// Emits the conformances. They are extensions, so that the structs keep the memberwise initializer of the compiler.
  static func emitExtensions(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let fields = plan.isRoot ? ", \(TypeName.storedFields)" : ""
    writer.blank()
    writer.block("nonisolated extension \(plan.name).Snapshot: \(TypeName.entitySnapshot)\(fields)") { writer in
      if !plan.isRoot {
        emitJoining(plan, to: &writer)
        writer.blank()
      }
      writer.block("@_spi(Generated) public init(_ row: borrowing \(TypeName.rowReader))") { writer in
        writer.line("objectID = .init(row.key)")
        emitReading(plan.rowFields, to: &writer)
      }
      SnapshotVisitEmitter.emit(plan, to: &writer)
      if plan.isRoot { emitValues(plan.rowFields, modifiers: "@_spi(Generated) public ", to: &writer) }
    }
    guard !plan.isRoot && plan.hasRow else { return }
    writer.blank()
    writer.block("nonisolated extension \(plan.name).\(plan.rowType): \(TypeName.storedFields)") { writer in
      writer.block("init(_ row: borrowing \(TypeName.rowReader))") { emitReading(plan.ownRowFields, to: &$0) }
      emitValues(plan.ownRowFields, modifiers: "", to: &writer)
    }
  }

  /// Emits the initializer that joins the parent class's snapshot and the class's own fields.
  private static func emitJoining(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let own = plan.hasRow ? ", _ own: \(plan.name).\(plan.rowType)" : ""
    writer.block("fileprivate init(_ inherited: \(plan.parentName ?? "").Snapshot\(own))") { writer in
      writer.line("self.objectID = .init(inherited.objectID.key)")
      for field in plan.inheritedRowFields {
        writer.line("self.\(field.name.member) = inherited.\(field.name.member)")
      }
      for field in plan.ownRowFields { writer.line("self.\(field.name.member) = own.\(field.name.member)") }
    }
  }

  private static func emitValues(_ fields: [Field], modifiers: String, to writer: inout CodeWriter) {
    writer.blank()
    // The row would be copied for a call.
    let attributes = "@inline(__always) \(modifiers)"
    writer.block("\(attributes)func _value(_ property: Swift.Int) -> \(TypeName.storedValue)?") { writer in
      writer.line("switch property {")
      for field in fields { writer.line("case \(field.number): \(field.name.member(besides: "property")).storedValue") }
      writer.line("default: nil")
      writer.line("}")
    }
  }

  private static func emitReading(_ fields: [Field], to writer: inout CodeWriter) {
    for field in fields {
      guard let column = field.column else { continue }
      let value = field.isReference ? ".init(optional: row.reference(\(column)))" : ".read(row, \(column))"
      writer.line("\(field.name.member(besides: "row")) = \(value)")
    }
  }
}

// MARK: - Row access emitter

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

// MARK: - Row reading emitter

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

// MARK: - Row writing emitter

/// Emits writing the columns of some or all properties of a row.
///
/// Columns are in order: a class's attributes, its references, then the order columns of those references.
enum RowWritingEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let columns = Self.columns(of: plan)
    guard !columns.isEmpty else { return }
    writer.blank()
    let parameters = ["of properties: \(TypeName.columnMask)", "to row: \(TypeName.rowWriter)"]
    writer.function("@_spi(Generated) public override func writeColumns", parameters) { writer in
      if !plan.isRoot { writer.line("super.writeColumns(of: properties, to: row)") }
      emitMarked(columns[...], to: &writer)
    }
  }

  private struct Column {
    let number: Int
    let property: Int
    let value: String
  }

  private static func columns(of plan: EntityPlan) -> [Column] {
    var columns: [Column] = []
    for field in plan.ownFields {
      if let column = field.column {
        columns.append(Column(number: column, property: field.number, value: "\(unsafeMark)_row.\(field.name.member)"))
      }
      if let column = field.placeColumn {
        columns.append(Column(number: column, property: field.number, value: unsafeMark + field.storage))
      }
    }
    return columns.sorted { $0.number < $1.number }
  }

  /// Adjacent columns of one property share a test.
  private static func emitMarked(_ columns: ArraySlice<Column>, to writer: inout CodeWriter) {
    var rest = columns
    while let first = rest.first {
      let group = rest.prefix { $0.property == first.property }
      rest = rest.dropFirst(group.count)
      let test = "if properties.contains(\(first.property))"
      if group.count == 1 {
        writer.line("\(test) { \(first.value).write(to: row) }")
      } else {
        writer.block(test) { writer in for column in group { writer.line("\(column.value).write(to: row)") } }
      }
    }
  }
}

// MARK: - Row copy emitter

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
        writer.line("if properties.contains(\(field.number)) { \(unsafeMark)_row.\(name) = copy.row.\(name) }")
      }
    }
  }

  /// The parameters of the functions that restore a copy.
  static let parameters = ["_ properties: \(TypeName.columnMask)", "from copy: \(TypeName.rowCopyBase)"]

  private static func emitStart(_ plan: EntityPlan, superCall: String, to writer: inout CodeWriter) {
    if plan.isRoot {
      return writer.line("guard let copy = copy as? \(TypeName.rowCopy)<Snapshot> else { return }")
    }
    writer.line(
      "guard let copy = copy as? \(TypeName.rowCopy)<\(plan.rowType)>, let parent = copy.parent else { return }")
    writer.line(superCall)
  }
}

// MARK: - Transient copy emitter

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
