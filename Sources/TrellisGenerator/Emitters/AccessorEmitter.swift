import TrellisModel

/// Emits the initializer that inserts a new object.
enum InitialiserEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let parameters = plan.parameters
    // The label is longer if an attribute is named `context`.
    let context = parameters.contains { $0.name.name == "context" } ? "managedObjectContext" : "context"
    emitDoc(parameters.compactMap { if case .field(let field) = $0 { field } else { nil } }, of: plan, to: &writer)
    let codes: [Code] =
      [.plain("in \(context): \(TypeName.managedObjectContext)")] + parameters.map { .plain(parameter($0, plan)) }
    writer.write("\(modifiers(of: plan)) ", .call("init", codes), " {")
    writer.indent()
    emitBody(plan, context: context, to: &writer)
    writer.outdent()
    writer.line("}")
  }

  /// A class that adds no argument overrides the initializer of its parent class.
  private static func modifiers(of plan: EntityPlan) -> String {
    let access = plan.entity.isAbstract ? "fileprivate" : "public"
    let addsNothing = plan.ownFields.allSatisfy { $0.attribute == nil && !$0.isToOne }
    return !plan.isRoot && addsNothing ? access + " override" : access
  }

  private static func parameter(_ parameter: EntityPlan.Parameter, _ plan: EntityPlan) -> String {
    let name = parameter.name.label
    let field: Field
    switch parameter {
    case .field(let value): field = value
    case .composite(let composite):
      let isLeftOut = composite.isOptional || composite.defaultValue != nil
      return "\(name): \(composite.base)\(isLeftOut ? "? = nil" : "")"
    }
    guard let attribute = field.attribute else { return "\(name): \(field.type) = nil" }
    guard let value = plan.defaults[field.number] else {
      return "\(name): \(field.type)\(attribute.isOptional ? " = nil" : "")"
    }
    if plan.hasDefaultArgument(field) { return "\(name): \(field.type) = \(value.flat)" }
    return "\(name): \(field.type)? = \(attribute.isOptional ? ".none" : "nil")"
  }

  // MARK: Body

  private static func emitBody(_ plan: EntityPlan, context: String, to writer: inout CodeWriter) {
    if plan.notesAssigned {
      for composite in plan.ownComposites where composite.isOptional || composite.defaultValue != nil {
        writer.line("let _isGiven_\(composite.name.name) = \(composite.name.spelled) != nil")
      }
    }
    var parts: [Int: String] = [:]
    for composite in plan.ownComposites {
      let name = composite.name.spelled
      if let value = composite.defaultValue { writer.write("let \(name) = ", .otherwise(name, value)) }
      for part in composite.parts(of: name) { parts[part.field.number] = part.field.rounded(part.code) }
    }
    if plan.hasRow {
      let identity: [Code] = plan.isRoot ? [.plain("objectID: .unassigned")] : []
      let values: [Code] = plan.ownRowFields.map { field in
        .labeled(field.name.argument, parts[field.number].map { .plain($0) } ?? value(of: field, plan))
      }
      writer.write("\(unsafeMark)_row = ", .call(plan.rowType, identity + values))
    }
    for field in plan.ownTransients { writer.write("\(unsafeMark)\(field.storage) = ", value(of: field, plan)) }
    if plan.isRoot {
      writer.line("super.init(_insertedInto: \(context))")
      writer.line("\(unsafeMark)_row.objectID = .init(_key)")
    } else {
      writer.write("super.", .call("init", [.plain("in: \(context)")] + inheritedArguments(plan)))
    }
    if plan.notesAssigned { emitAssigned(plan, to: &writer) }
    for field in plan.ownFields where field.isToOne {
      writer.line("if let \(field.name.spelled) { self.\(field.name.member) = \(field.name.spelled) }")
    }
    guard plan.hooks.contains(.didInsert), !plan.entity.isAbstract else { return }
    // Called once, after the most derived class is initialised.
    writer.line(
      plan.height == 0 ? "_finishInsert()" : "if Swift.type(of: self) == \(plan.name).self { _finishInsert() }")
  }

  /// Emits notes of the optional arguments that were given. Every object has the others.
  private static func emitAssigned(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for composite in plan.ownComposites where composite.isOptional || composite.defaultValue != nil {
      writer.block("if _isGiven_\(composite.name.name)") { writer in
        for field in composite.fields { writer.line("_markAssigned(\(field.number))") }
      }
    }
    for field in plan.ownFields where !field.isField {
      guard let attribute = field.attribute, attribute.isOptional || plan.defaults[field.number] != nil else {
        continue
      }
      writer.line("if \(field.name.spelled) != nil { _markAssigned(\(field.number)) }")
    }
  }

  private static func inheritedArguments(_ plan: EntityPlan) -> [Code] {
    plan.inheritedParameters.map { .plain("\($0.name.argument): \($0.name.spelled)") }
  }

  /// The value of one of the class's own fields, from its argument.
  private static func value(of field: Field, _ plan: EntityPlan) -> Code {
    guard let attribute = field.attribute else { return .plain("nil") }
    let name = field.name.spelled
    let rounding = field.rounding(isOptional: attribute.isOptional)
    guard let value = plan.defaults[field.number], !plan.hasDefaultArgument(field) else {
      return .plain(field.kept(name, isOptional: attribute.isOptional))
    }
    if field.isExternal && attribute.isOptional {
      return .wrapped("(\(name) ?? ", value, ").map(\(TypeName.externalData).init)")
    }
    if field.isExternal { return .wrapped("\(TypeName.externalData)(", .otherwise(name, value), ")") }
    if rounding.isEmpty { return .otherwise(name, value) }
    return .wrapped("(\(name) ?? ", value, ")\(rounding)")
  }

  // MARK: Documentation

  private static func emitDoc(_ parameters: [Field], of plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.entity.isAbstract { return writer.line("/// For the classes below this one, which is abstract.") }
    writer.line("/// Inserts a new object into a context.")
    let notes = parameters.compactMap { field in note(field, plan).map { (field.name.name, $0) } }
    guard !notes.isEmpty else { return }
    writer.line("///")
    if notes.count == 1, let (name, note) = notes.first { return writer.line("/// - Parameter \(name): \(note)") }
    writer.line("/// - Parameters:")
    for (name, note) in notes { writer.line("///   - \(name): \(note)") }
  }

  private static func note(_ field: Field, _ plan: EntityPlan) -> String? {
    guard let value = field.attribute?.description.defaultValue, !plan.hasDefaultArgument(field) else { return nil }
    switch value {
    case .now: return "The moment of insertion unless given."
    case .new: return "A new UUID unless given."
    case .value, .list:
      let text = plan.defaults[field.number]?.flat ?? ""
      let isShort =
        field.attribute?.description.scalar == nil && text.utf8.count <= 40 && !text.utf8.contains(UInt8(ascii: "`"))
        && !text.hasPrefix("(")
      return isShort ? "`\(text)` unless given." : "The model's default unless given."
    }
  }
}

// MARK: - Accessor emitter

/// Emits the properties of a class.
enum AccessorEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for field in plan.ownFields {
      writer.blank()
      writer.doc(RuleText.doc(of: field, plan))
      let modifiers = field.isField ? "fileprivate final" : "public"
      writer.block("\(modifiers) var \(field.name.spelled): \(field.type)") { writer in
        for accessor in accessors(of: field) { writer.line(accessor) }
      }
    }
    for composite in plan.ownComposites {
      composite.emitProperty("public final", to: &writer) { parts, writer in emitChange(parts, to: &writer) }
    }
    guard plan.providesID else { return }
    writer.blank()
    writer.line("public var id: \(TypeName.objectID)<\(plan.name)> { objectID }")
  }

  /// Emits the change of the fields that differ.
  private static func emitChange(_ parts: [CompositePlan.Part], to writer: inout CodeWriter) {
    var rest = parts[...]
    while let first = rest.first {
      let group = first.unit == nil ? rest.prefix(1) : rest.prefix { $0.unit == first.unit }
      rest = rest.dropFirst(group.count)
      if group.count == 1 {
        writer.line("if \(first.differs) { self.\(first.field.name.member) = \(first.code) }")
      } else {
        writer.line("if \(first.differs)")
        writer.indent()
        for part in group.dropFirst() { writer.line("|| \(part.differs)") }
        writer.outdent()
        writer.line("{")
        writer.indent()
        for part in group { writer.line("self.\(part.field.name.member) = \(part.code)") }
        writer.outdent()
        writer.line("}")
      }
    }
  }

  private static func accessors(of field: Field) -> [String] {
    let number = field.number
    switch field.kind {
    case .attribute(let attribute, _):
      let stored = "_row.\(field.name.member)"
      let value = field.isExternal ? "_load(\(unsafeMark)\(stored), \(number))" : unsafeMark + stored
      return [
        "get { _willRead(\(number)); return \(value) }",
        "@inline(never) set { if _willWrite(\(number)) { \(unsafeMark)\(stored) = \(newValue(of: field, attribute)) } }",
      ]
    case .transient(let attribute):
      return [
        "get { _willRead(\(number)); return \(unsafeMark)\(field.storage) }",
        "@inline(never) set { if _willWrite(\(number)) { \(unsafeMark)\(field.storage) = \(newValue(of: field, attribute)) } }",
      ]
    case .derived: return ["_derived(\(number))"]
    case .reference, .partner:
      return ["get { _partner(\(number)) }", "@inline(never) set { _setPartner(\(number), newValue) }"]
    case .toMany(let relationship):
      let type = relationship.isOrdered ? TypeName.orderedToMany : TypeName.toMany
      return ["get { \(type)(self, \(number)) }", "@inline(never) set { newValue._assign(to: self, \(number)) }"]
    }
  }

  private static func newValue(of field: Field, _ attribute: Attribute) -> String {
    field.kept("newValue", isOptional: attribute.isOptional)
  }
}

// MARK: - Key path emitter

/// Emits the table from key paths to properties, for Foundation predicates, which contain key paths but no names.
///
/// A key path differs from the parent class's key path to the same property, so each class lists all of them.
/// Properties that exist in memory only are left out, so that predicates cannot use them.
enum KeyPathEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    guard let identity = plan.identityKeyPaths else { return }
    let table = "_\(plan.name)KeyPaths"
    writer.blank()
    writer.block(
      "@_spi(Generated) public override class var _keyPaths: \(TypeName.keyPathTable)", returning: table)
    writer.blank()
    writer.line("private static let \(table) = \(TypeName.keyPathTable)([")
    writer.indent()
    for name in identity { writer.line("\\\(plan.name).\(name): \(TypeName.keyPathTable).identity,") }
    for field in plan.fields where ColumnsEmitter.isStored(field) && !field.isField && !field.isDerived {
      writer.line("\\\(plan.name).\(field.name.spelled): \(field.number),")
    }
    for composite in plan.composites {
      writer.line("\\\(plan.name).\(composite.name.spelled): \(composite.composite.attributes.lowerBound),")
    }
    let derived = plan.fields.filter(\.isDerived)
    guard !derived.isEmpty else {
      writer.outdent()
      return writer.line("])")
    }
    writer.outdent()
    writer.line("], derived: [")
    writer.indent()
    for field in derived {
      writer.line(
        "\\\(plan.name).\(field.name.spelled): { \(plan.name).Columns(.init(variable: 0)).\(field.name.spelled)._operand },"
      )
    }
    writer.outdent()
    writer.line("])")
  }
}
