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
  /// The connection of a snapshot, in a transaction, and the pool that it belongs to.
  private var held: (connection: ServerConnection, pool: ServerPool)?
  private var seenTexts: Set<String> = []
  /// The replica that answers reads. Nil if the primary answers all.
  private let replica: ReadReplica?
  /// Whether the connection is for reads that a replica may answer, and for nothing else.
  let onlyReads: Bool

  init(_ store: PostgresStore, fromReplica: Bool = false) {
    self.store = store
    onlyReads = fromReplica
    replica = fromReplica ? store.replica : nil
  }

  deinit { unpin() }

  var setup: PostgresSetup { store.setup }
  var layout: TableLayout { store.setup.layout }

  // MARK: Running

  /// Runs a read. It runs again on a new connection if the server has closed an idle one, unless rows were passed on.
  ///
  /// - Parameter body: receives what it has to ask first; nil in a snapshot, which has asked at its beginning.
  func reading<Result>(
    doing: String, _ body: (ServerConnection, ReadCheck?) throws -> Result
  ) throws -> Result {
    guard let held else {
      if let result = try replica?.reading(body) { return result }
      return try store.pool.reading(doing: doing) { try body($0, store.generation.readCheck) }
    }
    do {
      return try body(held.connection, nil)
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
    let result = try reading(doing: doing) { connection, first in
      guard let first else { return try connection.run(statement) }
      return try connection.run(statement, after: first.statement, first.check)
    }
    for row in 0..<result.count { try body(result, row) }
  }

  /// Passes each row on as it arrives. For statements with many rows.
  func stream(_ statement: ServerStatement, doing: String = "read", _ body: (ServerResult, Int) throws -> Void) throws {
    note(statement)
    try reading(doing: doing) { connection, first in
      var hasPassedRows = false
      do {
        try connection.stream(statement, after: first?.statement, { try first?.check($0) }) { result in
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
    if let replica, let connection = try replica.take() {
      // The primary shows the moment if the replica ends it at once.
      if (try? pin(connection, of: replica.pool)) != nil { return }
    }
    try pin(try store.pool.take(), of: store.pool)
  }

  private func pin(_ connection: ServerConnection, of pool: ServerPool) throws {
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
      pool.giveBack(connection)
      throw (error as? ServerError)?.storeError(store.name, doing: "read") ?? error
    }
    held = (connection, pool)
  }

  package func unpin() {
    guard let held else { return }
    self.held = nil
    // Nothing was written.
    held.connection.rollBack()
    held.connection.isInTransaction = false
    held.pool.giveBack(held.connection)
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
