package import TrellisStorage

extension SQLiteConnection {
  /// Checks the file's pages, its schema, and its rows as far as no request returns them.
  ///
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: linear in the size of the file.
  package func check(_ body: (StoreFinding) throws -> Void) throws {
    try withoutActuallyEscaping(body) { try FileCheck(database: database, setup: setup, note: $0).run() }
  }
}
