import TrellisStorage

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    // Nothing can be saved to a store that is only read, so its keys need not be taken.
    if setup.options.isReadOnly {
      let next = try Metadata.nextKey(in: database)
      return next..<(next + min(count, .max - next))
    }
    // The log keeps the order of transactions: who saves an object with such a key has made the reservation safe too.
    return try with(.relaxed, database) { () throws(StoreError) in try Metadata.reserve(count, in: database) }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !setup.options.isReadOnly, !unused.isEmpty, let connection = try? take() else { return }
    defer { giveBack(connection) }
    let database = connection.database
    // Keys that do not come back are lost, and nothing else.
    try? with(.relaxed, database) { () throws(StoreError) in try Metadata.giveBack(unused, in: database) }
  }

  /// Does something with more or less care for the disk than saves.
  func with<Result>(
    _ durability: Durability, _ database: Database, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let usual = setup.options.durability
    guard usual != durability else { return try body() }
    try database.execute("PRAGMA synchronous = \(Database.synchronous(durability))", doing: "prepare the connection")
    defer {
      let setting = "PRAGMA synchronous = \(Database.synchronous(usual))"
      // Without the setting, later saves would be less safe than was asked for.
      if (try? database.execute(setting, doing: "prepare the connection")) == nil {
        setup.refusesWrites.store(true, ordering: .relaxed)
      }
    }
    return try body()
  }
}
