extension ServerConnection {
  /// Runs a closure in a transaction, which is rolled back if the closure throws.
  func transaction<Result>(_ begin: String = "BEGIN", _ body: (ServerConnection) throws -> Result) throws -> Result {
    try run(ServerStatement(begin))
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let result = try body(self)
      try run(ServerStatement("COMMIT"))
      return result
    } catch {
      _ = try? run(ServerStatement("ROLLBACK"))
      throw error
    }
  }

  /// Makes programs that create, migrate or otherwise change the tables of a schema do so one after the other, until the
  /// transaction ends.
  func lockChanges(ofSchema schema: String) throws(ServerError) {
    var parameters = ServerParameters()
    parameters.add(schema)
    try run(ServerStatement("SELECT pg_advisory_xact_lock(hashtextextended('trellis.' || $1, 0))", parameters))
  }

  /// Runs statements in one round trip.
  func runAll(_ statements: [ServerStatement]) throws(ServerError) {
    if let failure = try run(statements).failure { throw failure }
  }

  /// Runs statements without parameters in one round trip.
  func runAll(_ texts: [String]) throws(ServerError) { try runAll(texts.map { ServerStatement($0) }) }
}
