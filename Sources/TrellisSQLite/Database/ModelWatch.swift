internal import CSQLite
import Synchronization
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Sees to it that no connection goes on working with a file that another program has migrated since it was opened here.
///
/// The file counts its commits, and as long as only this store commits its model stays. So mostly a look is one comparison; when
/// another program has committed, one short row is read.
final class ModelWatch: Sendable {
  private static let never = UInt64.max

  private let path: String
  private let model: Model
  /// The checksum of the model that the file had when it was opened.
  private let opened: String
  /// The checksum that was last found in the file.
  private let found: Locked<String>
  /// The count of commits up to which the model is known to be the same.
  private let seen = Atomic(never)
  private let isMigrated = Atomic(false)

  init(path: String, model: Model, checksum: String) {
    self.path = path
    self.model = model
    opened = checksum
    found = Locked(checksum)
  }

  /// Whether another program has replaced the model's text since the file was opened, by one of a model that is stored alike.
  var hasOtherText: Bool { found.withLock { !TextBytes.areEqual($0, opened) } }

  /// - Throws: ``StoreError`` when the file was migrated.
  @inline(__always) func look(through connection: SQLiteConnection) throws(StoreError) {
    guard let count = connection.commitCount else { return try lookUncounted(through: connection) }
    if UInt64(count) == seen.load(ordering: .relaxed) { return }
    try lookAgain(through: connection)
    // What was read is at least as new as the count.
    seen.store(UInt64(count), ordering: .relaxed)
  }

  /// Looks at the model of a moment that may be past already, so that nothing follows for later ones.
  func lookInSnapshot(through connection: SQLiteConnection) throws(StoreError) { try lookAgain(through: connection) }

  /// Called after a commit of this store that began at a count.
  @inline(__always) func didCommit(at count: UInt32) {
    _ = seen.compareExchange(
      expected: UInt64(count), desired: UInt64(count &+ 1), ordering: .relaxed)
  }

  /// Where commits are not counted, only a transaction that writes looks: it asks each time.
  @inline(never) private func lookUncounted(through connection: SQLiteConnection) throws(StoreError) {
    if isMigrated.load(ordering: .relaxed) { throw migrated }
    if trellis_sqlite3_get_autocommit(connection.database.handle) == 0 { try lookAgain(through: connection) }
  }

  /// What a failure really is: after a migration by another program tables and columns may be gone or mean something else.
  @inline(never) func explanation(of failure: any Error, through connection: SQLiteConnection) -> any Error {
    guard failure is StoreError || failure is SaveConflict else { return failure }
    do throws(StoreError) {
      try lookAgain(through: connection)
      return failure
    } catch {
      return error.code == .migratedByOthers ? error : failure
    }
  }

  @inline(never) private func lookAgain(through connection: SQLiteConnection) throws(StoreError) {
    if isMigrated.load(ordering: .relaxed) { throw migrated }
    let present = try Metadata.checksum(through: connection)
    if found.withLock({ TextBytes.areEqual($0, present) }) { return }
    guard try Metadata.isStoredAlike(model, in: connection.database) else {
      isMigrated.store(true, ordering: .relaxed)
      throw migrated
    }
    found.withLock { $0 = present }
  }

  private var migrated: StoreError {
    StoreError(
      .migratedByOthers,
      "Another program has migrated \(path) to another model since it was opened here; nothing is read or written any more.",
      remedy: "Update this program, or open the store again if its model fits by then.")
  }
}
