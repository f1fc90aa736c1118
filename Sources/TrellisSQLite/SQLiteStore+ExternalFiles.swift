internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func collectExternalFiles() throws -> Int {
    guard let folder = setup.folder, !setup.options.isReadOnly else { return 0 }
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    // A file that only the latest commits do not refer to any more must stay as long as a power failure may undo these
    // commits.
    let safe = try contentsOnDisk(database)
    // No other connection commits until this transaction ends, and every file that is referred to then is referred to
    // now.
    try database.execute("BEGIN IMMEDIATE", doing: "collect files")
    defer { try? database.execute("ROLLBACK", doing: "collect files") }
    return try folder.collect { try database.externalContents(setup.layout.model).union(safe) }
  }

  /// Writes all commits to the disk, regardless of their durability.
  ///
  /// - Returns: the external contents that rows on the disk refer to.
  private func contentsOnDisk(_ database: Database) throws(StoreError) -> Set<ContentDigest> {
    try with(.durable, database) { () throws(StoreError) in
      try database.execute("BEGIN IMMEDIATE", doing: "collect files")
      do throws(StoreError) {
        let contents = try database.externalContents(setup.layout.model)
        try Metadata.noteCollection(in: database)
        try database.execute("COMMIT", doing: "collect files")
        return contents
      } catch {
        try? database.execute("ROLLBACK", doing: "collect files")
        throw error
      }
    }
  }
}

extension Database {
  /// The external contents that rows refer to.
  fileprivate func externalContents(_ model: Model) throws(StoreError) -> Set<ContentDigest> {
    var contents: Set<ContentDigest> = []
    for text in ExternalStatements.references(model) {
      let statement = try prepare(text)
      defer { _ = trellis_sqlite3_finalize(statement.pointer) }
      while try step(statement.pointer, doing: "collect files") {
        guard let start = trellis_sqlite3_column_text(statement.pointer, 0) else { continue }
        let count = Int(trellis_sqlite3_column_bytes(statement.pointer, 0))
        let reference = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        guard let parts = ExternalFile.parts(of: reference) else { throw Self.noReference }
        contents.insert(parts.digest)
      }
    }
    return contents
  }

  /// An unreadable reference might refer to any file, so nothing is removed.
  private static let noReference = StoreError(
    .unreadableValue, "A stored reference to a file is none, so no file was removed.",
    remedy: "Check the store, and set the attribute to another value.")
}
