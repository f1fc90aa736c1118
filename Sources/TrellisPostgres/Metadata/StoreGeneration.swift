import TrellisModel
import TrellisStorage

/// The number of migrations that a store had when it was opened.
///
/// Each read and each save asks for it by the first statement of its transaction, in the same round trip. By this it holds
/// a lock on the table `_trellis` until its end, and a migration takes this table for itself alone. So a migration waits
/// for all that runs, what comes after it finds another number, and no program ever reads or writes tables whose meaning
/// it does not know. A new text of the model that leaves everything stored as it is does not change the number.
///
/// What a fleet sees: while one program migrates, the calls of all others wait. Then those with the former model get
/// `migratedByOthers` at their next call, also if they do not touch what has changed, and have to be replaced. There is no
/// time in which programs of both models write.
struct StoreGeneration: Sendable {
  private let opened: String
  private let store: String
  /// Asks for the number. Its answer is for ``check(_:)``.
  ///
  /// At the isolation level `READ COMMITTED` it sees what was committed while it waited for the table. A transaction with
  /// one snapshot has to take the table before, because its snapshot may be older than the wait.
  let statement: ServerStatement
  /// Takes the table without a snapshot.
  let lock: ServerStatement

  init(_ opened: String, _ setup: PostgresSetup) {
    self.opened = opened
    store = setup.name
    lock = ServerStatement("LOCK TABLE \(setup.layout.names.metadata) IN ACCESS SHARE MODE")
    statement = ServerStatement(
      "SELECT \"value\" FROM \(setup.layout.names.metadata) WHERE \"key\" = '\(StoreMetadata.Key.migrations.rawValue)'")
  }

  /// - Throws: ``StoreError`` if the store was migrated.
  func check(_ result: ServerResult) throws(StoreError) {
    if result.count == 1, let found = result.text(0, 0), TextBytes.areEqual(found, opened) { return }
    throw StoreError(
      .migratedByOthers,
      "Another program has migrated \(store) to another model since it was opened here; nothing is read or written any more.",
      remedy: "Update this program, or open the store again if its model fits by then.")
  }
}
