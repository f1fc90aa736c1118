import Dispatch
import Foundation
import Synchronization
import TrellisModel
package import TrellisStorage

/// The state that all connections of a store share.
final class PostgresSetup: Sendable {
  let address: ServerAddress
  let options: PostgresOptions
  let layout: TableLayout
  let schema: PostgresSchema
  /// The types of the columns of each entity.
  let types: [[ServerType]]
  /// The unique keys and references whose constraint has a name.
  let constraints: [String: PlannedIndex]
  /// What the foreign keys of tables belong to, by their names: the entity and the property.
  let foreignKeys: [String: (entity: Int, property: Int)]
  /// Whether rows of an entity may refer to rows that are inserted after them.
  let mayReferForward: [Bool]

  init(_ address: ServerAddress, _ options: PostgresOptions, _ model: Model) {
    self.address = address
    self.options = options
    let names = SQLNames.postgres(schema: options.schema)
    let layout = TableLayout(model, names: names)
    let schema = PostgresSchema(model: model, names: names)
    self.layout = layout
    self.schema = schema
    types = model.entities.map { entity in entity.columns.map { ServerType(of: $0, in: entity) } }
    var constraints: [String: PlannedIndex] = [:]
    for index in IndexPlan(model).all where index.isUnique { constraints[names.fitted(index.name)] = index }
    self.constraints = constraints
    var foreignKeys: [String: (entity: Int, property: Int)] = [:]
    var mayReferForward = model.entities.map { _ in false }
    for root in model.entities where root.parent == nil {
      for column in schema.columns(of: root) {
        guard let target = column.target else { continue }
        let name = names.fitted(PostgresSchema.foreignKeyName(root, column))
        foreignKeys[name] = (column.entity, column.property)
        // Rows of one table are inserted by a statement for each of its entities.
        let isForward =
          target == root.index ? root.isInHierarchy : layout.insertRanks[target] >= layout.insertRanks[root.index]
        if isForward { for number in root.subtree { mayReferForward[number] = true } }
      }
    }
    for table in model.joinTables {
      for (part, end) in zip(schema.foreignKeys(table), [table.first, table.second ?? table.first]) {
        foreignKeys[part.name] = (end.entity, end.property)
      }
    }
    self.foreignKeys = foreignKeys
    self.mayReferForward = mayReferForward
  }

  var model: Model { layout.model }
  /// The name of the store in messages.
  var name: String { "\(address.name), schema \(options.schema)" }

  func connect() throws(StoreError) -> ServerConnection {
    try connect(preparesStatements: !options.usesTransactionPool)
  }

  func connect(preparesStatements: Bool) throws(StoreError) -> ServerConnection {
    let connection: ServerConnection
    var isolation = "read committed"
    do throws(ServerError) {
      connection = try ServerConnection(
        address.keywords(timeout: options.timeout), preparesStatements: preparesStatements)
      // A role may have another level by default. Then a statement that has waited for another program's transaction
      // would not see what this one has done.
      if options.usesTransactionPool {
        // What is set in a session stays with the pool's connection, which serves other programs next.
        isolation = try connection.run(ServerStatement("SHOW default_transaction_isolation")).text(0, 0) ?? isolation
      } else {
        try connection.run(
          ServerStatement("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"))
      }
    } catch {
      throw StoreError(
        .cannotOpen, "\(address.name) cannot be reached: \(error.message).",
        remedy: "Check the address, the role and its password, and that the server runs.")
    }
    guard isolation == "read committed" else {
      throw StoreError(
        .cannotOpen, "Transactions at \(address.name) have the isolation level \(isolation) by default.",
        remedy: "Set the role's default_transaction_isolation to 'read committed', or connect without a pool.")
    }
    guard connection.serverVersion >= 130_000 else {
      throw StoreError(
        .cannotOpen, "\(address.name) has version \(connection.serverVersion / 10_000) of PostgreSQL.",
        remedy: "Use version 13 or later.")
    }
    guard connection.setting("server_encoding") == "UTF8" else {
      throw StoreError(
        .cannotOpen,
        "The database at \(address.name) has the encoding \(connection.setting("server_encoding") ?? "?").",
        remedy: "Create a database with ENCODING 'UTF8'.")
    }
    return connection
  }
}

// MARK: - Postgres store

/// A schema of a PostgreSQL database, and the connections to it.
package final class PostgresStore: Store {
  package let name: String
  let setup: PostgresSetup
  let pool: ServerPool
  let generation: StoreGeneration
  /// The reason why the store may only be read. Nil if it may be written.
  let refusalOfWrites: StoreError?
  /// The history. Nil if the model has none.
  let history: ServerHistory?
  let watcher: ChangeWatcher
  /// The number of saves with a history.
  private let saves = Atomic(0)
  /// Distinguishes the saves of this object from those of other processes and containers.
  package let origin: Int64

  init(
    _ setup: PostgresSetup, _ pool: ServerPool, _ opened: PostgresOpening.Opened, _ history: ServerHistory?,
    origin: Int64, transaction: Int64
  ) {
    self.setup = setup
    self.pool = pool
    generation = opened.generation
    refusalOfWrites = opened.refusalOfWrites
    self.history = history
    self.origin = origin
    watcher = ChangeWatcher(setup, history, origin: origin, from: transaction)
    name = setup.name
  }

  package func connect() throws -> any StoreConnection { PostgresConnection(self) }

  package func close() {
    watcher.close()
    pool.close()
  }

  /// The number of saves after which old entries of the history are looked for.
  private static let purgeInterval = 64

  /// Tells others of a save, and deletes what the history keeps no longer, outside of the save.
  func didSave() {
    watcher.didSave()
    guard let history, history.limit != nil else { return }
    guard saves.add(1, ordering: .relaxed).newValue % Self.purgeInterval == 1 else { return }
    DispatchQueue.global(qos: .utility).async { [weak self] in
      guard let self else { return }
      // Entries that cannot be deleted now are deleted next time.
      try? HistoryPurge(self, history).deleteOld()
    }
  }

  package var concurrentWorkers: Int { setup.options.connections }

  /// Lends a connection to a closure.
  func withConnection<Result>(_ body: (ServerConnection) throws -> Result) throws -> Result {
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    return try body(connection)
  }

  /// Runs a read, again on a new connection if the server has closed an idle one.
  func reading<Result>(doing: String, _ body: (ServerConnection) throws -> Result) throws -> Result {
    var isFirst = true
    while true {
      do {
        return try withConnection(body)
      } catch let error as ServerError {
        if error.isShutdown, isFirst {
          isFirst = false
          pool.closeIdle()
          continue
        }
        throw error.storeError(name, doing: doing)
      }
    }
  }

  // MARK: Keys

  /// Few keys, because each machine that starts takes some, and JavaScript has integers up to 2⁵³.
  package var keyBlock: Int64 { 65_536 }

  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let count = max(0, count)
    return try reading(doing: "reserve keys") { connection in
      do {
        return try self.watcher.countingTransaction { try self.reserveKeys(count, connection) }
      } catch let error as ServerError where error.isRefusalOfWrites {
        // Nothing can be saved by this role, or to this server, so its keys need not be reserved.
        let next = try self.nextKey(connection, "SELECT \"next\" FROM \(self.setup.layout.names.keys)")
        return next..<(next + min(count, .max - next))
      }
    }
  }

  private func reserveKeys(_ count: Int64, _ connection: ServerConnection) throws -> Range<Int64> {
    var parameters = ServerParameters()
    parameters.add(count)
    let next = try nextKey(
      connection, "UPDATE \(setup.layout.names.keys) SET \"next\" = \"next\" + $1 RETURNING \"next\"", parameters)
    return (next - count)..<next
  }

  private func nextKey(
    _ connection: ServerConnection, _ text: String, _ parameters: ServerParameters = ServerParameters()
  ) throws -> Int64 {
    let result = try connection.run(ServerStatement(text, parameters))
    guard result.count == 1, result.integer(0, 0) > 0 else {
      throw StoreError(
        .damaged, "\(name) does not say which keys are free.", remedy: "Restore the database from a backup.")
    }
    return result.integer(0, 0)
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !unused.isEmpty else { return }
    var parameters = ServerParameters()
    parameters.add(unused.lowerBound)
    parameters.add(unused.upperBound)
    let statement = ServerStatement(
      "UPDATE \(setup.layout.names.keys) SET \"next\" = $1 WHERE \"next\" = $2", parameters)
    // If this fails, unused keys are lost, and nothing else.
    _ = try? withConnection { try $0.run(statement) }
  }
}
