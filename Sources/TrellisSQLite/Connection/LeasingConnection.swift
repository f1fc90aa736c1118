import TrellisSQL
package import TrellisSchema
package import TrellisStorage

/// A context's connection to the file. It borrows a connection from the store for each call, and keeps it while it is
/// pinned to a snapshot. A nested call uses the connection of the outer call.
package final class LeasingConnection: StoreConnection {
  private let store: SQLiteStore
  // Each access ends before anything else is called, so accesses cannot overlap and need no check.
  @exclusivity(unchecked) private var lent: SQLiteConnection?
  @exclusivity(unchecked) package var trace: StatementTrace?

  init(_ store: SQLiteStore) { self.store = store }

  deinit {
    if let lent { release(lent, wasPinned: true) }
  }

  /// Runs a closure with a connection that no other caller uses in the meantime.
  @inline(__always) package func leased<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    if let lent { return try body(lent) }
    let connection = try borrow()
    defer { release(connection, wasPinned: false) }
    do {
      return try body(connection)
    } catch {
      throw store.setup.watch.explanation(of: error, through: connection)
    }
  }

  private func borrow() throws(StoreError) -> SQLiteConnection {
    let connection = try store.take()
    if let trace { connection.trace = trace }
    lent = connection
    return connection
  }

  private func release(_ connection: SQLiteConnection, wasPinned: Bool) {
    if wasPinned { connection.unpin() }
    if trace != nil { connection.trace = nil }
    lent = nil
    store.giveBack(connection)
  }

  /// The work done by the connection that is lent next.
  package var statistics: StatementStatistics { (try? leased { $0.database.statistics }) ?? StatementStatistics() }

  // MARK: Pinning

  package func pin() throws {
    guard lent == nil else { return try leased { try $0.pin() } }
    let connection = try borrow()
    do {
      try connection.pin()
      // The snapshot is fixed now, and with it the model of its rows.
      try store.setup.watch.lookInSnapshot(through: connection)
    } catch {
      release(connection, wasPinned: true)
      throw error
    }
  }

  package func unpin() {
    if let lent { release(lent, wasPinned: true) }
  }

  /// Needs no connection: all connections and processes share the memory of the commit counter.
  package func hasExternalChanges() -> Bool { store.setup.ledger.look() }

  // MARK: Calls

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try leased { try $0.fetch(request, body) }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try leased { try $0.fetchKeys(request, body) }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try leased { try $0.fetchValues(request, of: paths, body) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try leased { try $0.plan(of: request) } }

  package func count(_ request: StoreRequest) throws -> Int { try leased { try $0.count(request) } }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try leased { try $0.rows(of: entity, keys: keys, body) }
  }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try leased { try $0.members(of: relationship, owners: owners, body) }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try leased { try $0.memberKeys(of: relationship, owners: owners, body) }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try leased { try $0.lastPlaces(of: relationship, owners: owners, body) }
  }

  @discardableResult package func save(_ request: SaveRequest) throws -> SaveOutcome {
    try leased { try $0.save(request) }
  }

  package func rehearse(_ request: SaveRequest) throws { try leased { try $0.rehearse(request) } }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try leased { try $0.updateAll(update, in: model) }
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try leased { try $0.deleteAll(delete, in: model) }
  }

  package func check(_ body: (StoreFinding) throws -> Void) throws { try leased { try $0.check(body) } }
}
