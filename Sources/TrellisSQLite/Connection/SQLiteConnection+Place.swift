internal import CSQLite
import Synchronization
import TrellisStorage

/// An open file may be removed, renamed or replaced. Then it continues to exist without its name, and everything
/// written to it is lost.
extension SQLiteConnection {
  /// Checks the path before each commit. This costs one system call.
  func checkPlace() throws(StoreError) {
    guard database.hasMoved else { return }
    setup.mayHaveMoved.store(true, ordering: .relaxed)
    throw SQLiteErrors.moved(setup.path)
  }

  /// Checks the path before reads, too, once a save has found the file moved, until the file is back.
  @inline(never) func checkPlaceAgain() throws(StoreError) {
    // A transaction runs to its end. Its commit checks the path by itself.
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return }
    if database.hasMoved { throw SQLiteErrors.moved(setup.path) }
    setup.mayHaveMoved.store(false, ordering: .relaxed)
  }
}

extension Database {
  /// Whether the path leads to another file, or to none. Systems without this check do not allow an open file to be
  /// moved.
  var hasMoved: Bool {
    var answer: Int32 = 0
    return trellis_sqlite3_file_control(handle, "main", TRELLIS_SQLITE_FCNTL_HAS_MOVED, &answer) == TRELLIS_SQLITE_OK
      && answer != 0
  }
}

extension StoreSetup {
  /// Ensures that a new connection does not open another file that has replaced this one.
  func checkIdentity() throws(StoreError) {
    guard let identity, let found = try? options.files.stamp(path), !found.isSameFile(as: identity) else { return }
    throw SQLiteErrors.moved(path)
  }
}
