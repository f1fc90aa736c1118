public import Tracing
public import Trellis

extension QueryLog {
  /// A log that makes a span of each operation: fetches, saves, lazy loads, the opening, a migration. A span is a child of
  /// the one that is current where the operation begins.
  ///
  /// - Parameters:
  ///   - tracer: The tracer.
  ///   - system: The name of the database in the spans, such as `sqlite` or `postgresql`.
  public static func tracing(with tracer: any Tracer = InstrumentationSystem.tracer, system: String) -> QueryLog {
    QueryLog(begin: { kind, subject in
      let name = kind.rawValue + (subject.map { " \($0)" } ?? "")
      let span = tracer.startSpan(name, context: ServiceContext.current ?? .topLevel, ofKind: .client)
      return { entry in
        span.attributes["db.system.name"] = system
        span.attributes["db.operation.name"] = kind.rawValue
        span.attributes["db.collection.name"] = subject
        span.attributes["db.response.returned_rows"] = entry.rows
        if !entry.statements.isEmpty {
          span.attributes["db.query.text"] = entry.statements.map(\.text).joined(separator: ";\n")
        }
        if let failure = entry.failure {
          span.attributes["error.type"] = failure
          span.setStatus(SpanStatus(code: .error))
        }
        span.end()
      }
    })
  }
}

extension PersistentContainer {
  /// Runs work as `perform` does, in a span of its own. The spans of its fetches and saves are children of it, because the
  /// thread of the container gets the context of the caller.
  ///
  /// - Parameters:
  ///   - name: The name of the span.
  ///   - tracer: The tracer.
  ///   - body: The work.
  /// - Throws: the same errors as `perform`.
  public func performInSpan<Result: Sendable>(
    _ name: String, with tracer: any Tracer = InstrumentationSystem.tracer,
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await tracer.withAnySpan(name, ofKind: .internal) { span in
      let caller = span.context
      return try await self.perform { context in
        try ServiceContext.withValue(caller) { try body(context) }
      }
    }
  }
}
