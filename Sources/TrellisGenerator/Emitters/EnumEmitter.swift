import TrellisModel

/// Emits an enum of the model.
///
/// A large enum looks up its raw values in tables, because the compile time of a `switch` or a literal with thousands
/// of cases grows faster than their number.
enum EnumEmitter {
  private static func isLarge(_ enumeration: EnumDescription) -> Bool { enumeration.cases.count > 128 }

  /// - Parameter isFormer: whether the enum is one of a former version, which needs no description.
  static func emit(_ enumeration: EnumDescription, isFormer: Bool = false, to writer: inout CodeWriter) {
    let rawType = enumeration.rawType == .string ? "Swift.String" : "Swift.Int64"
    let first = enumeration.cases.first.map { Identifier($0.name).member } ?? ""
    writer.blank()
    if !isFormer {
      writer.line("// MARK: - \(enumeration.name)")
      writer.blank()
    }
    writer.doc(enumeration.doc)
    writer.block("public nonisolated enum \(enumeration.name): \(TypeName.modelEnum), Swift.CaseIterable") { writer in
      emitCases(of: enumeration, rawType: rawType, to: &writer)
      writer.blank()
      writer.line("public static let placeholder = Self.\(first)")
      writer.blank()
      emitRawValue(of: enumeration, rawType: rawType, to: &writer)
      writer.blank()
      emitInitialiser(of: enumeration, rawType: rawType, to: &writer)
      if isFormer { return }
      emitTexts(of: enumeration, to: &writer)
      writer.blank()
      // A case may have the name of a module. It shadows the module in expressions, but not in types.
      let type = TypeName.enumDescription
      writer.write("static let _description: \(type) = ", description(of: enumeration))
    }
  }

  private static func emitCases(of enumeration: EnumDescription, rawType: String, to writer: inout CodeWriter) {
    for entry in enumeration.cases {
      writer.doc(entry.doc)
      writer.line("case \(Identifier(entry.name).spelled)")
    }
    guard enumeration.unknown == .preserve else { return }
    writer.line("/// A stored value that this version of the model does not know; it is written back as it was.")
    writer.line("case unknown(\(TypeName.unknownRawValue)<\(rawType)>)")
    writer.blank()
    writer.line("/// The cases that the model declares.")
    let cases: [Code] = enumeration.cases.map { .plain("." + Identifier($0.name).member) }
    if isLarge(enumeration) {
      writer.line("public static let allCases: [Self] = {")
      writer.indent()
      writer.line("var all: [Self] = []")
      for entry in cases { writer.line("all.append(\(entry.flat))") }
      writer.line("return all")
      writer.outdent()
      return writer.line("}()")
    }
    writer.write("public static let allCases: [Self] = ", .list(cases))
  }

  private static func emitRawValue(of enumeration: EnumDescription, rawType: String, to writer: inout CodeWriter) {
    if isLarge(enumeration) { return emitTables(of: enumeration, rawType: rawType, to: &writer) }
    writer.block("public var rawValue: \(rawType)") { writer in
      writer.line("switch self {")
      for entry in enumeration.cases {
        writer.write("case .\(Identifier(entry.name).member): ", literal(entry.rawValue))
      }
      if enumeration.unknown == .preserve { writer.line("case .unknown(let value): value.rawValue") }
      writer.line("}")
    }
  }

  /// Emits the raw values in the order of the cases, and tables for both directions.
  private static func emitTables(of enumeration: EnumDescription, rawType: String, to writer: inout CodeWriter) {
    let values = enumeration.cases.map { literal($0.rawValue) }
    writer.write("private static let _rawValues: [\(rawType)] = ", .filledList(values))
    // A case may have the name of the module `Swift`, which it shadows in expressions, but not in types.
    writer.line("private static let _rawValueOfCase: [Self: \(rawType)] =")
    writer.line("  .init(allCases.indices.map { (allCases[$0], _rawValues[$0]) }) { first, _ in first }")
    writer.line("private static let _caseOfRawValue: [\(rawType): Self] =")
    writer.line("  .init(allCases.indices.map { (_rawValues[$0], allCases[$0]) }) { first, _ in first }")
    writer.blank()
    writer.block("public var rawValue: \(rawType)") { writer in
      if enumeration.unknown == .preserve {
        writer.line("if case .unknown(let value) = self { return value.rawValue }")
      }
      writer.line("return Self._rawValueOfCase[self] ?? Self._rawValues[0]")
    }
  }

  private static func emitLookup(of enumeration: EnumDescription, rawType: String, to writer: inout CodeWriter) {
    writer.block("public init?(stored rawValue: \(rawType))") { writer in
      switch enumeration.unknown {
      case .preserve: writer.line("self = Self._caseOfRawValue[rawValue] ?? .unknown(.init(rawValue))")
      case .useDefault(let name): writer.line("self = Self._caseOfRawValue[rawValue] ?? .\(Identifier(name).member)")
      case .reject:
        writer.line("guard let known = Self._caseOfRawValue[rawValue] else { return nil }")
        writer.line("self = known")
      }
    }
  }

  private static func emitInitialiser(of enumeration: EnumDescription, rawType: String, to writer: inout CodeWriter) {
    if isLarge(enumeration) { return emitLookup(of: enumeration, rawType: rawType, to: &writer) }
    writer.block("public init?(stored rawValue: \(rawType))") { writer in
      writer.line("switch rawValue {")
      for entry in enumeration.cases {
        writer.line("case \(literal(entry.rawValue).flat): self = .\(Identifier(entry.name).member)")
      }
      switch enumeration.unknown {
      case .preserve: writer.line("default: self = .unknown(.init(rawValue))")
      case .useDefault(let name): writer.line("default: self = .\(Identifier(name).member)")
      case .reject: writer.line("default: return nil")
      }
      writer.line("}")
    }
  }

  /// Emits the cases with their texts, for reading rows.
  private static func emitTexts(of enumeration: EnumDescription, to writer: inout CodeWriter) {
    if enumeration.rawType != .string || isLarge(enumeration) { return }
    writer.blank()
    let cases = enumeration.cases.map { entry in
      Code.call("", [literal(entry.rawValue), .plain("." + Identifier(entry.name).member)])
    }
    writer.write(
      "@_spi(Generated) public static let _cases: [(text: Swift.StaticString, value: Self)] = ", .list(cases))
  }

  private static func literal(_ value: StoredValue) -> Code {
    switch value {
    case .text(let text): .string(text)
    case .integer(let number): .plain("\(number)")
    // The name check rejected all other raw values.
    default: .plain("0")
    }
  }

  /// Names and raw values as lists of plain literals, which compile in linear time.
  private static func description(of enumeration: EnumDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(enumeration.name))
    arguments.add("caseNames", .filledList(enumeration.cases.map { .string($0.name) }))
    let isNamed = enumeration.cases.allSatisfy { $0.rawValue == .text($0.name) }
    if enumeration.rawType == .integer {
      arguments.add("numbers", .filledList(enumeration.cases.map { literal($0.rawValue) }))
    } else if !isNamed {
      arguments.add("texts", .filledList(enumeration.cases.map { literal($0.rawValue) }))
    }
    let docs = enumeration.cases.compactMap { entry in
      entry.doc.map { Code.labeled(StringLiteral.flat(entry.name), .string($0)) }
    }
    let formerNames = enumeration.cases.filter { !$0.renamedFrom.isEmpty }.map { entry in
      Code.labeled(StringLiteral.flat(entry.name), .list(entry.renamedFrom.map { .string($0) }))
    }
    arguments.add("renamedFrom", formerNames)
    arguments.add("docs", docs)
    switch enumeration.unknown {
    case .preserve: arguments.add("unknown", .plain(".preserve"))
    case .useDefault(let name): arguments.add("unknown", .call(".useDefault", [.string(name)]))
    case .reject: break
    }
    arguments.add("doc", enumeration.doc)
    return .call(".init", arguments.codes)
  }
}

// MARK: - Hook emitter

/// Emits the calls of the functions that the app implements for the hooks in the model.
///
/// Each class overrides the hooks, so that an object first passes through the functions of its parent classes. Each
/// class also has its own protocol that requires its functions, so that the compiler reports a missing one with its
/// signature.
enum HookEmitter {
  static func emitOverrides(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for hook in plan.description.hooks {
      writer.blank()
      let call = "(\(plan.name).self as any \(plan.name).Hooks.Type).\(hook.rawValue)(self)"
      writer.block("@_spi(Generated) public override func \(signature(of: hook))") { writer in
        switch hook {
        case .didInsert, .didFetch, .didSave, .willDelete:
          writer.line("super._\(hook.rawValue)()")
          writer.line(call)
        case .willSave:
          writer.line("try super._\(hook.rawValue)()")
          writer.line("try \(call)")
        case .validateInsert, .validateUpdate, .validateDelete:
          writer.line("super._\(hook.rawValue)(&failures)")
          writer.line("failures.collect { try \(call) }")
        }
      }
    }
  }

  private static func signature(of hook: LifecycleHook) -> String {
    switch hook {
    case .didInsert, .didFetch, .didSave, .willDelete: "_\(hook.rawValue)()"
    case .willSave: "_\(hook.rawValue)() throws"
    case .validateInsert, .validateUpdate, .validateDelete:
      "_\(hook.rawValue)(_ failures: inout \(TypeName.hookFailures))"
    }
  }

  /// Emits the protocol with the functions that the app has to implement.
  static func emitProtocol(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.description.hooks.isEmpty { return }
    writer.blank()
    writer.line("/// The hooks that the model lists: write these functions in an extension of `\(plan.name)`.")
    writer.block("nonisolated protocol Hooks") { writer in
      for hook in plan.description.hooks {
        let effect = canThrow(hook) ? " throws" : ""
        writer.line("static func \(hook.rawValue)(_ object: \(plan.name))\(effect)")
      }
    }
  }

  static func emitConformance(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.description.hooks.isEmpty { return }
    writer.blank()
    writer.line("nonisolated extension \(plan.name): \(plan.name).Hooks {}")
  }

  private static func canThrow(_ hook: LifecycleHook) -> Bool {
    switch hook {
    case .didInsert, .didFetch, .didSave, .willDelete: false
    case .willSave, .validateInsert, .validateUpdate, .validateDelete: true
    }
  }
}
