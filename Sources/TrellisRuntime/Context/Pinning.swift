import TrellisStorage

extension ManagedObjectContext {
  /// Reads one moment of the store: everything that is loaded inside `body` shows the store as it is at the start,
  /// whatever other contexts save meanwhile.
  ///
  /// ```swift
  /// try container.newContext().pinned { context in
  ///   let total = try context.count(Book.all)
  ///   try context.stream(Book.all) { write($0) }   // exactly as many
  /// }
  /// ```
  /// Objects that were loaded before and are not faults keep their values, so use a new context for a report. Other
  /// contexts may read and write meanwhile; the log of a SQLite file grows until the end. Changes that were saved
  /// meanwhile are merged after the end. A nested call shows the same moment.
  ///
  /// - Throws: ``StoreError`` if the store fails or does not support this; the errors of `body`. A save inside throws
  ///   ``StoreError`` with the code `readOnly`.
  public func pinned<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    if isPinned { return try body(self) }
    mergeInbox()
    let connection = try connection()
    try connection.pin()
    isPinned = true
    defer {
      isPinned = false
      connection.unpin()
    }
    return try body(self)
  }

  func checkNotPinned() throws {
    guard isPinned else { return }
    throw StoreError(
      .readOnly, "A save was refused, since the context shows one moment of the store.",
      remedy: "Save after the call of pinned.")
  }
}
