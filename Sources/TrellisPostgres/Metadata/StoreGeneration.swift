import TrellisModel
import TrellisStorage

/// What a read asks first, in its own round trip, and what it makes of the answer.
struct ReadCheck {
  let statement: ServerStatement
  /// Throws if the rows that come next must not be used.
  let check: (ServerResult) throws -> Void
}

/// What tells an open program whether it can still use the store.
///
/// Each read and each save asks for ``OpenModels`` by the first statement of its transaction, in the same round trip. By
/// this it holds a lock on the table `_trellis` until its end, and a migration that others cannot live with takes this
/// table for itself alone. So such a migration waits for all that runs, what comes after it finds another text, and no
/// program ever reads or writes tables whose meaning it does not know. A new text of the model that leaves everything
/// stored as it is changes nothing here, and neither does a migration that only adds, but for the list of models.
///
/// What a fleet sees of a migration that others cannot live with: while one program migrates, the calls of all others
/// wait. Then those with a former model get `migratedByOthers` at their next call, also if they do not touch what has
/// changed, and have to be replaced.
final class StoreGeneration: Sendable {
  private let opened: OpenModels
  /// The text that was accepted last.
  private let accepted: Locked<String>
  private let storage: String
  private let store: String
  /// The expression of the models.
  private let models: String
  /// Asks for the models. Its answer is for ``check(_:)``.
  ///
  /// At the isolation level `READ COMMITTED` it sees what was committed while it waited for the table. A transaction with
  /// one snapshot has to take the table before, because its snapshot may be older than the wait.
  let statement: ServerStatement
  /// Takes the table without a snapshot.
  let lock: ServerStatement

  init(_ opened: OpenModels, _ setup: PostgresSetup) {
    self.opened = opened
    accepted = Locked(opened.text)
    storage = setup.storageChecksum
    store = setup.name
    lock = ServerStatement("LOCK TABLE \(setup.layout.names.metadata) IN ACCESS SHARE MODE")
    models = setup.layout.names.metadata(.migrations)
    statement = ServerStatement("SELECT \(models)")
  }

  /// What a read asks first.
  var readCheck: ReadCheck { ReadCheck(statement: statement, check: check) }

  /// Fails on the server if the models are not those that were accepted last.
  var guarding: ServerStatement {
    var parameters = ServerParameters()
    let known = parameters.add(accepted.withLock { $0 })
    return ServerStatement(
      "SELECT CASE WHEN \(models) = \(known) THEN 0 ELSE ('models that can use the store: ' || coalesce(\(models), ''))::int END",
      parameters)
  }

  /// - Throws: ``StoreError`` if the store was migrated to a model that the program cannot live with.
  func check(_ result: ServerResult) throws(StoreError) {
    if result.count == 1, let found = result.text(0, 0) {
      if TextBytes.areEqual(found, accepted.withLock { $0 }) { return }
      if let models = OpenModels(found), models.isOpen(to: storage, openedAt: opened.migrations) {
        accepted.withLock { $0 = found }
        return
      }
    }
    throw StoreError(
      .migratedByOthers,
      "Another program has migrated \(store) to another model since it was opened here; nothing is read or written any more.",
      remedy: "Update this program, or open the store again if its model fits by then.")
  }
}
