import Foundation
import TrellisModel
import TrellisStorage

/// Makes the indexes that the model of a store declares and its schema lacks: those of a new model, and those that were
/// dropped or not completed. Requests work without them.
///
/// An index of a large table is made while others write, outside of a transaction. What is left of one that was not
/// completed is not valid, and is dropped before it is made again.
struct IndexOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let observer: MigrationObserver?
  private let searches: [SearchIndexes.Index]

  /// An index that is missing or not valid.
  private struct Missing {
    let name: String
    let table: String
    let statement: String
    /// Whether a program decides at its opening whether it uses the index.
    let isOfSearch: Bool
    let isLarge: Bool
    /// Whether there is one that is not valid.
    let isBroken: Bool
  }

  init(
    _ connection: ServerConnection, _ setup: PostgresSetup, _ searches: SearchIndexes, _ observer: MigrationObserver?
  ) {
    self.connection = connection
    self.setup = setup
    self.observer = observer
    self.searches = searches.indexes
  }

  private var patience: TimeInterval { setup.options.indexPatience }
  private var names: SQLNames { setup.layout.names }

  /// - Throws: ``ServerError`` with the state of a lock that was not to be had in time, also while another program makes
  ///   full-text indexes; ``StoreError`` with the code `cancelled`.
  func open() throws {
    if setup.options.isReadOnly { return }
    do {
      let found = try missing()
      guard !found.isEmpty, try StoreMetadata.isModel(setup.model, connection, setup) else { return }
      if found.contains(where: { !$0.isLarge }) { try makeSmall() }
      if found.contains(where: \.isLarge) { try makeLarge() }
    } catch let error as ServerError where error.isRefusalOfWrites || error.isOfWhatIsWritten {
      // The role may not make them, or the server does not, for example over a text that is too long.
    }
  }

  private func missing() throws(ServerError) -> [Missing] {
    let all =
      setup.indexes.map { ($0.name, $0.table, $0.statement, false) }
      + searches.map { ($0.name, $0.table, $0.statement, true) }
    if all.isEmpty { return [] }
    var (indexes, tables) = (ServerArray(of: .text), ServerArray(of: .text))
    for (name, table, _, _) in all {
      _ = indexes.append(.text(name))
      _ = tables.append(.text(names.fitted(table)))
    }
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    parameters.add(indexes)
    parameters.add(tables)
    parameters.add(setup.options.largeTable)
    let result = try connection.run(
      ServerStatement(
        "SELECT w.place, pg_table_size(t.oid) >= $4, i.indexrelid IS NOT NULL FROM pg_namespace AS n "
          + "JOIN unnest($2::text[], $3::text[]) WITH ORDINALITY AS w(name, owner, place) ON true "
          + "JOIN pg_class AS t ON t.relnamespace = n.oid AND t.relname = w.owner::name "
          + "LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = w.name::name "
          + "LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
          + "WHERE n.nspname = $1 AND (c.oid IS NULL OR NOT i.indisvalid) ORDER BY 1", parameters))
    return (0..<result.count).map { row in
      let (name, table, statement, isOfSearch) = all[Int(result.integer(row, 0)) - 1]
      return Missing(
        name: name, table: names.table(table), statement: statement, isOfSearch: isOfSearch,
        isLarge: result.integer(row, 1) == 1, isBroken: result.integer(row, 2) == 1)
    }
  }

  private func makeSmall() throws {
    try connection.transaction { connection in
      try connection.limitLocks()
      try connection.lockChanges(ofSchema: setup.options.schema)
      let indexes = try missing().filter { !$0.isLarge }
      try connection.lock(Set(indexes.filter(\.isBroken).map(\.table)).sorted(), "ACCESS EXCLUSIVE")
      try connection.lock(Set(indexes.map(\.table)).sorted(), "SHARE")
      try connection.runAll(indexes.filter(\.isBroken).map { "DROP INDEX \(names.table($0.name))" })
      try connection.runAll(indexes.map(\.statement))
    }
  }

  // MARK: Large tables

  private func makeLarge() throws {
    // While one connection makes indexes, the other one holds the turn in a transaction without a snapshot, for which the
    // server does not wait. So it is held behind a pool as well.
    try connection.transaction { connection in
      var parameters = ServerParameters()
      parameters.add(setup.options.schema)
      // A statement that waits has a snapshot, for which the server would wait.
      let turn = try connection.run(
        ServerStatement(
          "SELECT pg_try_advisory_xact_lock(hashtextextended('trellis.indexes.'::text || $1, 0::bigint))", parameters))
      let indexes = try missing().filter(\.isLarge)
      guard turn.integer(0, 0) == 1 else {
        guard indexes.contains(where: \.isOfSearch) else { return }
        throw ServerError(state: ServerError.lockState, message: "another program makes indexes")
      }
      // The answer to a query keeps its snapshot until the next statement, and this one has none.
      try connection.run(ServerStatement("SET LOCAL idle_in_transaction_session_timeout = 0"))
      // A server without room for another connection has other worries.
      guard !indexes.isEmpty, let maker = try? setup.connectForChanges() else { return }
      if !setup.options.usesTransactionPool {
        try maker.runAll(["SET statement_timeout = 0", "SET lock_timeout = \(Int(patience * 1_000))"])
      }
      observer?.continueOrBegin(total: Double(indexes.count))
      let watch = CancelWatch(observer, maker)
      defer { withExtendedLifetime(watch) {} }
      for index in indexes where !maker.isLost {
        try make(index, maker)
        observer?.finish(1)
      }
    }
  }

  private func make(_ index: Missing, _ maker: ServerConnection) throws(StoreError) {
    let name = names.table(index.name)
    do throws(ServerError) {
      if index.isBroken {
        maker.patience = patience
        // Another program whose connection has ended may still be at work on it.
        try maker.run(ServerStatement("DROP INDEX CONCURRENTLY IF EXISTS \(name)"))
      }
      maker.patience = setup.options.migrationPatience
      try maker.run(ServerStatement("CREATE INDEX CONCURRENTLY" + index.statement.dropFirst("CREATE INDEX".count)))
    } catch {
      // Whatever the reason, the next opening tries again. Until then writers need not maintain what is left.
      try? maker.transaction { maker in
        try maker.limitLocks()
        try maker.run(ServerStatement("DROP INDEX IF EXISTS \(name)"))
      }
      guard observer?.isCancelled != true else {
        throw StoreError(
          .cancelled,
          "The opening of \(setup.name) was cancelled while it made the index \(index.name); the store has "
            + "this program's model.", remedy: "Open the store again, which makes the index.")
      }
    }
  }
}
