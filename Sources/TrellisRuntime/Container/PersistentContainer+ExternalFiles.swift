import TrellisStorage

extension PersistentContainer {
  /// Removes the files of external data that nobody needs any more: those of values that were replaced or deleted, and what a
  /// crash has left.
  ///
  /// Opening a store does the same where there may be such files. A program that runs for long can call this when it has deleted
  /// much. Files of values that this program has in memory stay: in unsaved changes, in undo histories, in snapshots.
  ///
  /// ```swift
  /// let count = try container.collectExternalFiles()
  /// ```
  /// - Returns: How many files went. A store that keeps no files has none.
  /// - Throws: ``StoreError``: `busy` when another container or another program has the store open.
  /// - Complexity: linear in the number of files, and in that of rows with attributes that may have some.
  @discardableResult public func collectExternalFiles() throws -> Int {
    try core.checkOpen()
    return try core.store.collectExternalFiles()
  }
}
