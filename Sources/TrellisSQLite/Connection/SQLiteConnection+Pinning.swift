import TrellisStorage

extension SQLiteConnection {
  /// Begins a read transaction. The write-ahead log keeps its snapshot, independent of later commits.
  package func pin() throws {
    try database.execute("BEGIN", doing: "begin to read")
    do {
      // The snapshot begins with the first read of a transaction.
      try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1", doing: "begin to read")
    } catch {
      unpin()
      throw error
    }
  }

  package func unpin() {
    // The transaction has written nothing that could be lost.
    try? database.execute("ROLLBACK", doing: "end reading")
  }
}
