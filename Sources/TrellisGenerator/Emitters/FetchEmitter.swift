/// `all` and `where`.
///
/// Classes in a hierarchy each have their own, of different types, and the narrowest must win. For `all` the compiler does so
/// by itself; of several `where` it takes the one with the fewest generic parameters that is not marked as second choice.
enum FetchEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    writer.line("/// What to fetch: requests of this class's objects, to be kept and passed on.")
    writer.line("public typealias FetchRequest = \(TypeName.fetchRequest)<Columns>")
    writer.line("/// The results of a request, kept up to date.")
    writer.line("public typealias LiveResults = \(TypeName.liveResults)<Columns>")
    writer.blank()
    writer.line("/// A fetch of every object.")
    let all = "\(plan.isRoot ? "" : "@_nonoverride ")public static var all: FetchRequest"
    writer.block(all, returning: "FetchRequest()")
    writer.blank()
    writer.line("/// A fetch of the objects for which all of the conditions hold.")
    if plan.height > 0 { writer.line("@_disfavoredOverload") }
    let levels = (1..<max(1, plan.height)).map { "Level\($0)" }
    let generics = levels.isEmpty ? "" : "<\(levels.joined(separator: ", "))>"
    let parameters: [Code] =
      levels.map { .plain("_: \($0).Type = Swift.Never.self") }
      + [.plain("@\(TypeName.conditionBuilder) _ conditions: (Columns) -> \(TypeName.queryCondition)")]
    writer.write("public static func `where`\(generics)", .call("", parameters), " -> FetchRequest {")
    writer.indent()
    writer.line("FetchRequest(conditions)")
    writer.outdent()
    writer.line("}")
    emitFormat(plan, levels, to: &writer)
  }

  /// The `where` that takes a format. What tells the classes of a hierarchy apart comes last here, as the format is given by
  /// its place.
  private static func emitFormat(_ plan: EntityPlan, _ levels: [String], to writer: inout CodeWriter) {
    writer.blank()
    writer.line("/// A fetch of the objects for which a predicate in a format string holds.")
    if plan.height > 0 { writer.line("@_disfavoredOverload") }
    let generics = levels.isEmpty ? "" : "<\(levels.joined(separator: ", "))>"
    let parameters: [Code] =
      [.plain("_ format: \(TypeName.predicateFormat)"), .plain("_ arguments: any \(TypeName.predicateArgument)...")]
      + levels.map { .plain("_\($0.lowercased()): \($0).Type = Swift.Never.self") }
    writer.write("public static func `where`\(generics)", .call("", parameters), " -> FetchRequest {")
    writer.indent()
    writer.line("FetchRequest().where(format, arguments: arguments)")
    writer.outdent()
    writer.line("}")
  }
}
