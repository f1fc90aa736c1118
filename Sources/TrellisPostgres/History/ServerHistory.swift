import TrellisModel
import TrellisStorage

/// The history of a store on a server: a row for each save, in the table `_history`.
///
/// The number of a row is that of its transaction, which every transaction gets when it first writes. A transaction that
/// commits late has a low number, so readers stop before the first transaction that is still in progress: nothing is
/// skipped, and all readers see one order.
struct ServerHistory: Sendable {
  /// The identity of the history.
  let identity: String
  /// What is added to a transaction's number. It is raised when the store comes to a server whose transactions have lower
  /// numbers than those of the history, for example from a backup.
  let base: Int64
  /// The number of the program's model among those of the store, or of one with the same entities and properties. Nil if
  /// there is none: then nothing can be recorded.
  let model: Int64?
  /// Distinguishes the transactions of this store object.
  let origin: Int64
  /// The attributes of each entity that are kept of deleted rows.
  let kept: [[Int]]
  let limit: HistoryLimit?
  /// The tables of former rows that can be read.
  fileprivate(set) var former = FormerTables()

  init(identity: String, base: Int64, model: Int64?, origin: Int64, of described: Model) {
    self.identity = identity
    self.base = base
    self.model = model
    self.origin = origin
    let plan = HistoryPlan(described)
    kept = plan.kept
    limit = plan.limit
  }

  /// The condition for transactions before which none is in progress. The parameter is the base.
  static let isSettled = "\"number\" < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + $1"
}

extension SQLNames {
  /// The table with the history.
  var history: String { table("_history") }
}

// MARK: - Opening

/// Prepares the history of a store when it is opened.
struct ServerHistoryOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let origin: Int64

  init(_ connection: ServerConnection, _ setup: PostgresSetup, origin: Int64) {
    self.connection = connection
    self.setup = setup
    self.origin = origin
  }

  private var names: SQLNames { setup.layout.names }

  /// - Returns: nil if the store has no history.
  func open() throws -> ServerHistory? {
    let found = try connection.transaction { connection in
      try connection.limitLocks()
      return try read()
    }
    // A reader leaves a history that has to be begun, as after a restore at another server, to the first program that writes.
    if setup.model.hasHistory {
      var history = try found ?? (setup.options.isReadOnly ? nil : begin())
      if history != nil { history?.former = try FormerTablesOpening(connection, setup).open() }
      return history
    }
    // A program with a former model records that it has changed something. The model of the store ends its history.
    guard found != nil, try StoreMetadata.isModel(setup.model, connection, setup) else { return found }
    // Programs that record could not save any more. They are there until their last one ends.
    if try OpenPrograms(setup).others(connection, storingOtherwise: false) > 0 { return found }
    do { try end() } catch let error as ServerError where error.isRefusalOfWrites {
      // A role that may not do this leaves it to others, and records what it saves until then.
      return found
    }
    return nil
  }

  private func end() throws {
    try connection.transaction { connection in
      try connection.limitLocks()
      try connection.lockChanges(ofSchema: setup.options.schema)
      try connection.lock([names.history], "ACCESS EXCLUSIVE")
      try connection.runAll(PresentFormerTables(connection, setup).drops(FormerRows(setup)))
      try connection.runAll([
        "DROP TABLE IF EXISTS \(names.history)",
        "UPDATE \(names.metadata) SET \"value\" = array_to_string(array_remove(string_to_array(\"value\", ' '), "
          + "'\(StoreFeatures.history)'), ' ') WHERE \"key\" = 'readOnlyCompatible'",
        "DELETE FROM \(names.metadata) WHERE \"key\" IN ('history', 'historyBase', 'historyDeleted', 'historyValues')",
      ])
    }
  }

  private func begin() throws -> ServerHistory {
    try connection.transaction { connection in
      try connection.limitLocks()
      try connection.lockChanges(ofSchema: setup.options.schema)
      try StoreMetadata.refuseForeignTable("_history", connection, setup)
      let numbers =
        ["max(\"number\") FROM \(names.history)"]
        + (try PresentFormerTables(connection, setup)).names.map {
          "max(\"_until\") FROM \(names.qualifier)\(SQLName.quoted($0))"
        }
      let all = numbers.map { "SELECT \($0)" }.joined(separator: " UNION ALL ")
      let highest = "(SELECT coalesce(max(h.number), 0) FROM (\(all)) AS h(number))"
      try connection.runAll([
        "CREATE TABLE IF NOT EXISTS \(names.history) (\"number\" bigint PRIMARY KEY, \"time\" timestamptz NOT NULL, "
          + "\"origin\" bigint NOT NULL, \"model\" bigint NOT NULL, \"author\" text, \"changes\" bytea NOT NULL)",
        // Adds the word to those that forbid writing to a program that does not know them.
        "UPDATE \(names.metadata) SET \"value\" = trim(\"value\" || ' \(StoreFeatures.history)') "
          + "WHERE \"key\" = 'readOnlyCompatible' AND NOT '\(StoreFeatures.history)' = ANY(string_to_array(\"value\", ' '))",
        "INSERT INTO \(names.metadata) VALUES ('history', gen_random_uuid()::text) ON CONFLICT DO NOTHING",
        "INSERT INTO \(names.metadata) VALUES ('historyBase', '0') ON CONFLICT DO NOTHING",
        "INSERT INTO \(names.metadata) VALUES ('historyDeleted', '0') ON CONFLICT DO NOTHING",
        // Numbers of another server begin anew above those that are there.
        "UPDATE \(names.metadata) SET \"value\" = (\"value\"::bigint + \(highest))::text WHERE \"key\" = 'historyBase' "
          + "AND \(highest) >= \"value\"::bigint + pg_current_xact_id()::text::bigint",
      ])
      guard let made = try read(checksNumbers: false) else {
        throw StoreError(
          .damaged, "\(setup.name) does not say what its history is.", remedy: "Restore the database from a backup.")
      }
      return made
    }
  }

  /// Notes in a history that there is, within the transaction of a migration, that rows changed which are not listed.
  func noteMigration() throws {
    guard let history = try read(checksNumbers: false) else { return }
    var recorder = ChangeRecordWriter()
    recorder.flags = .isMigration
    try connection.run(HistoryStatement(setup, history).insert(recorder.take(), author: nil))
  }

  /// - Returns: nil if the store has no history, or one whose numbers are not those of this server.
  private func read(checksNumbers: Bool = true) throws -> ServerHistory? {
    var parameters = ServerParameters()
    parameters.add(names.history)
    guard try connection.run(ServerStatement("SELECT to_regclass($1) IS NOT NULL", parameters)).integer(0, 0) == 1
    else {
      return nil
    }
    var checksum = ServerParameters()
    checksum.add(setup.model.checksum)
    let result = try connection.run(
      ServerStatement(
        "SELECT (SELECT \"value\" FROM \(names.metadata) WHERE \"key\" = 'history'), "
          + "(SELECT \"value\"::bigint FROM \(names.metadata) WHERE \"key\" = 'historyBase'), "
          + "(SELECT \"number\" FROM \(names.models) WHERE \"checksum\" = $1), "
          + "(SELECT max(\"number\") FROM \(names.history)), "
          + "pg_snapshot_xmax(pg_current_snapshot())::text::bigint, "
          + "(SELECT '\(StoreFeatures.history)' = ANY(string_to_array(\"value\", ' ')) FROM \(names.metadata) "
          + "WHERE \"key\" = 'readOnlyCompatible')", checksum))
    guard result.count == 1, let identity = result.text(0, 0), !result.isNull(0, 1), result.integer(0, 5) == 1
    else { return nil }
    let base = result.integer(0, 1)
    if checksNumbers, !result.isNull(0, 3), result.integer(0, 3) >= base &+ result.integer(0, 4) { return nil }
    let model = try result.isNull(0, 2) ? numberOfAlikeModel() : result.integer(0, 2)
    return ServerHistory(identity: identity, base: base, model: model, origin: origin, of: setup.model)
  }

  /// The number of the store's model, if a record of one model means the same as one of the other. The program's model
  /// was not written to the store, because its role may not do that.
  private func numberOfAlikeModel() throws -> Int64? {
    let stored = try StoreMetadata(connection, setup).model()
    func words(_ model: Model) -> [[String]] { model.entities.map { [$0.name] + $0.properties.map(\.name) } }
    guard words(stored).elementsEqual(words(setup.model), by: { $0.elementsEqual($1, by: TextBytes.areEqual) }) else {
      return nil
    }
    var checksum = ServerParameters()
    checksum.add(stored.checksum)
    let result = try connection.run(
      ServerStatement("SELECT \"number\" FROM \(names.models) WHERE \"checksum\" = $1", checksum))
    return result.count == 1 ? result.integer(0, 0) : nil
  }
}
