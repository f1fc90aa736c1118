internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// What a file says about itself, in the table `_trellis`.
enum Metadata {
  private static let keys = (
    format: "format", name: "model", signature: "storage", whole: "modelJSON", checksum: "checksum",
    nextKey: "nextKey", collections: "collections"
  )

  static func write(_ model: Model, to database: Database) throws(StoreError) {
    try set(keys.format, .integer(Int64(FileHeader.format)), in: database)
    try set(keys.nextKey, .integer(1), in: database)
    try writeModel(model, to: database)
  }

  static func writeModel(_ model: Model, to database: Database) throws(StoreError) {
    try set(keys.name, .text(model.name), in: database)
    try set(keys.signature, .text(model.storageSignature), in: database)
    try set(keys.whole, .text(model.description.canonicalJSON()), in: database)
    try set(keys.checksum, .text(model.checksum), in: database)
  }

  /// - Returns: whether the file holds the very same model, and not only one that is stored alike.
  /// - Throws: ``StoreError`` when the file does not fit.
  static func check(_ model: Model, in database: Database) throws(StoreError) -> Bool {
    guard case .integer(let format)? = try value(keys.format, in: database), format > 0 else {
      throw SQLiteErrors.damaged(database.path, "it does not say which format it has")
    }
    guard format <= FileHeader.format else { throw FileHeader.newer(database.path, found: String(format)) }
    // The same model is stored alike, so mostly one word is all that has to be read.
    if try value(keys.checksum, in: database) == .text(model.checksum) { return true }
    guard case .text(let signature)? = try value(keys.signature, in: database) else {
      throw SQLiteErrors.damaged(database.path, "it does not say what it holds")
    }
    let current = model.storageSignature
    guard TextBytes.areEqual(signature, current) else {
      throw otherModel(Model.differences(from: signature, to: current), database.path)
    }
    return false
  }

  private static func otherModel(_ differences: [String], _ path: String) -> StoreError {
    StoreError(
      .otherModel, "\(path) was made with another model: \(differences.joined(separator: "; ")).",
      remedy: "Open it with the model it was made with, or migrate it.")
  }

  // MARK: Keys

  /// Takes keys for good, in a transaction of its own.
  static func reserve(_ count: Int64, in database: Database) throws(StoreError) -> Range<Int64> {
    try database.execute("BEGIN IMMEDIATE", doing: "reserve keys")
    do throws(StoreError) {
      let next = try nextKey(in: database)
      let (end, overflow) = next.addingReportingOverflow(count)
      guard !overflow else {
        throw StoreError(.limit, "\(database.path) has no keys left.", remedy: "Copy the objects into a new store.")
      }
      try set(keys.nextKey, .integer(end), in: database)
      try database.execute("COMMIT", doing: "reserve keys")
      return next..<end
    } catch {
      try? database.execute("ROLLBACK", doing: "reserve keys")
      throw error
    }
  }

  static func nextKey(in database: Database) throws(StoreError) -> Int64 {
    guard case .integer(let next)? = try value(keys.nextKey, in: database), next > 0 else {
      throw SQLiteErrors.damaged(database.path, "it does not say which keys are free")
    }
    return next
  }

  /// Takes back the upper end of what was reserved last; nothing happens when others have reserved since.
  static func giveBack(_ unused: Range<Int64>, in database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "UPDATE \(SQLName.metadata) SET \"value\" = ?1 WHERE \"key\" = '\(keys.nextKey)' AND \"value\" = ?2")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    _ = trellis_sqlite3_bind_int64(statement.pointer, 1, unused.lowerBound)
    _ = trellis_sqlite3_bind_int64(statement.pointer, 2, unused.upperBound)
    _ = try database.step(statement.pointer, doing: "give back keys")
  }

  /// Counts the collections of external files, so that there is something to commit: SQLite writes nothing that is there already.
  static func noteCollection(in database: Database) throws(StoreError) {
    let before: Int64 = if case .integer(let count)? = try value(keys.collections, in: database) { count } else { 0 }
    try set(keys.collections, .integer(before &+ 1), in: database)
  }

  // MARK: Entries

  private static func value(_ key: String, in database: Database) throws(StoreError) -> StoredValue? {
    let statement = try database.prepare("SELECT \"value\" FROM \(SQLName.metadata) WHERE \"key\" = '\(key)'")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    guard try database.step(statement.pointer, doing: "read what the file is") else { return nil }
    if trellis_sqlite3_column_type(statement.pointer, 0) == TRELLIS_SQLITE_INTEGER {
      return .integer(trellis_sqlite3_column_int64(statement.pointer, 0))
    }
    return database.text(of: statement.pointer).map { .text($0) }
  }

  private static func set(_ key: String, _ value: StoredValue, in database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "INSERT INTO \(SQLName.metadata) (\"key\", \"value\") VALUES ('\(key)', ?1) "
        + "ON CONFLICT (\"key\") DO UPDATE SET \"value\" = excluded.\"value\"")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(try database.bind(value, .plain, 1, statement.pointer), doing: "bind a value")
    _ = try database.step(statement.pointer, doing: "write what the file is")
  }
}

extension Database {
  /// The first column of the first row as text; nil when there is no row, or nothing in it.
  func text(_ sql: String) throws(StoreError) -> String? {
    let statement = try prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    return try step(statement.pointer, doing: "read the file") ? text(of: statement.pointer) : nil
  }

  func text(of statement: OpaquePointer, _ column: Int32 = 0) -> String? {
    guard let start = trellis_sqlite3_column_text(statement, column) else { return nil }
    let count = Int(trellis_sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
