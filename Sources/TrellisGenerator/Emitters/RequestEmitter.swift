import TrellisQuery
import TrellisSchema

/// Emits the fetch requests of the model as functions. Their parameters are the predicate's variables.
enum RequestEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for request in plan.requests {
      writer.blank()
      emitDoc(request, of: plan, to: &writer)
      let name = Identifier(request.description.name).spelled
      let parameters: [Code] = request.parameters.map { .plain("\($0.name.label): \($0.swiftType)") }
      writer.write("public static func ", .call(name, parameters), " -> FetchRequest {")
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
    return .call("FetchRequest", arguments)
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
