import TrellisModel
package import TrellisStorage

extension PostgresStore {
  package func connect() throws -> any StoreConnection { PostgresConnection(self) }
}

/// A context's connection to a store on a server. It borrows a connection of the store for each call, or for as long as
/// it is pinned.
package final class PostgresConnection: StoreConnection {
  let store: PostgresStore
  package var trace: StatementTrace?
  /// The answers to what is going to be read next.
  var announced: [MemberRequest: ServerResult] = [:]
  /// The connection of a snapshot, in a transaction.
  private var held: ServerConnection?
  private var seenTexts: Set<String> = []

  init(_ store: PostgresStore) { self.store = store }

  deinit { unpin() }

  var setup: PostgresSetup { store.setup }
  var layout: TableLayout { store.setup.layout }

  // MARK: Running

  /// Runs a read. It runs again on a new connection if the server has closed an idle one, unless rows were passed on.
  func reading<Result>(doing: String, _ body: (ServerConnection) throws -> Result) throws -> Result {
    guard let held else { return try store.pool.reading(doing: doing, body) }
    do {
      return try body(held)
    } catch let error as ServerError {
      throw error.storeError(store.name, doing: doing)
    }
  }

  func note(_ statement: ServerStatement) {
    guard let trace else { return }
    if seenTexts.insert(statement.text).inserted { trace.noteCompiled(statement.text) }
    trace.noteRun(statement.text)
  }

  /// Reads all rows of a statement before it passes them on. For statements with few rows.
  func readAll(_ statement: ServerStatement, doing: String = "read", _ body: (ServerResult, Int) throws -> Void) throws
  {
    note(statement)
    let generation = store.generation
    let result = try reading(doing: doing) { connection in
      // A snapshot has asked for the generation at its beginning.
      isPinned
        ? try connection.run(statement)
        : try connection.run(statement, after: generation.statement) { try generation.check($0) }
    }
    for row in 0..<result.count { try body(result, row) }
  }

  /// Passes each row on as it arrives. For statements with many rows.
  func stream(_ statement: ServerStatement, doing: String = "read", _ body: (ServerResult, Int) throws -> Void) throws {
    note(statement)
    try reading(doing: doing) { connection in
      var hasPassedRows = false
      do {
        let generation = store.generation
        try connection.stream(
          statement, after: isPinned ? nil : generation.statement, { try generation.check($0) }
        ) { result in
          hasPassedRows = true
          for row in 0..<result.count { try body(result, row) }
        }
      } catch let error as ServerError where hasPassedRows {
        throw error.storeError(store.name, doing: doing)
      }
    }
  }

  /// Reads rows of an entity, or of its descendants.
  func readRows(
    _ statement: ServerStatement, _ entity: Int, base: Int = 0, isStreamed: Bool,
    _ body: (ServerRowReader, ServerResult, Int) throws -> Void
  ) throws {
    var reader: ServerRowReader?
    let read = { (result: ServerResult, row: Int) throws in
      let shown = reader ?? ServerRowReader(result, self.layout.tables[entity], base: base, store: self.store.name)
      reader = shown
      try shown.show(result, row)
      try body(shown, result, row)
    }
    try isStreamed ? stream(statement, read) : readAll(statement, read)
  }

  // MARK: Snapshots

  package func pin() throws {
    guard held == nil else { return }
    let connection = try store.pool.take()
    connection.isInTransaction = true
    do {
      // The snapshot is taken by the first statement that reads.
      let begin = ServerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      let (results, failure) = try connection.run([begin, store.generation.lock, store.generation.statement])
      if let failure { throw failure }
      if let answer = results.last { try store.generation.check(answer) }
    } catch {
      connection.rollBack()
      connection.isInTransaction = false
      store.pool.giveBack(connection)
      throw (error as? ServerError)?.storeError(store.name, doing: "read") ?? error
    }
    held = connection
  }

  package func unpin() {
    guard let held else { return }
    self.held = nil
    // Nothing was written.
    held.rollBack()
    held.isInTransaction = false
    store.pool.giveBack(held)
  }

  /// Runs several reads that see the same moment.
  func atOneMoment<Result>(_ body: () throws -> Result) throws -> Result {
    if held != nil { return try body() }
    try pin()
    defer { unpin() }
    return try body()
  }

  package func hasExternalChanges() -> Bool { store.watcher.takeNews() }

  package func hasUnknownChanges() -> Bool { store.watcher.takeUnknownNews() }

  // MARK: Writing

  /// Whether the connection shows a snapshot, which nothing can be saved to.
  var isPinned: Bool { held != nil }
}

enum RequestFault {
  static let unknown = StoreError(
    .internalError, "The store was asked for something that the model does not have.",
    remedy: "Report this as a mistake in Trellis.")
}
