package import TrellisModel
package import TrellisStorage

// MARK: - Reading

extension PostgresConnection: TransferSource {
  package func pairs(of table: Int, _ body: (SaveRequest.Pairs.Pair) throws -> Void) throws {
    guard setup.model.joinTables.indices.contains(table) else { throw RequestFault.unknown }
    let text = "\(setup.schema.pairs(of: setup.model.joinTables[table])) ORDER BY 1, 2"
    try stream(ServerStatement(text), doing: "read pairs") { try body(SaveRequest.Pairs.Pair($0, $1)) }
  }

  package func lineage() throws -> StoreLineage {
    let names = layout.names
    var nextKey: Int64 = 1
    try readAll(ServerStatement("SELECT \"next\" FROM \(names.keys)")) { nextKey = $0.integer($1, 0) }
    var models: [(model: StoreLineage.FormerModel, since: Int64?)] = []
    let text =
      "SELECT \"checksum\", \"version\", (extract(epoch FROM \"since\") * 1000000)::bigint, \"json\" FROM \(names.models) "
      + "ORDER BY \"number\""
    try readAll(ServerStatement(text)) { result, row in
      let model = StoreLineage.FormerModel(
        checksum: result.text(row, 0) ?? "", version: result.text(row, 1), replaced: nil,
        json: result.text(row, 3) ?? "")
      models.append((model, result.isNull(row, 2) ? nil : result.integer(row, 2)))
    }
    for place in models.indices.dropLast() { models[place].model.replaced = models[place + 1].since }
    let former = models.map(\.model).filter { !TextBytes.areEqual($0.checksum, setup.model.checksum) }
    return StoreLineage(nextKey: nextKey, former: former)
  }
}

extension PostgresStore {
  /// Reads the model that a store has. Nothing is written to the server.
  ///
  /// - Throws: ``StoreError`` if there is no store, or if this version of Trellis cannot read it.
  package static func storedModel(_ connectionString: String, schema: String) throws -> Model {
    try connected(connectionString, schema, doing: "read the model") { connection, setup in
      guard try StoreMetadata.isPresent(connection, setup) else {
        throw StoreError(
          .cannotOpen, "There is no store in \(setup.name).", remedy: "Check the schema, and the rights of the role.")
      }
      let metadata = try StoreMetadata(connection, setup)
      _ = try metadata.checksum()
      return try metadata.model()
    }
  }

  /// What a database has of the name of a schema.
  package enum SchemaState: Sendable { case none, withoutStore, withStore }

  /// - Throws: ``StoreError``.
  package static func state(_ connectionString: String, schema: String) throws -> SchemaState {
    try connected(connectionString, schema, doing: "look for a schema") { connection, setup in
      var parameters = ServerParameters()
      parameters.add(schema)
      let text = "SELECT 1 FROM pg_namespace WHERE nspname = $1"
      if try connection.run(ServerStatement(text, parameters)).count == 0 { return .none }
      return try StoreMetadata.isPresent(connection, setup) ? .withStore : .withoutStore
    }
  }

  /// Creates a schema.
  ///
  /// - Returns: whether it was created; false if there is one of the name.
  /// - Throws: ``StoreError``.
  package static func createSchema(_ connectionString: String, schema: String) throws -> Bool {
    try connected(connectionString, schema, doing: "create a schema") { connection, _ in
      do throws(ServerError) {
        try connection.runAll(["CREATE SCHEMA \(SQLName.quoted(schema))"])
        return true
      } catch {
        if error.state == "42P06" || error.state == "23505" { return false }
        throw error
      }
    }
  }

  /// Drops a schema with everything in it.
  ///
  /// - Throws: ``StoreError``.
  package static func dropSchema(_ connectionString: String, schema: String) throws {
    try connected(connectionString, schema, doing: "drop a schema") { connection, _ in
      try connection.runAll(["SET statement_timeout = 0", "DROP SCHEMA IF EXISTS \(SQLName.quoted(schema)) CASCADE"])
    }
  }

  private static func connected<Result>(
    _ connectionString: String, _ schema: String, doing: String,
    _ body: (ServerConnection, PostgresSetup) throws -> Result
  ) throws -> Result {
    // What is read does not depend on a model.
    let none = try Model(ModelDescription(name: "", entities: []))
    let options = PostgresOptions(connectionString: connectionString, schema: schema, connections: 1)
    try options.checkSchema()
    let setup = PostgresSetup(try ServerAddress(connectionString), options, none)
    let connection = try setup.connect()
    do { return try body(connection, setup) } catch let error as ServerError {
      throw error.storeError(setup.name, doing: doing)
    }
  }

  /// The tables of the schema with the bytes of their rows and indexes, the largest first.
  ///
  /// - Throws: ``StoreError``.
  package func sizes() throws -> [(name: String, bytes: Int64)] {
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    let text =
      "SELECT c.relname::text, CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END FROM "
      + "pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'i') "
      + "ORDER BY 2 DESC, 1"
    var sizes: [(name: String, bytes: Int64)] = []
    try PostgresConnection(self).readAll(ServerStatement(text, parameters), doing: "measure the store") { result, row in
      sizes.append((result.text(row, 0) ?? "", result.integer(row, 1)))
    }
    return sizes
  }
}

// MARK: - Loading

extension PostgresStore {
  /// Fills an empty store with rows as they are, in one transaction.
  ///
  /// Rules of the model beyond unique keys, required values and references are not checked: a check of the whole store
  /// finds what breaks them.
  ///
  /// - Parameters:
  ///   - lineage: what the store notes besides the rows. A next key that is not above the key of each row is raised.
  ///   - body: adds the rows and pairs.
  /// - Throws: ``StoreError``, or errors of `body`. Then the store stays empty.
  package func load(_ lineage: StoreLineage, _ body: (any BulkWriter) throws -> Void) throws {
    do {
      let connection = try setup.connect(preparesStatements: false)
      connection.patience = setup.options.migrationPatience
      try connection.transaction("BEGIN ISOLATION LEVEL READ COMMITTED") { connection in
        try generation.check(try connection.run(generation.statement))
        try connection.runAll(["SET LOCAL statement_timeout = 0", "SET CONSTRAINTS ALL DEFERRED"])
        try refuseRows(connection)
        let writer = ServerBulkWriter(connection, setup)
        try body(writer)
        try writer.finish()
        try connection.runAll([.init("SET CONSTRAINTS ALL IMMEDIATE")] + noting(lineage, writer.highestKey))
        try ServerHistoryOpening(connection, setup, origin: origin).noteMigration()
      }
      didWrite()
    } catch let error as ServerError {
      throw WriteRefusal(setup).error(error, nil)
    }
  }

  private func refuseRows(_ connection: ServerConnection) throws {
    for root in setup.model.entities where root.parent == nil {
      let table = setup.layout.names.table(root.name)
      guard try connection.run(ServerStatement("SELECT 1 FROM \(table) LIMIT 1")).count == 0 else {
        throw StoreError(
          .unsupported, "\(name) has objects already, and rows are loaded into an empty store only.",
          remedy: "Load them into a new schema.")
      }
    }
  }

  /// The statements that write what a store notes besides its rows.
  private func noting(_ lineage: StoreLineage, _ highestKey: Int64) -> [ServerStatement] {
    let names = setup.layout.names
    var next = ServerParameters()
    next.add(max(lineage.nextKey, highestKey &+ 1))
    var statements = [ServerStatement("UPDATE \(names.keys) SET \"next\" = greatest(\"next\", $1)", next)]
    var since: Int64?
    for (place, former) in lineage.former.enumerated() {
      var parameters = ServerParameters()
      // Before the model that the store has.
      parameters.add(Int64(place - lineage.former.count))
      parameters.add(former.checksum)
      if let version = former.version { parameters.add(version) } else { parameters.addNull(as: .text) }
      if let since { parameters.add(since) } else { parameters.addNull(as: .bigint) }
      parameters.add(former.json)
      statements.append(
        ServerStatement(
          "INSERT INTO \(names.models) (\"number\", \"checksum\", \"version\", \"since\", \"json\") OVERRIDING SYSTEM VALUE "
            + "VALUES ($1, $2, $3, 'epoch'::timestamptz + $4 * interval '1 microsecond', $5) ON CONFLICT DO NOTHING",
          parameters))
      since = former.replaced
    }
    if let since {
      var parameters = ServerParameters()
      parameters.add(since)
      parameters.add(setup.model.checksum)
      statements.append(
        ServerStatement(
          "UPDATE \(names.models) SET \"since\" = 'epoch'::timestamptz + $1 * interval '1 microsecond' WHERE \"checksum\" = $2",
          parameters))
    }
    return statements
  }
}

/// Inserts rows and pairs as they are, many at a time.
private final class ServerBulkWriter: BulkWriter {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private(set) var highestKey: Int64 = 0
  /// The rows of each entity, and the pairs of each join table, that are not sent yet.
  private var rows: [Int: ServerRowWriter] = [:]
  private var pairs: [Int: ServerRowWriter] = [:]

  /// From this number of bytes or rows on, the rows of an entity are sent.
  private static let mostBytes = 8_000_000
  private static let mostRows = 10_000

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
  }

  func add(_ row: RowReader) throws {
    guard setup.model.entities.indices.contains(row.entity) else { throw RequestFault.unknown }
    let entity = setup.model.entities[row.entity]
    guard row.key > 0, row.key < .max, row.version > 0 else {
      throw StoreError(
        .unstorableValue, "\(entity.name)#\(row.key) has no key or version that a row can have.",
        remedy: "Give it a key and a version above 0.")
    }
    let columns: [(type: ServerType, isOptional: Bool)] =
      [(.bigint, false), (.bigint, false)]
      + zip(setup.types[row.entity], entity.columns).map { (type: $0, isOptional: $1.isOptional) }
    let writer = rows[row.entity] ?? ServerRowWriter(columns)
    rows[row.entity] = writer
    row.problem = nil
    _ = writer.add { writer in
      writer.integer(row.key)
      writer.integer(row.version)
      row.write(entity, to: writer)
    }
    if let error = row.unreadableValue(in: setup.model, of: "The source") { throw error }
    if let problem = writer.problem { throw unstorable(row.key, entity, problem - 2) }
    highestKey = max(highestKey, row.key)
    if isFull(writer) { try sendRows(of: row.entity) }
  }

  private func unstorable(_ key: Int64, _ entity: Entity, _ column: Int) -> StoreError {
    let property =
      entity.columns.indices.contains(column) ? entity.properties[entity.columns[column].property].name : ""
    return StoreError(
      .unstorableValue, "\(entity.name)#\(key).\(property) has no value, or one that PostgreSQL does not keep.",
      remedy: "Change the value in the source.", entity: entity.name, properties: [property])
  }

  func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) throws {
    guard setup.model.joinTables.indices.contains(table) else { throw RequestFault.unknown }
    let join = setup.model.joinTables[table]
    let places = [(join.first.orderColumn, pair.place), (join.second?.orderColumn, pair.inversePlace)]
      .filter { $0.0 != nil }
    let columns = [(type: ServerType.bigint, isOptional: false), (type: .bigint, isOptional: false)]
    let writer =
      pairs[table] ?? ServerRowWriter(columns + places.map { _ in (type: ServerType.bigint, isOptional: true) })
    pairs[table] = writer
    _ = writer.add { writer in
      writer.integer(pair.first)
      writer.integer(pair.partner)
      for (_, place) in places { place.map(writer.integer) ?? writer.null() }
    }
    if isFull(writer) { try sendPairs(of: table) }
  }

  private func isFull(_ writer: ServerRowWriter) -> Bool {
    writer.count >= Self.mostRows || writer.count % 256 == 0 && writer.byteCount >= Self.mostBytes
  }

  func finish() throws {
    for entity in rows.keys.sorted() { try sendRows(of: entity) }
    for table in pairs.keys.sorted() { try sendPairs(of: table) }
  }

  private func sendRows(of number: Int) throws {
    guard let writer = rows.removeValue(forKey: number) else { return }
    let table = setup.layout.tables[number]
    let list = [SQLName.id, SQLName.version] + table.columns
    let entity = SQLName.literal(setup.model.entities[number].name)
    try send(writer, to: table.name, list, fixed: table.isInHierarchy ? (SQLName.entity, entity) : nil)
  }

  private func sendPairs(of number: Int) throws {
    guard let writer = pairs.removeValue(forKey: number) else { return }
    let table = setup.model.joinTables[number]
    let names = setup.layout.names
    let places = [table.first.orderColumn, table.second?.orderColumn].compactMap { $0.map(names.column) }
    try send(writer, to: names.table(table.name), [table.first.column, table.partnerColumn].map(names.column) + places)
  }

  private func send(
    _ writer: ServerRowWriter, to table: String, _ columns: [String], fixed: (column: String, value: String)? = nil
  ) throws {
    if writer.count == 0 { return }
    var parameters = ServerParameters()
    let lists = writer.arrays.map { "\(parameters.add($0))::\($0.type.name)[]" }.joined(separator: ", ")
    let names = (columns + [fixed?.column].compactMap(\.self)).joined(separator: ", ")
    let values = fixed.map { ", \($0.value)" } ?? ""
    try connection.run(
      ServerStatement("INSERT INTO \(table) (\(names)) SELECT v.*\(values) FROM unnest(\(lists)) AS v", parameters))
  }
}
