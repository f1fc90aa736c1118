import TrellisStorage

extension SQLiteConnection {
  /// A transaction that reads: the log keeps what it sees, whatever others write behind it.
  package func pin() throws {
    try database.execute("BEGIN", doing: "begin to read")
    do {
      // A transaction begins to see with its first read.
      try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1", doing: "begin to read")
    } catch {
      unpin()
      throw error
    }
  }

  package func unpin() {
    // It has written nothing that could be lost.
    try? database.execute("ROLLBACK", doing: "end reading")
  }
}
