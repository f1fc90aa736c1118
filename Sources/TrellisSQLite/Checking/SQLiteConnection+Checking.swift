package import TrellisStorage

extension SQLiteConnection {
  /// Looks through the file's pages, its schema and what only its tables show.
  ///
  /// - Throws: ``StoreError``, or what `body` throws.
  /// - Complexity: linear in the size of the file.
  package func check(_ body: (StoreFinding) throws -> Void) throws {
    try withoutActuallyEscaping(body) { try FileCheck(database: database, setup: setup, note: $0).run() }
  }
}
