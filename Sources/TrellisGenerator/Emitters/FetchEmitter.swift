/// Emits `all` and `where`.
///
/// Each class in a hierarchy has its own versions with different types, and the most derived must win overload
/// resolution. For `all` the compiler prefers it already; among several `where` it chooses the one with the fewest
/// generic parameters that is not disfavored.
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

  /// Emits the `where` with a format. The type parameters that distinguish the classes of a hierarchy come last here,
  /// because the format has no label.
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
