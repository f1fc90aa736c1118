internal import CSQLite
import Synchronization
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Prevents a connection from using a file that another program has migrated since it was opened here.
///
/// The file counts its commits, and its model stays the same as long as only this store commits. So a check is usually
/// one comparison. If another program has committed, one short row is read.
final class ModelWatch: Sendable {
  private static let never = UInt64.max

  private let path: String
  private let model: Model
  /// The checksum of the file's model when it was opened.
  private let opened: String
  /// The checksum that was last read from the file.
  private let found: Locked<String>
  /// The commit count up to which the model is known to be the same.
  private let seen = Atomic(never)
  private let isMigrated = Atomic(false)

  init(path: String, model: Model, checksum: String) {
    self.path = path
    self.model = model
    opened = checksum
    found = Locked(checksum)
  }

  /// Whether another program has replaced the model's text since the file was opened with one of the same storage
  /// layout.
  var hasOtherText: Bool { found.withLock { !TextBytes.areEqual($0, opened) } }

  /// - Throws: ``StoreError`` if the file was migrated.
  @inline(__always) func look(through connection: SQLiteConnection) throws(StoreError) {
    guard let count = connection.commitCount else { return try lookUncounted(through: connection) }
    if UInt64(count) == seen.load(ordering: .relaxed) { return }
    try lookAgain(through: connection)
    // The model that was read is at least as new as the count.
    seen.store(UInt64(count), ordering: .relaxed)
  }

  /// Checks the model of a snapshot. The snapshot may be old, so the result does not count for later commits.
  func lookInSnapshot(through connection: SQLiteConnection) throws(StoreError) { try lookAgain(through: connection) }

  /// Called after a commit of this store, with the commit count before it.
  @inline(__always) func didCommit(at count: UInt32) {
    _ = seen.compareExchange(
      expected: UInt64(count), desired: UInt64(count &+ 1), ordering: .relaxed)
  }

  /// Checks the model if commits are not counted: each write transaction reads it, other calls do not.
  @inline(never) private func lookUncounted(through connection: SQLiteConnection) throws(StoreError) {
    if isMigrated.load(ordering: .relaxed) { throw migrated }
    if trellis_sqlite3_get_autocommit(connection.database.handle) == 0 { try lookAgain(through: connection) }
  }

  /// The actual reason of a failure: after a migration by another program, tables and columns may be missing or have
  /// another meaning.
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
