import Foundation
import TrellisModel
import TrellisStorage

/// Opens or creates the store of a model in a schema. A store that does not fit is not changed.
struct PostgresOpening {
  let model: Model
  let options: PostgresOptions

  init(_ model: Model, _ options: PostgresOptions) {
    self.model = model
    self.options = options
  }

  /// What an opening has found.
  struct Opened {
    let generation: StoreGeneration
    /// The reason why the store may only be read. Nil if it may be written.
    var refusalOfWrites: StoreError?
    /// Whether the store can be used as it is, and should get this model: it has the text of another one that stores
    /// everything alike, or this one waits for former programs to end.
    var shouldGetModel = false
  }

  func open(_ observer: MigrationObserver?) throws -> PostgresStore {
    let setup = try makeSetup()
    if let obstacle = setup.schema.obstacle {
      throw StoreError(
        .limit, "PostgreSQL cannot keep this model: \(obstacle).", remedy: "Choose another name in the model.")
    }
    let keys = ServerKeys(setup)
    let pool = ServerPool(name: setup.name, most: options.connections, timeout: options.timeout) {
      limit throws(StoreError) in
      let connection = try setup.connect(within: limit)
      keys.renew(on: connection)
      return connection
    }
    let waiting = LockWait(of: setup.name, observer)
    do {
      let opened = try inStoreErrors(setup) {
        let found = try waiting.run { try present(setup, pool) }
        if let found, !found.shouldGetModel { return found }
        do {
          return try StorePreparation(setup, observer).run(waiting)
        } catch let error as ServerError {
          // A role that may not change tables, or a server that is only read, leaves the text to others.
          if let found, error.isRefusalOfWrites { return found }
          throw try refusal(of: error, setup, pool) ?? error
        }
      }
      let origin = Int64.random(in: 1 ... .max)
      return try inStoreErrors(setup) {
        let connection = try pool.take()
        defer { pool.giveBack(connection) }
        let history = try waiting.run { try ServerHistoryOpening(connection, setup, origin: origin).open() }
        let functions = try waiting.run { try FunctionOpening(connection, setup).open() }
        let searches = try waiting.run {
          SearchIndexes(setup, functions, try Trigrams.find(connection, for: model))
        }
        do {
          try waiting.run { try IndexOpening(connection, setup, searches, observer).open() }
        } catch let error as StoreError where error.code == .busy {
          // Requests work without an index.
        }
        observer?.end()
        let features = try waiting.run { try FeatureOpening(connection, setup, functions, searches).open() }
        try ColumnDefaults(connection, setup).open()
        // A role that only reads leaves them to others.
        if !options.isReadOnly { _ = try? connection.run(SaveMark.deleteOld(setup)) }
        let transaction = try connection.run(ServerStatement(ChangeWatcher.question)).integer(0, 0)
        return PostgresStore(
          setup, pool, keys, opened.generation,
          refusalOfWrites: refusalOfReader ?? opened.refusalOfWrites ?? refusalToRecord(history, setup), history,
          functions, features, try makeReplica(opened.generation),
          origin: origin, transaction: transaction)
      }
    } catch {
      pool.close()
      throw error
    }
  }

  /// The connections to the replica. It is not asked before it is needed.
  private func makeReplica(_ generation: StoreGeneration) throws -> ReadReplica? {
    guard let address = options.replica else { return nil }
    var options = options
    (options.connectionString, options.isReadOnly) = (address, true)
    let setup = PostgresSetup(try ServerAddress(address), options, model)
    let pool = ServerPool(name: setup.name, most: options.connections, timeout: options.timeout) {
      limit throws(StoreError) in try setup.connect(within: limit)
    }
    return ReadReplica(pool, generation, setup)
  }

  /// Describes what a role may not do with a store that it opens. Nil for other errors.
  private func refusal(of error: ServerError, _ setup: PostgresSetup, _ pool: ServerPool) throws -> StoreError? {
    guard error.isRefusalOfRights else { return nil }
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    let role = try connection.run(ServerStatement("SELECT session_user::text")).text(0, 0) ?? "?"
    guard let isPresent = try? StoreMetadata.isPresent(connection, setup) else {
      return StoreError(
        .cannotOpen, "The role \(role) may not look into \(setup.name): \(error.message).",
        remedy: "Grant it USAGE of the schema and rights to its tables: see Roles in Docs/PostgreSQL.md.")
    }
    return isPresent
      ? StoreError(
        .cannotOpen,
        "\(setup.name) has to be migrated to this program's model, which the role \(role) may not do: \(error.message).",
        remedy: "Open it once as the owner of its tables, before programs with this model start.")
      : StoreError(
        .cannotOpen,
        "There is no store in \(setup.name) yet, and the role \(role) may not make one: \(error.message).",
        remedy: "Open it once as the owner of the schema: see Roles in Docs/PostgreSQL.md.")
  }

  private var refusalOfReader: StoreError? {
    options.isReadOnly
      ? StoreError(.readOnly, "The store was opened for reading only.", remedy: "Open it for writing.") : nil
  }

  /// Why nothing may be saved, because it could not be recorded.
  private func refusalToRecord(_ history: ServerHistory?, _ setup: PostgresSetup) -> StoreError? {
    guard let history, history.model == nil else { return nil }
    return StoreError(
      .readOnly, "\(setup.name) has a history, and does not have this program's model, which its records name.",
      remedy: "Open it once as the owner of its tables, which writes the model to it.")
  }

  private func makeSetup() throws -> PostgresSetup {
    try options.checkSchema()
    return PostgresSetup(try ServerAddress(options.connectionString), options, model)
  }

  private func inStoreErrors<Result>(_ setup: PostgresSetup, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ServerError {
      throw error.storeError(setup.name, doing: "open the store")
    }
  }

  /// Looks at a store that can be used as it is. Nil if there is none.
  private func present(_ setup: PostgresSetup, _ pool: ServerPool) throws -> Opened? {
    let connection = try pool.take()
    defer { pool.giveBack(connection) }
    return try connection.transaction { connection in
      try connection.limitLocks()
      return try present(setup, connection)
    }
  }

  private func present(_ setup: PostgresSetup, _ connection: ServerConnection) throws -> Opened? {
    guard try StoreMetadata.isPresent(connection, setup) else { return nil }
    let metadata = try StoreMetadata(connection, setup)
    let refusal = metadata.features.refusalOfWrites(to: setup.name, knowing: .knownWithHistory)
    var opened = Opened(generation: StoreGeneration(metadata.openModels, setup), refusalOfWrites: refusal)
    let fit = try ModelFit(of: model, to: metadata)
    if metadata.isWaiting(model) {
      opened.shouldGetModel = options.migration.mode != .refused
      return opened
    }
    guard try MigrationNeed(of: model, options.migration, fit, metadata) == nil else { return nil }
    guard case .fits(let checksum) = fit else { return opened }
    let isSameText = TextBytes.areEqual(checksum, model.checksum)
    // A model that the store had earlier must not replace its newer model.
    opened.shouldGetModel = try !isSameText && refusal == nil && !metadata.hasHad(model.checksum)
    return opened
  }

  // MARK: Planning

  /// The plan of the store's migration; nil if it is missing or need not be migrated. Nothing is written.
  func plan() throws -> MigrationPlan? {
    let setup = try makeSetup()
    let connection = try setup.connect(preparesStatements: false)
    return try inStoreErrors(setup) {
      try LockWait(of: setup.name, nil).run {
        try StoreMetadata.atOneMoment(connection, setup) {
          let metadata = try StoreMetadata(connection, setup)
          guard let need = try MigrationNeed.told(of: model, options.migration, metadata) else { return nil }
          return try ServerMigration(need, connection, setup).plan()
        }
      } ?? nil
    }
  }
}

// MARK: - Store preparation

/// Creates a store, migrates it, or gives it the current text of its model, in one transaction. Several programs that
/// start at once do this one after the other.
struct StorePreparation {
  private let setup: PostgresSetup
  private let observer: MigrationObserver?

  init(_ setup: PostgresSetup, _ observer: MigrationObserver?) {
    self.setup = setup
    self.observer = observer
  }

  func run(_ waiting: LockWait) throws -> PostgresOpening.Opened {
    let connection = try setup.connectForChanges()
    let watch = CancelWatch(observer, connection)
    defer { withExtendedLifetime(watch) {} }
    try waiting.run { try foresee(connection) }
    return try waiting.run {
      connection.patience = setup.options.statementPatience
      return try connection.transaction("BEGIN ISOLATION LEVEL READ COMMITTED") { try runOnce($0) }
    }
  }

  /// Refuses a migration that the model does not allow, while others read and write.
  private func foresee(_ connection: ServerConnection) throws {
    try StoreMetadata.atOneMoment(connection, setup) {
      let metadata = try StoreMetadata(connection, setup)
      guard metadata.features.refusalOfWrites(to: setup.name, knowing: .knownWithHistory) == nil else { return }
      let (model, policy) = (setup.model, setup.options.migration)
      let fit = try ModelFit(of: model, to: metadata)
      guard let need = try MigrationNeed(of: model, policy, fit, metadata) else { return }
      try ServerMigration(need, connection, setup, observer).foresee(metadata)
    }
  }

  private func runOnce(_ connection: ServerConnection) throws -> PostgresOpening.Opened {
    // Limits that the role has for its usual work must not end a migration.
    try connection.limitLocks()
    try connection.runAll([
      "SET LOCAL statement_timeout = 0",
      "SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL standard_conforming_strings = on",
    ])
    try connection.lockChanges(ofSchema: setup.options.schema)
    guard try StoreMetadata.isPresent(connection, setup) else {
      try StoreCreation(connection, setup).run()
      return PostgresOpening.Opened(generation: StoreGeneration(OpenModels(), setup))
    }
    let metadata = try StoreMetadata(connection, setup)
    let refusal = metadata.features.refusalOfWrites(to: setup.name, knowing: .knownWithHistory)
    let opened = PostgresOpening.Opened(
      generation: StoreGeneration(metadata.openModels, setup), refusalOfWrites: refusal)
    let (model, policy) = (setup.model, setup.options.migration)
    let fit = try ModelFit(of: model, to: metadata)
    if let need = try MigrationNeed(of: model, policy, fit, metadata) {
      if let refusal { throw refusal }
      let models = try ServerMigration(need, connection, setup, observer).run(metadata)
      return PostgresOpening.Opened(generation: StoreGeneration(models, setup))
    }
    guard case .fits(let checksum) = fit, !TextBytes.areEqual(checksum, model.checksum), refusal == nil,
      try !metadata.hasHad(model.checksum)
    else { return opened }
    try ServerMigration.replaceText(of: metadata.model(), connection, setup)
    return opened
  }
}
