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

  /// - Parameters:
  ///   - document: the layout of the current model.
  ///   - formerFolder: the folder of external data that the document has with the former model.
  init(
    _ needed: DocumentReader.NeededMigration, to document: DocumentLayout, formerFolder: ExternalFolder, path: String,
    policy: MigrationPolicy
  ) {
    migration = needed.migration
    formerModel = needed.former
    self.document = document
    self.formerFolder = formerFolder
    self.path = path
    self.policy = policy
  }

  /// - Throws: ``StoreError`` if the document has a mistake, or the model does not say what becomes of its data.
  func migrated(_ bytes: [UInt8]) throws(StoreError) -> LoadedDocument {
    let former = try DocumentLayout(migration.stored, migration.stored.hasExternalData ? formerFolder : nil)
    var loaded = try DocumentReader.read(bytes, path, former)
    let states = StateMigration(
      migration, of: Snapshot(loaded.state, former.layout), now: QueryClock.now)
    do {
      let plan = try states.plan(allowsLoss: policy.mode == .losing)
      if let refusal = plan.refusal(of: path) { throw refusal }
      if policy.mode == .refused {
        throw plan.forbidden(
          path, because: "the store was opened with migration: .refused",
          remedy: "Open it with migration: .automatic, or with the model it was made with.")
      }
      loaded.losesData = plan.loses
      loaded.state = try states.migrated(document.layout, of: path)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(
        .internalError, "\(path) cannot be migrated: \(error).", remedy: "Report this as a mistake in Trellis.")
    }
    loaded.lineage.former.append(formerModel)
    return loaded
  }
}
