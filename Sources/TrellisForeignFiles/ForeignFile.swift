internal import CSQLite

/// A SQLite file that another program has written. Used by one thread at a time.
///
/// The file may come from anywhere: no trigger or view of it runs, no function of it has an effect, and a table that leads
/// to itself ends.
package final class ForeignFile {
  package enum Access {
    /// No other program has the file open.
    case exclusive
    /// Other programs may go on writing to it. The reader sees one moment of it, and leaves nothing behind.
    case shared(hasLog: Bool)
  }

  private let handle: OpaquePointer
  /// The most rows that a table can have: each has at least one byte.
  private let mostRows: Int

  /// - Parameter size: The size of the file and its log in bytes.
  package init(path: String, size: Int, _ access: Access) throws(ForeignFileError) {
    if let reason = trellis_sqlite_load() { throw ForeignFileError(.noLibrary, String(cString: reason)) }
    mostRows = max(1_000, size)
    // A reader that makes a log has to be able to remove it at the end. One that finds a log leaves it to its programs.
    let mode =
      if case .shared(hasLog: true) = access { TRELLIS_SQLITE_OPEN_READONLY } else { TRELLIS_SQLITE_OPEN_READWRITE }
    var opened: OpaquePointer?
    let flags = TRELLIS_SQLITE_OPEN_NOMUTEX | TRELLIS_SQLITE_OPEN_EXRESCODE | mode
    let code = trellis_sqlite3_open_v2(path, &opened, Int32(flags), nil)
    guard let opened, code == TRELLIS_SQLITE_OK else {
      let message = opened.map { String(cString: trellis_sqlite3_errmsg($0)) } ?? "out of memory"
      _ = trellis_sqlite3_close_v2(opened)
      throw ForeignFileError(code: code, message)
    }
    handle = opened
    for (option, on) in [
      (TRELLIS_SQLITE_DBCONFIG_DEFENSIVE, 1), (TRELLIS_SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (TRELLIS_SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (TRELLIS_SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (TRELLIS_SQLITE_DBCONFIG_DQS_DML, 0),
    ] { _ = trellis_sqlite3_db_config(handle, Int32(option), Int32(on)) }
    do { try keepPlainFunctions() } catch { throw error as? ForeignFileError ?? failure(TRELLIS_SQLITE_ERROR) }
    guard case .shared = access else { return }
    // One transaction shows one moment until the end.
    for statement in [
      "PRAGMA busy_timeout = 5000", "PRAGMA query_only = ON", "BEGIN", "SELECT 1 FROM sqlite_schema LIMIT 1",
    ] {
      do { try rows(statement) { _ in } } catch { throw error as? ForeignFileError ?? failure(TRELLIS_SQLITE_ERROR) }
    }
  }

  /// Lets the schema use the functions that are SQLite's own, and no others.
  ///
  /// Without views and triggers, and since nothing is written, a function of the schema runs in one place: a computed column
  /// that is read. The functions of SQLite itself compute their result and do no more; those that do more (load_extension,
  /// fts3_tokenizer) are for direct use alone and not deterministic, and SQLite allows neither in a computed column. So what
  /// a distrusted schema adds is harm to sound files: SQLite 3.38 to 3.40 has the functions of JSON among those that are not
  /// innocuous, and a table with CHECK (json_valid(…)) cannot even be listed. What remains is functions that the process adds
  /// to each connection (sqlite3_auto_extension), such as one that writes files: those that are not marked as innocuous are
  /// removed.
  private func keepPlainFunctions() throws {
    var known = 0
    var others: [(name: String, count: Int64, encoding: String)] = []
    // The pragma reads no schema, in contrast to the table function.
    try rows("PRAGMA function_list", limit: .max) { row in
      known += 1
      let plain = Self.innocuous | Int64(TRELLIS_SQLITE_DIRECTONLY)
      guard let name = row.text(0), row.integer(1) == 0, (row.integer(5) ?? 0) & plain == 0 else { return }
      others.append((name, row.integer(4) ?? -1, row.text(3) ?? ""))
    }
    // A library without the list tells nothing of its functions, and the schema stays distrusted.
    guard known > 0 else { return }
    for function in others {
      let encoding = Self.encodings[function.encoding] ?? TRELLIS_SQLITE_UTF8
      let code = trellis_sqlite3_create_function_v2(
        handle, function.name, Int32(truncatingIfNeeded: function.count), encoding, nil, nil, nil, nil, nil)
      guard code == TRELLIS_SQLITE_OK else { return }
    }
    _ = trellis_sqlite3_db_config(handle, Int32(TRELLIS_SQLITE_DBCONFIG_TRUSTED_SCHEMA), 1)
  }

  /// SQLITE_INNOCUOUS.
  private static let innocuous: Int64 = 0x20_0000
  /// The numbers of the encodings, by their names in the list of functions.
  private static let encodings = ["utf8": TRELLIS_SQLITE_UTF8, "utf16le": 2, "utf16be": 3]

  deinit { _ = trellis_sqlite3_close_v2(handle) }

  /// Passes the rows of a query.
  ///
  /// - Parameter parameters: The values of `?1` and so on: integers and texts.
  /// - Throws: ``ForeignFileError``, or errors of `body`.
  package func rows(
    _ sql: String, _ parameters: [ForeignValue] = [], _ body: (ForeignRow) throws -> Void
  ) throws {
    try rows(sql, parameters, limit: mostRows, body)
  }

  private func rows(
    _ sql: String, _ parameters: [ForeignValue] = [], limit: Int, _ body: (ForeignRow) throws -> Void
  ) throws {
    var statement: OpaquePointer?
    var text = sql
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        trellis_sqlite3_prepare_v3(
          handle, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), 0, &statement, nil)
      }
    }
    // The bytes of texts have to stay until the statement is finalized.
    var texts: [UnsafeMutablePointer<CChar>] = []
    defer {
      _ = trellis_sqlite3_finalize(statement)
      for text in texts { text.deallocate() }
    }
    guard code == TRELLIS_SQLITE_OK, let statement else { throw failure(code) }
    for (place, value) in parameters.enumerated() {
      let number = Int32(truncatingIfNeeded: place + 1)
      switch value {
      case .integer(let value): _ = trellis_sqlite3_bind_int64(statement, number, value)
      case .text(let value):
        let bytes = Array(value.utf8)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (offset, byte) in bytes.enumerated() { copy[offset] = CChar(bitPattern: byte) }
        texts.append(copy)
        _ = trellis_sqlite3_bind_text(statement, number, copy, Int32(truncatingIfNeeded: bytes.count), nil)
      case .null, .real, .unsound, .blob: assertionFailure("A parameter is an integer or a text.")
      }
    }
    var count = 0
    while true {
      let code = trellis_sqlite3_step(statement)
      if code == TRELLIS_SQLITE_DONE { return }
      guard code == TRELLIS_SQLITE_ROW else { throw failure(code) }
      count += 1
      guard count <= limit else { throw ForeignFileError(.damaged, "a table has too many rows") }
      try body(ForeignRow(statement))
    }
  }

  private func failure(_ code: Int32) -> ForeignFileError {
    ForeignFileError(code: code, String(cString: trellis_sqlite3_errmsg(handle)))
  }
}
