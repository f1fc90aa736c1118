import TrellisStorage

extension ManagedObjectContext {
  /// Reads one moment of the store: whatever others save meanwhile, everything that is loaded inside shows the store as it is
  /// when this begins.
  ///
  /// ```swift
  /// try container.newContext().pinned { context in
  ///   let total = try context.count(Book.all)
  ///   try context.stream(Book.all) { write($0) }   // exactly as many
  /// }
  /// ```
  /// Objects that were loaded before, and are not faults, keep their values: for a report, use a new context. Others may read
  /// and write as they like; a SQLite file's log grows as long as this lasts. What was saved meanwhile is taken over
  /// when it ends. Inside another call of this it is the same moment.
  ///
  /// - Throws: ``StoreError`` when the store fails or cannot do that; what `body` throws. A save inside throws
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
