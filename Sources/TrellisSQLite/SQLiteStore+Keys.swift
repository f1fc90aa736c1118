import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    // Nothing can be saved to a read-only store, so its keys need not be reserved.
    if setup.options.isReadOnly {
      let next = try Metadata.nextKey(in: database)
      return next..<(next + min(count, .max - next))
    }
    // The write-ahead log keeps the order of transactions: a durable save of an object with such a key makes the
    // reservation durable, too.
    return try with(.relaxed, database) { () throws(StoreError) in try Metadata.reserve(count, in: database) }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !setup.options.isReadOnly, !unused.isEmpty, let connection = try? take() else { return }
    defer { giveBack(connection) }
    let database = connection.database
    // If this fails, unused keys are lost, and nothing else.
    try? with(.relaxed, database) { () throws(StoreError) in try Metadata.giveBack(unused, in: database) }
  }

  /// Runs a closure with another durability than that of saves.
  func with<Result>(
    _ durability: Durability, _ database: Database, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let usual = setup.options.durability
    guard usual != durability else { return try body() }
    try database.execute("PRAGMA synchronous = \(Database.synchronous(durability))", doing: "prepare the connection")
    defer {
      let setting = "PRAGMA synchronous = \(Database.synchronous(usual))"
      // If the setting could not be restored, later saves would be less durable than configured.
      if (try? database.execute(setting, doing: "prepare the connection")) == nil {
        setup.refusesWrites.store(true, ordering: .relaxed)
      }
    }
    return try body()
  }
}
