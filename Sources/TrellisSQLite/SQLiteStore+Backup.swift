internal import CSQLite
import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``; then a file that was there is as it was.
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

  /// A file of SQLite's that is in use has others beside it, which would be taken for those of the copy.
  private func refuseIfOpen(_ path: String, _ files: SystemFiles) throws(StoreError) {
    for ending in ["-wal", "-journal"] where (try? files.stamp(path + ending)) != nil {
      throw StoreError(
        .busy, "\(path) is open, or was not closed: \(path)\(ending) lies beside it.",
        remedy: "Close the store there, or choose another name.")
    }
  }
}

extension Database {
  /// Writes what a reader sees at this moment to an empty file, page after page in order and without gaps.
  fileprivate func copy(to path: String) throws(StoreError) {
    let statement = try prepare("VACUUM INTO ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    // A name that begins so would be read as a URI.
    let target = path.hasPrefix("file:") ? "./" + path : path
    try check(try bind(.text(target), .plain, 1, statement.pointer), doing: "bind a value")
    _ = try step(statement.pointer, doing: "copy the store")
  }
}
