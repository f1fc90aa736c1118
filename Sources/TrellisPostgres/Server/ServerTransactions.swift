extension ServerConnection {
  /// Runs a closure in a transaction, which is rolled back if the closure throws.
  func transaction<Result>(_ begin: String = "BEGIN", _ body: (ServerConnection) throws -> Result) throws -> Result {
    try run(ServerStatement(begin))
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let result = try body(self)
      if let failure = try run([ServerStatement("COMMIT")], isInterruptible: false).failure { throw failure }
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// The number of milliseconds that an opening waits for locks at a time. The calls of other programs queue behind it for
  /// as long, and then go on.
  private static var lockMilliseconds: Int { 60 }

  /// Limits the waits of an opening for each lock, until its transaction ends.
  func limitLocks() throws(ServerError) {
    try run(ServerStatement("SET LOCAL lock_timeout = \(Self.lockMilliseconds)"))
  }

  /// Takes tables until the transaction ends, all of them within the time for one. The transaction has no other limit for
  /// its statements.
  ///
  /// - Parameters:
  ///   - tables: the quoted names.
  ///   - mode: such as `ACCESS EXCLUSIVE`.
  /// - Throws: ``ServerError`` with the state of a lock that was not to be had in time.
  func lock(_ tables: [String], _ mode: String) throws(ServerError) {
    if tables.isEmpty { return }
    do throws(ServerError) {
      try runAll([
        "SET LOCAL statement_timeout = \(Self.lockMilliseconds)",
        "LOCK TABLE \(tables.joined(separator: ", ")) IN \(mode) MODE",
        "SET LOCAL statement_timeout = 0",
      ])
    } catch {
      throw error.state == ServerError.endedState
        ? ServerError(state: ServerError.lockState, message: error.message, isLost: error.isLost) : error
    }
  }

  /// Makes programs that create, migrate or otherwise change the tables of a schema do so one after the other, until the
  /// transaction ends.
  func lockChanges(ofSchema schema: String) throws(ServerError) {
    var parameters = ServerParameters()
    parameters.add(schema)
    try run(
      ServerStatement(
        "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('trellis.'::text || $1, 0::bigint))",
        parameters))
  }

  /// Runs statements in one round trip.
  func runAll(_ statements: [ServerStatement]) throws(ServerError) {
    if let failure = try run(statements).failure { throw failure }
  }

  /// Runs statements without parameters in one round trip.
  func runAll(_ texts: [String]) throws(ServerError) { try runAll(texts.map { ServerStatement($0) }) }
}
