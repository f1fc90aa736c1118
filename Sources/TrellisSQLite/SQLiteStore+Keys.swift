import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let database = try borrow()
    defer { giveBack(database) }
    // Nothing can be saved to a store that is only read, so its keys need not be taken.
    if setup.options.isReadOnly {
      let next = try Metadata.nextKey(in: database)
      return next..<(next + min(count, .max - next))
    }
    // The log keeps the order of transactions: who saves an object with such a key has made the reservation safe too.
    return try relaxed(database) { () throws(StoreError) in try Metadata.reserve(count, in: database) }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !setup.options.isReadOnly, !unused.isEmpty, let database = try? borrow() else { return }
    defer { giveBack(database) }
    // Keys that do not come back are lost, and nothing else.
    try? relaxed(database) { () throws(StoreError) in try Metadata.giveBack(unused, in: database) }
  }

  private func relaxed<Result>(_ database: Database, _ body: () throws(StoreError) -> Result) throws(StoreError)
    -> Result
  {
    guard setup.options.durability != .relaxed else { return try body() }
    try database.execute("PRAGMA synchronous = NORMAL", doing: "reserve keys")
    defer {
      let setting = "PRAGMA synchronous = \(Database.synchronous(setup.options.durability))"
      // Without the setting, later saves would be less safe than was asked for.
      if (try? database.execute(setting, doing: "reserve keys")) == nil {
        setup.refusesWrites.store(true, ordering: .relaxed)
      }
    }
    return try body()
  }
}
