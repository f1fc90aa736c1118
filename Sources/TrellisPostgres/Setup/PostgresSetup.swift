import Foundation
import TrellisModel
import TrellisStorage

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
  /// The names of the primary keys.
  let primaryKeys: Set<String>
  /// The names of the checks.
  let checks: Set<String>
  /// The indexes that are no constraints.
  let indexes: [PostgresSchema.Part]
  /// What the foreign keys of tables belong to, by their names: the entity and the property.
  let foreignKeys: [String: (entity: Int, property: Int)]
  /// Identifies what the model stores.
  let storageChecksum: String
  /// Whether rows of an entity may refer to rows that are inserted after them.
  let mayReferForward: [Bool]
  /// Which of several servers is the right one.
  let choice: ServerChoice

  init(_ address: ServerAddress, _ options: PostgresOptions, _ model: Model) {
    self.address = address
    choice = ServerChoice(count: address.serverCount)
    self.options = options
    let names = SQLNames.postgres(schema: options.schema)
    let layout = TableLayout(model, names: names, dialect: .postgres)
    let schema = PostgresSchema(model: model, names: names)
    self.layout = layout
    self.schema = schema
    types = model.entities.map { entity in entity.columns.map { ServerType(of: $0, in: entity) } }
    var constraints: [String: PlannedIndex] = [:]
    for index in IndexPlan(model).all where index.isUnique { constraints[names.fitted(index.name)] = index }
    self.constraints = constraints
    let parts = Dictionary(grouping: schema.parts, by: \.kind)
    func namesOfParts(_ kind: PostgresSchema.Part.Kind) -> Set<String> { Set((parts[kind] ?? []).map(\.name)) }
    primaryKeys = namesOfParts(.primaryKey)
    checks = namesOfParts(.check)
    indexes = parts[.index] ?? []
    var foreignKeys: [String: (entity: Int, property: Int)] = [:]
    var mayReferForward = model.entities.map { _ in false }
    for root in model.entities where root.parent == nil {
      for column in schema.columns(of: root) {
        guard let target = column.target else { continue }
        let name = names.fitted(PostgresSchema.foreignKeyName(root.name, column))
        foreignKeys[name] = (column.entity, column.property)
        // Rows of one table are inserted by a statement for each of its entities.
        let isForward =
          target == root.index ? root.isInHierarchy : layout.insertRanks[target] >= layout.insertRanks[root.index]
        if isForward { for number in root.subtree { mayReferForward[number] = true } }
      }
    }
    for table in model.joinTables {
      for (part, end) in zip(schema.foreignKeys(model.table(of: table)), [table.first, table.second ?? table.first]) {
        foreignKeys[part.name] = (end.entity, end.property)
      }
    }
    self.foreignKeys = foreignKeys
    storageChecksum = model.storageChecksum
    self.mayReferForward = mayReferForward
  }

  /// A setup whose statements read other rows than those of the tables.
  ///
  /// - Parameter rows: what is read in the place of each table.
  func showing(_ rows: [String: String]) -> PostgresSetup {
    PostgresSetup(
      self, TableLayout(model, isPast: true, names: layout.names.showing(rows), dialect: .postgres))
  }

  private init(_ setup: PostgresSetup, _ layout: TableLayout) {
    address = setup.address
    options = setup.options
    self.layout = layout
    schema = setup.schema
    types = setup.types
    constraints = setup.constraints
    primaryKeys = setup.primaryKeys
    checks = setup.checks
    foreignKeys = setup.foreignKeys
    storageChecksum = setup.storageChecksum
    mayReferForward = setup.mayReferForward
    indexes = setup.indexes
    choice = setup.choice
  }

  var model: Model { layout.model }

  /// Whether a column of the server belongs to the table of an entity, or of its descendants.
  func hasColumn(_ name: String, _ entity: Int) -> Bool {
    let root = model.entities[model.entities[entity].root]
    return schema.columns(of: root).contains { layout.names.plain($0.name) == name }
  }

  /// The name of the store in messages.
  var name: String { "\(address.name), schema \(options.schema)" }

  /// A connection for statements that change tables, so that none is prepared for what they were before.
  func connectForChanges() throws(StoreError) -> ServerConnection {
    let connection = try connect(preparesStatements: false)
    connection.willSend = options.willPrepare.map { call in { call($0.processID, $1) } }
    return connection
  }

  /// - Parameter limit: the number of seconds that the server may take, if it is less than the store's timeout.
  func connect(within limit: TimeInterval = .infinity) throws(StoreError) -> ServerConnection {
    try connect(preparesStatements: !options.usesTransactionPool, within: limit)
  }

  /// - Throws: ``StoreError`` with the code `cannotOpen` as well if only servers can be reached that are left behind.
  func connect(preparesStatements: Bool, within limit: TimeInterval = .infinity) throws(StoreError) -> ServerConnection
  {
    for _ in 0..<address.serverCount {
      let connection = try connectToAny(preparesStatements: preparesStatements, within: limit)
      if isCurrent(connection) { return connection }
    }
    throw StoreError(
      .cannotOpen,
      "The server that can be reached at \(address.name) is a former primary: another one has taken its place, and has been used here.",
      remedy: "Make the former primary a replica of the other one, and let that be reached.")
  }

  /// Whether a server is the one that was used last, or has taken its place. Prefers it from now on.
  private func isCurrent(_ connection: ServerConnection) -> Bool {
    let server = connection.server
    let number = address.number(host: server.host, port: server.port)
    // What is asked of a pool, another server may answer next.
    if !options.usesTransactionPool, let answer = try? connection.run(ServerChoice.question), answer.count == 1,
      !answer.isNull(0, 0)
    {
      switch choice.note(timeline: answer.integer(0, 0)) {
      case .former:
        if let number { choice.leave(number) }
        return false
      case .new: connection.isFirstOfTimeline = true
      case .known: break
      }
    }
    guard let number, address.serverCount > 1 else { return true }
    choice.prefer(number)
    connection.didFindSilence = { [choice] in choice.leave(number) }
    return true
  }

  private func connectToAny(preparesStatements: Bool, within limit: TimeInterval) throws(StoreError) -> ServerConnection
  {
    let timeout = min(options.timeout, limit)
    let connection: ServerConnection
    var isolation = "read committed"
    do throws(ServerError) {
      connection = try ServerConnection(
        address.keywords(timeout: timeout, first: choice.first), preparesStatements: preparesStatements,
        pinsTransactions: options.usesTransactionPool, patience: max(timeout, 0.1))
      // A role may have another level by default. Then a statement that has waited for another program's transaction
      // would not see what this one has done.
      if options.usesTransactionPool {
        // What is set in a session stays with the pool's connection, which serves other programs next.
        isolation = try connection.run(ServerStatement("SHOW default_transaction_isolation")).text(0, 0) ?? isolation
      } else {
        try connection.runAll([
          .pinSession,
          ServerStatement(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED\(options.isReadOnly ? ", READ ONLY" : "")"
          ),
          OpenPrograms(self).registration,
          // A commit that did not wait for its replicas is a warning.
          ServerStatement("SET client_min_messages = warning"),
        ])
      }
      connection.patience = options.statementPatience
    } catch {
      if error.isOfBusyPool { throw error.storeError(name, doing: "connect") }
      if error.isOfFullServer {
        throw StoreError(
          .busy, "\(address.name) has no room for another connection: \(error.message).",
          remedy: "Open stores with fewer connections, or raise the server's max_connections.")
      }
      if error.isSilence || error.state == ServerError.cancelled.state {
        throw error.storeError(address.name, doing: "connect")
      }
      throw StoreError(
        .cannotOpen, "There is no connection to \(address.name): \(error.message).",
        remedy:
          "Try again if a server is about to take over; otherwise check the address, the role and its password, and that the server runs."
      )
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
