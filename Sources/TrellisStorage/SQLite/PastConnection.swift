internal import CSQLite
package import TrellisModel

/// A context's connection to a store as it was after a transaction.
///
/// It has a SQLite connection of its own, with views under the names of the tables. So each statement reads the former
/// rows, while others change the present ones. Each call checks that the former rows were not deleted.
package final class PastConnection: StoreConnection {
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  private let position: HistoryPosition

  init(_ store: SQLiteStore, _ connection: SQLiteConnection, _ position: HistoryPosition) {
    self.store = store
    self.connection = connection
    self.position = position
  }

  package var trace: StatementTrace? {
    get { connection.trace }
    set { connection.trace = newValue }
  }

  /// Runs a closure that reads one moment, at which the former rows are there.
  private func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    guard trellis_sqlite3_get_autocommit(connection.database.handle) != 0 else { return try body(connection) }
    try store.setup.watch.look(through: connection)
    do {
      return try connection.reading {
        try connection.checkShown(position)
        return try body(connection)
      }
    } catch let error as StoreError {
      throw named(error)
    }
  }

  /// The view of a table without former rows names itself in the error of a statement.
  private func named(_ error: StoreError) -> StoreError {
    guard let start = error.message.range(of: HistoryPlan.missingPrefix) else { return error }
    let name = error.message[start.upperBound...].prefix { $0 != "." && $0 != " " && $0 != ";" }
    return HistoryError.noValues(String(name), store.name)
  }

  // MARK: Reading

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try reading { try $0.fetch(request, body) }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try reading { try $0.fetchKeys(request, body) }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try reading { try $0.fetchValues(request, of: paths, body) }
  }

  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try reading { try $0.fetchGroups(request, body) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try reading { try $0.plan(of: request) } }

  package func count(_ request: StoreRequest) throws -> Int { try reading { try $0.count(request) } }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try reading { try $0.rows(of: entity, keys: keys, body) }
  }

  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    try reading { try $0.holders(of: key, values: values, in: model, body) }
  }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try reading { try $0.members(of: relationship, owners: owners, body) }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.memberKeys(of: relationship, owners: owners, body) }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.lastPlaces(of: relationship, owners: owners, body) }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.memberPlaces(of: relationship, owner: owner, members: members, body) }
  }

  /// The moment is always the same.
  package func pin() throws {}
  package func unpin() {}

  // MARK: Writing

  package func save(_ request: SaveRequest) throws -> SaveOutcome { throw HistoryError.past(store.name) }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    throw HistoryError.past(store.name)
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    throw HistoryError.past(store.name)
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
