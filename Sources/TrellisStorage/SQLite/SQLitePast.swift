internal import CSQLite
import TrellisModel

/// A SQLite connection of its own, with views under the names of the tables. So each statement reads the former rows, while
/// others change the present ones.
final class SQLitePast: PastMoment {
  private let store: SQLiteStore
  private let plan: HistoryPlan
  private let position: HistoryPosition
  /// The connection while a read uses it.
  private var lent: SQLiteConnection?
  var trace: StatementTrace?

  /// - Throws: ``StoreError`` if no connection can be opened.
  init(_ store: SQLiteStore, _ plan: HistoryPlan, _ position: HistoryPosition) throws(StoreError) {
    self.store = store
    self.plan = plan
    self.position = position
    giveBack(try take())
  }

  deinit { store.pool.forgetPast(ObjectIdentifier(self)) }

  var name: String { store.name }

  private func take() throws(StoreError) -> SQLiteConnection {
    let connection = try store.pool.takePast(ObjectIdentifier(self)) { () throws(StoreError) in
      try store.setup.connect(asOf: position.number, plan)
    }
    connection.trace = trace
    return connection
  }

  private func giveBack(_ connection: SQLiteConnection) {
    store.pool.giveBackPast(connection, ObjectIdentifier(self))
  }

  /// Each read checks that the former rows were not deleted.
  func reading<Result>(_ body: (any StoreConnection) throws -> Result) throws -> Result {
    if let lent { return try body(lent) }
    let connection = try take()
    lent = connection
    defer {
      lent = nil
      giveBack(connection)
    }
    try store.setup.watch.look(through: connection)
    return try connection.reading {
      try connection.checkShown(position)
      return try body(connection)
    }
  }
}

extension SQLiteConnection {
  /// Checks that the former rows as of a position are there.
  ///
  /// - Throws: ``StoreError``: `historyExpired`, `otherHistory`.
  func checkShown(_ position: HistoryPosition) throws {
    // Later writes of other programs that count as the same transaction hide the moment between them.
    guard try firstNumber(after: position) != position.number else { throw HistoryError.hidden(setup.path) }
    if try Metadata.firstValues(in: database) > position.number { throw HistoryError.expired(setup.path) }
  }
}
