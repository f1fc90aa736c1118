internal import CSQLite
import Synchronization
import TrellisStorage

/// A file that is removed, renamed or replaced while it is open goes on without its name: what is written to it, nobody finds.
extension SQLiteConnection {
  /// Asked before each commit. It costs one look of the system's at the path.
  func checkPlace() throws(StoreError) {
    guard database.hasMoved else { return }
    setup.mayHaveMoved.store(true, ordering: .relaxed)
    throw SQLiteErrors.moved(setup.path)
  }

  /// Once a save has met such a file, whoever reads looks too, until the file is back.
  @inline(never) func checkPlaceAgain() throws(StoreError) {
    // A transaction comes to its end, whatever that is; its commit looks by itself.
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return }
    if database.hasMoved { throw SQLiteErrors.moved(setup.path) }
    setup.mayHaveMoved.store(false, ordering: .relaxed)
  }
}

extension Database {
  /// Whether the path leads to another file by now, or to none. No system that cannot tell lets an open file go.
  var hasMoved: Bool {
    var answer: Int32 = 0
    return trellis_sqlite3_file_control(handle, "main", TRELLIS_SQLITE_FCNTL_HAS_MOVED, &answer) == TRELLIS_SQLITE_OK
      && answer != 0
  }
}

extension StoreSetup {
  /// A connection that is opened later would get the file that has come in its place.
  func checkIdentity() throws(StoreError) {
    guard let identity, let found = try? options.files.stamp(path), !found.isSameFile(as: identity) else { return }
    throw SQLiteErrors.moved(path)
  }
}
