import TrellisModel

/// Emits the fetch requests of the model as functions. Their parameters are the predicate's variables.
enum RequestEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for request in plan.requests {
      writer.blank()
      emitDoc(request, of: plan, to: &writer)
      let name = Identifier(request.description.name).spelled
      let parameters: [Code] = request.parameters.map { .plain("\($0.name.label): \($0.swiftType)") }
      writer.write("public static func ", .call(name, parameters), " -> \(TypeName.fetchRequest)<Columns> {")
      writer.indent()
      let predicates = PredicateCode(parameters: request.parameters)
      let body = body(request, predicates)
      for statement in predicates.statements { writer.write("", statement) }
      writer.write(predicates.statements.isEmpty ? "" : "return ", body)
      writer.outdent()
      writer.line("}")
    }
  }

  private static func body(_ request: RequestPlan, _ predicates: PredicateCode) -> Code {
    var arguments: [Code] = [.labeled("predicate", request.predicate.map(predicates.code) ?? .plain("nil"))]
    if !request.sort.isEmpty { arguments.append(.labeled("sort", .list(request.sort.map(predicates.code)))) }
    if let limit = request.description.limit { arguments.append(.plain("limit: \(limit)")) }
    if let offset = request.description.offset, offset > 0 { arguments.append(.plain("offset: \(offset)")) }
    if !request.prefetch.isEmpty {
      arguments.append(
        .labeled("prefetch", .list(request.prefetch.map { .plain(predicates.path($0, TypeName.propertyPath)) })))
    }
    return .call(TypeName.fetchRequest, arguments)
  }

  // MARK: Documentation

  private static func emitDoc(_ request: RequestPlan, of plan: EntityPlan, to writer: inout CodeWriter) {
    let description = request.description
    writer.doc(description.doc ?? "A fetch of objects, as the model declares it.")
    writer.line("///")
    if let predicate = description.predicate {
      writer.line("/// ```")
      writer.doc(predicate.replacingFences)
      writer.line("/// ```")
    }
    let order = description.sort.map { "`\($0.path)`\($0.isDescending ? " descending" : "")" }
    var notes: [String] = []
    if !order.isEmpty { notes.append("sorted by " + order.joined(separator: ", then ")) }
    if let offset = description.offset, offset > 0 { notes.append("without the first \(offset)") }
    if let limit = description.limit { notes.append(limit == 1 ? "one at most" : "\(limit) at most") }
    if !description.prefetch.isEmpty {
      notes.append("loaded with " + description.prefetch.map { "`\($0)`" }.joined(separator: ", "))
    }
    let text = notes.isEmpty ? "In the order in which they were inserted." : notes.joined(separator: "; ") + "."
    writer.doc(text.prefix(1).uppercased() + text.dropFirst())
    guard !request.parameters.isEmpty else { return }
    writer.line("///")
    if request.parameters.count == 1, let only = request.parameters.first {
      return writer.line("/// - Parameter \(only.name.name): \(only.note)")
    }
    writer.line("/// - Parameters:")
    for parameter in request.parameters { writer.line("///   - \(parameter.name.name): \(parameter.note)") }
  }
}

extension RequestPlan.Parameter {
  var swiftType: String {
    switch shape {
    case .one: type
    case .list: "[\(type)]"
    case .range: "Swift.ClosedRange<\(type)>"
    }
  }

  var note: String {
    switch shape {
    case .one: "The value of `$\(name.name)`."
    case .list: "The values of `$\(name.name)`, of which one has to equal."
    case .range: "From the least to the greatest value of `$\(name.name)`, both included."
    }
  }
}

extension String {
  /// The text without a fence that would end a code block in a comment.
  fileprivate var replacingFences: String {
    var result = ""
    var run = 0
    for character in self {
      run = character == "`" ? run + 1 : 0
      result.append(run >= 3 ? "'" : character)
    }
    return result
  }
}

// MARK: - Fetch emitter

/// Emits `all` and `where` of a subclass. A root class has those of `FetchableObject`.
///
/// Each class of a hierarchy has its own versions with different types. Among those of several protocol extensions the
/// compiler prefers the one with the narrowest `Self`.
enum FetchEmitter {
  /// Emits the types of requests and results, which shadow those of the parent class.
  static func emitTypes(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.line("/// A request for objects of this class, to be kept and passed on.")
    writer.line("public typealias FetchRequest = \(TypeName.fetchRequest)<Columns>")
    writer.line("/// The results of a request, kept up to date.")
    writer.line("public typealias LiveResults = \(TypeName.liveResults)<Columns>")
  }

  static func emitExtension(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.isRoot { return }
    let request = "\(plan.name).FetchRequest"
    writer.blank()
    writer.block("nonisolated extension \(TypeName.fetchableObject) where Self: \(plan.name)") { writer in
      writer.line("/// A fetch of every object.")
      writer.block("public static var all: \(request)", returning: "\(request)()")
      writer.blank()
      writer.line("/// A fetch of the objects for which all of the conditions hold.")
      writer.function(
        "public static func `where`",
        ["@\(TypeName.conditionBuilder) _ conditions: (\(plan.name).Columns) -> \(TypeName.queryCondition)"],
        " -> \(request)", returning: "\(request)(conditions)")
      writer.blank()
      writer.line("/// A fetch of the objects for which a predicate in a format string holds.")
      writer.function(
        "public static func `where`",
        ["_ format: \(TypeName.predicateFormat)", "_ arguments: any \(TypeName.predicateArgument)..."],
        " -> \(request)", returning: "\(request)().where(format, arguments: arguments)")
    }
  }
}

// MARK: - Columns emitter

/// Emits the properties by name, for predicates and sorts.
enum ColumnsEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let name = plan.name
    writer.line("/// The properties by name, for predicates and sorts.")
    writer.block("public struct Columns: \(TypeName.entityColumns)") { writer in
      emitPath(plan, to: &writer)
      writer.blank()
      writer.function(
        "@_spi(Generated) public static func snapshot", ["of object: \(name)"], " -> \(name).Snapshot",
        returning: "object.snapshot")
      let fields = plan.fields.filter { isStored($0) && !$0.isField }
      if !fields.isEmpty { writer.blank() }
      let path = pathName(of: plan)
      for field in fields {
        writer.doc(field.doc)
        let type = self.type(of: field)
        if case .derived(_, let operand) = field.kind {
          let predicates = PredicateCode(parameters: [])
          let code = predicates.code(operand)
          writer.block("public var \(field.name.spelled): \(type)") { writer in
            for statement in predicates.statements { writer.write("", statement) }
            writer.write("return ", .call(TypeName.computedValue, [code, .plain("of: \(path)")]))
          }
          continue
        }
        let head = type.prefix { $0 != "<" }
        writer.block(
          "public var \(field.name.spelled): \(type)", returning: "\(head)(\(path), \(field.number))")
      }
      for composite in plan.composites {
        writer.doc(composite.doc)
        let head = composite.columnsType.prefix { $0 != "<" }
        writer.block(
          "public var \(composite.name.spelled): \(composite.columnsType)",
          returning: "\(head)(\(path), \(composite.composite.attributes.lowerBound))")
      }
    }
  }

  /// Whether a field is stored. A predicate cannot use a field that exists in memory only.
  static func isStored(_ field: Field) -> Bool {
    switch field.kind {
    case .attribute, .derived, .reference: true
    case .transient: false
    case .partner(let relationship), .toMany(let relationship): !relationship.description.isTransient
    }
  }

  private static func type(of field: Field) -> String {
    switch field.kind {
    case .attribute, .transient: "\(TypeName.attributePath)<\(field.rowType)>"
    case .derived: "\(TypeName.computedValue)<\(field.type)>"
    case .reference, .partner: "\(TypeName.toOnePath)<\(field.base).Columns>"
    case .toMany: "\(TypeName.toManyPath)<\(field.base).Columns>"
    }
  }

  private static func pathName(of plan: EntityPlan) -> String {
    plan.fields.contains { $0.name.name == "path" } ? "_path" : "path"
  }

  /// Emits the path and its initializer. The path has another name if the model has a property `path`.
  private static func emitPath(_ plan: EntityPlan, to writer: inout CodeWriter) {
    let name = pathName(of: plan)
    let prefix = name == "_path" ? "@_implements(\(TypeName.entityColumns),path) " : ""
    let spi = "@_spi(Generated) public"
    writer.line("\(prefix)\(spi) let \(name): \(TypeName.propertyPath)")
    writer.blank()
    writer.line("\(spi) init(_ path: \(TypeName.propertyPath)) { self.\(name) = path }")
  }
}
