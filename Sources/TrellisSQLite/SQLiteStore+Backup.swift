internal import CSQLite
import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``. Then an existing file is unchanged.
  package func backUp(to path: String, replacing: Bool) throws {
    let files = SystemFiles()
    let own = ["", "-wal", "-shm", "-journal"].map { name + $0 }
    let copy = try BackupFile(path, replacing: replacing, own: own, files: files)
    try refuseIfOpen(files.resolved(path), files)
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    guard let folder = setup.folder else { return try copy.write { _, path in try database.copy(to: path) } }
    try folder.keepingFiles {
      try copy.write { _, temporary in
        try database.copy(to: temporary)
        try folder.copyFiles(besides: files.resolved(path))
      }
    }
  }

  /// Refuses a target that SQLite has in use: the files beside it would be taken for those of the copy.
  private func refuseIfOpen(_ path: String, _ files: SystemFiles) throws(StoreError) {
    for ending in ["-wal", "-journal"] where (try? files.stamp(path + ending)) != nil {
      throw StoreError(
        .busy, "\(path) is open, or was not closed: \(path)\(ending) lies beside it.",
        remedy: "Close the store there, or choose another name.")
    }
  }
}

extension Database {
  /// Writes the current snapshot to an empty file, page after page in order and without gaps.
  fileprivate func copy(to path: String) throws(StoreError) {
    let statement = try prepare("VACUUM INTO ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    // SQLite would read this prefix as a URI.
    let target = path.hasPrefix("file:") ? "./" + path : path
    try check(try bind(.text(target), .plain, 1, statement.pointer), doing: "bind a value")
    _ = try step(statement.pointer, doing: "copy the store")
  }
}
