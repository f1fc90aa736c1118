import Foundation
import TrellisModel
import TrellisStorage

/// What a store says of itself, in the table `_trellis`, and of the models that it had, in the table `_models`.
struct StoreMetadata: StoredModels {
  enum Key: String, CaseIterable {
    case format, model, storage, modelJSON, checksum, compatible, readOnlyCompatible, incompatible
    /// The models whose programs can use the store, so that an open program notices a migration: ``OpenModels``.
    case migrations
    /// The defaults that columns have got: ``ColumnDefaults``.
    case defaults
  }

  let storeName: String
  let openModels: OpenModels
  let features: StoreFeatures
  private let values: [String: String]
  private let connection: ServerConnection
  private let names: SQLNames

  /// The version of the tables' format that this version of Trellis makes and understands.
  static let format = "1"

  /// - Throws: ``ServerError``; ``StoreError`` if this version of Trellis cannot read the store.
  init(_ connection: ServerConnection, _ setup: PostgresSetup) throws {
    let (name, names) = (setup.name, setup.layout.names)
    self.connection = connection
    self.names = names
    storeName = name
    let result = try connection.run(ServerStatement("SELECT \"key\", \"value\" FROM \(names.metadata)"))
    var values: [String: String] = [:]
    for row in 0..<result.count { if let key = result.text(row, 0) { values[key] = result.text(row, 1) } }
    self.values = values
    guard let openModels = values[Key.migrations.rawValue].flatMap(OpenModels.init) else {
      throw Self.damaged(name, "it does not say how often it was migrated")
    }
    self.openModels = openModels
    func words(_ key: Key) throws(StoreError) -> Set<String> {
      let words = (values[key.rawValue] ?? "").split(separator: " ", maxSplits: 1_000).map(String.init)
      guard StoreFeatures.areWords(words) else { throw Self.damaged(name, "its list of features is no list of words") }
      return Set(words)
    }
    features = StoreFeatures(
      compatible: try words(.compatible), readOnlyCompatible: try words(.readOnlyCompatible),
      incompatible: try words(.incompatible))
  }

  /// Whether a schema has a store.
  static func isPresent(_ connection: ServerConnection, _ setup: PostgresSetup) throws -> Bool {
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    // A session remembers names that it did not find, and may not hear of a store that was made while its transaction waited.
    let statement = ServerStatement(
      "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relname = '_trellis')", parameters)
    return try connection.run(statement).integer(0, 0) == 1
  }

  /// Runs a closure that reads the whole store as it is at one moment. No migration that others cannot live with comes
  /// between its reads, which would change tables under their snapshot.
  ///
  /// - Returns: nil if the schema has no store.
  static func atOneMoment<Result>(
    _ connection: ServerConnection, _ setup: PostgresSetup, _ body: () throws -> Result
  ) throws -> Result? {
    guard try isPresent(connection, setup) else { return nil }
    connection.patience = setup.options.migrationPatience
    return try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") { connection in
      try connection.limitLocks()
      try connection.runAll([
        "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
        // It takes no snapshot, so that the first read sees what was committed while it waited.
        "LOCK TABLE \(setup.layout.names.metadata) IN ACCESS SHARE MODE",
      ])
      return try body()
    }
  }

  // MARK: Models

  func checksum() throws(StoreError) -> String {
    guard let format = values[Key.format.rawValue] else { throw damaged("it does not say which format it has") }
    guard format == Self.format else {
      throw StoreError(
        .newerFormat, "\(storeName) has the format \(format), which a newer version of Trellis has made.",
        remedy: "Update Trellis in this program.")
    }
    if let refusal = features.refusal(of: storeName) { throw refusal }
    return try value(.checksum)
  }

  func nameAndSignature() throws(StoreError) -> (name: String, signature: String) {
    (try value(.model), try value(.storage))
  }

  func text() throws(StoreError) -> String { try value(.modelJSON) }

  /// Whether a model is that of the store, and not a former one or one that waits.
  static func isModel(_ model: Model, _ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError)
    -> Bool
  {
    let result = try connection.run(ServerStatement("SELECT \(setup.layout.names.metadata(.checksum))"))
    return TextBytes.areEqual(result.text(0, 0) ?? "", model.checksum)
  }

  /// Refuses a table of a role that is not a member of the owner's role. Its triggers would run with the rights of this
  /// program's role.
  ///
  /// - Throws: ``StoreError`` with the code `foreignFile`.
  static func refuseForeignTable(_ table: String, _ connection: ServerConnection, _ setup: PostgresSetup) throws {
    var parameters = ServerParameters()
    parameters.add(setup.layout.names.table(table))
    parameters.add(setup.layout.names.metadata)
    let result = try connection.run(
      ServerStatement(
        "SELECT 1 FROM pg_class AS h JOIN pg_class AS m ON m.oid = to_regclass($2) WHERE h.oid = to_regclass($1) "
          + "AND NOT pg_has_role(h.relowner, m.relowner, 'MEMBER')", parameters))
    guard result.count == 0 else {
      throw StoreError(
        .foreignFile, "\(setup.name) has a table \(table) that does not belong to the owner of the store.",
        remedy: "Drop it, and revoke CREATE on the schema from roles that do not own the store.")
    }
  }

  func hasHad(_ checksum: String) throws(StoreError) -> Bool {
    var parameters = ServerParameters()
    parameters.add(checksum)
    let statement = ServerStatement("SELECT 1 FROM \(names.models) WHERE \"checksum\" = $1", parameters)
    return try read(statement).count > 0
  }

  func checksums() throws(StoreError) -> [String] {
    let result = try read(ServerStatement("SELECT \"checksum\" FROM \(names.models) ORDER BY \"number\""))
    return (0..<result.count).compactMap { result.text($0, 0) }
  }

  func isOpen(toFormer model: Model) -> Bool { entry(of: model)?.isWaiting == false }

  func isWaiting(_ model: Model) -> Bool { entry(of: model)?.isWaiting == true }

  private func entry(of model: Model) -> OpenModels.Entry? {
    // Most stores are open to their own model only, and what a model stores is long.
    openModels.entries.isEmpty ? nil : openModels.entries[model.storageChecksum]
  }

  func newestVersion() throws(StoreError) -> String? {
    let result = try read(ServerStatement("SELECT \"version\" FROM \(names.models) ORDER BY \"number\" DESC LIMIT 1"))
    return result.count == 0 ? nil : result.text(0, 0)
  }

  private func read(_ statement: ServerStatement) throws(StoreError) -> ServerResult {
    do throws(ServerError) { return try connection.run(statement) } catch {
      throw error.storeError(storeName, doing: "read which models it had")
    }
  }

  private func value(_ key: Key) throws(StoreError) -> String {
    guard let value = values[key.rawValue] else { throw damaged("it does not say what it holds") }
    return value
  }

  private func damaged(_ reason: String) -> StoreError { Self.damaged(storeName, reason) }

  static func damaged(_ store: String, _ reason: String) -> StoreError {
    StoreError(.damaged, "\(store) is damaged: \(reason).", remedy: "Restore the database from a backup.")
  }
}

extension SQLNames {
  /// A query for what the store says of itself, as an expression.
  func metadata(_ key: StoreMetadata.Key) -> String {
    "(SELECT \"value\" FROM \(metadata) WHERE \"key\" = '\(key.rawValue)')"
  }
}

// MARK: - Metadata writing

/// Statements that write what a store says of itself.
struct MetadataStatements {
  private let names: SQLNames

  init(_ names: SQLNames) { self.names = names }

  func set(_ key: StoreMetadata.Key, _ value: String) -> ServerStatement {
    var parameters = ServerParameters()
    parameters.add(key.rawValue)
    parameters.add(value)
    return ServerStatement(
      "INSERT INTO \(names.metadata) VALUES ($1, $2) ON CONFLICT (\"key\") DO UPDATE SET \"value\" = $2", parameters)
  }

  /// Makes a model the store's, and the newest of those that it had.
  ///
  /// - Parameter steps: the steps that the store does not need any more. Their versions come before the model.
  func model(_ model: Model, passing steps: [CodedStep]) -> [ServerStatement] {
    let text = model.description.canonicalJSON()
    return [
      set(.model, model.name), set(.storage, model.storageSignature), set(.modelJSON, text),
      set(.checksum, model.checksum),
    ] + steps.map { add($0.checksum, version: nil, $0.text, since: "NULL") } + [
      add(model.checksum, version: model.description.version, text, since: "now()")
    ]
  }

  /// Notes a model that waits to become the store's.
  func waiting(_ model: Model) -> ServerStatement {
    add(model.checksum, version: model.description.version, model.description.canonicalJSON(), since: "now()")
  }

  /// Adds a model, unless the store has had it before.
  private func add(_ checksum: String, version: String?, _ text: String, since: String) -> ServerStatement {
    var parameters = ServerParameters()
    parameters.add(checksum)
    if let version { parameters.add(version) } else { parameters.addNull(as: .text) }
    parameters.add(text)
    return ServerStatement(
      "INSERT INTO \(names.models) (\"checksum\", \"version\", \"since\", \"json\") VALUES ($1, $2, \(since), $3) "
        + "ON CONFLICT (\"checksum\") DO NOTHING", parameters)
  }
}
