import TrellisModel
import TrellisStorage

/// Reads a document that was made with a former version of the model, and migrates its contents in memory.
struct DocumentMigration {
  private let migration: Migration
  private let formerModel: DocumentLineage.FormerModel
  private let document: DocumentLayout
  private let formerFolder: ExternalFolder
  private let path: String
  private let policy: MigrationPolicy
  private let steps: [CodedStep]
  private let observer: MigrationObserver?

  /// - Parameters:
  ///   - document: the layout of the current model.
  ///   - formerFolder: the folder of external data that the document has with the former model.
  init(
    _ needed: NeededMigration, to document: DocumentLayout, formerFolder: ExternalFolder, path: String,
    policy: MigrationPolicy, observer: MigrationObserver?
  ) {
    steps = needed.steps
    self.observer = observer
    migration = needed.migration
    formerModel = needed.former
    self.document = document
    self.formerFolder = formerFolder
    self.path = path
    self.policy = policy
  }

  /// - Throws: ``StoreError`` if the document has a mistake, or the model does not say what becomes of its data.
  func migrated(_ bytes: [UInt8]) throws(StoreError) -> LoadedDocument {
    var (loaded, states) = try read(bytes)
    let plan = try plan(states)
    try plan.check(policy, path)
    loaded.losesData = plan.loses
    loaded.state = try storeErrors {
      try states.migrated(document.layout, of: path, mayRepeat: !steps.isEmpty)
    }
    if !steps.isEmpty {
      (loaded.state, loaded.nextKey) = try states.run(
        steps, on: (loaded.state, loaded.nextKey), document.layout, policy, of: path
      ) { try observer?.check(path) }
    }
    loaded.lineage.former.append(formerModel)
    loaded.lineage.pass(steps)
    return loaded
  }

  /// - Throws: ``StoreError`` if the document has a mistake.
  func plan(_ bytes: [UInt8]) throws(StoreError) -> MigrationPlan? {
    let plan = try plan(try read(bytes).states, countsBreaches: true)
    return plan.steps.isEmpty && steps.isEmpty && migration.isIdentity ? nil : plan
  }

  private func plan(_ states: StateMigration, countsBreaches: Bool = false) throws(StoreError) -> MigrationPlan {
    try storeErrors {
      try states.plan(allowsLoss: policy.mode == .losing, steps: steps, countsBreaches: countsBreaches)
    }
  }

  private func read(_ bytes: [UInt8]) throws(StoreError) -> (document: LoadedDocument, states: StateMigration) {
    let former = try DocumentLayout(migration.stored, migration.stored.hasExternalData ? formerFolder : nil)
    let loaded = try DocumentReader.read(bytes, path, former)
    return (loaded, StateMigration(migration, of: Snapshot(loaded.state, former.layout), now: QueryClock.now))
  }

  private func storeErrors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(
        .internalError, "\(path) cannot be migrated: \(error).", remedy: "Report this as a mistake in Trellis.")
    }
  }
}
