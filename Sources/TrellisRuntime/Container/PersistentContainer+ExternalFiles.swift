import TrellisStorage

extension PersistentContainer {
  /// Removes the files of external data that are no longer in use: those of replaced or deleted values, and those that
  /// a crash left behind.
  ///
  /// Opening a store does the same if there may be such files. A long-running process can call this after it has
  /// deleted many objects. Files of values that this process has in memory are kept: in unsaved changes, in undo
  /// histories, in snapshots.
  ///
  /// ```swift
  /// let count = try container.collectExternalFiles()
  /// ```
  /// - Returns: The number of removed files. It is 0 for a store without external files.
  /// - Throws: ``StoreError``: `busy` if another container or another process has the store open.
  /// - Complexity: linear in the number of files and of rows with attributes that may have external files.
  @discardableResult public func collectExternalFiles() throws -> Int {
    try core.checkOpen()
    return try core.store.collectExternalFiles()
  }
}
