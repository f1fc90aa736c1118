import CSQLite3
import Foundation

/// An open file.
struct Connection {
  let pointer: OpaquePointer

  init(_ path: String) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else { fatalError("cannot open \(path)") }
    pointer = opened
    // A library with encryption takes the place of the linked one, which has no such function, so it is looked up.
    guard let key = ProcessInfo.processInfo.environment["BENCH_KEY"] else { return }
    typealias SetKey = @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32
    guard let address = dlsym(dlopen(nil, RTLD_NOW), "sqlite3_key") else { fatalError("the library cannot encrypt") }
    check(unsafeBitCast(address, to: SetKey.self)(opened, key, Int32(key.utf8.count)))
  }

  func execute(_ text: String) { check(sqlite3_exec(pointer, text, nil, nil, nil)) }

  func prepare(_ text: String) -> Statement {
    var statement: OpaquePointer?
    check(sqlite3_prepare_v3(pointer, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    return Statement(pointer: statement!, connection: self)
  }

  var lastKey: Int64 { sqlite3_last_insert_rowid(pointer) }

  func check(_ code: Int32) {
    if code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW {
      fatalError(String(cString: sqlite3_errmsg(pointer)))
    }
  }

  func close() { check(sqlite3_close(pointer)) }

  /// The rows that the last statement has changed.
  var changes: Int { Int(sqlite3_changes(pointer)) }

  /// Runs statements as one transaction.
  func transaction(_ body: () throws -> Void) rethrows {
    execute("BEGIN IMMEDIATE")
    try body()
    execute("COMMIT")
  }

  /// Reads in one transaction, so that the file is locked once instead of at each statement.
  func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
    execute("BEGIN")
    defer { execute("COMMIT") }
    return try body()
  }

  /// The only value of a statement.
  func integer(_ text: String) -> Int {
    with(text) { $0.next() ? $0.integer(0) : 0 }
  }

  /// Runs a body with a statement that is prepared for it.
  func with<Result>(_ text: String, _ body: (Statement) throws -> Result) rethrows -> Result {
    let statement = prepare(text)
    defer { statement.finalize() }
    return try body(statement)
  }
}

/// A prepared statement.
struct Statement {
  let pointer: OpaquePointer
  let connection: Connection

  /// Goes to the next row.
  func next() -> Bool {
    let code = sqlite3_step(pointer)
    if code == SQLITE_ROW { return true }
    connection.check(code)
    return false
  }

  /// Runs a statement that answers nothing.
  func run() {
    connection.check(sqlite3_step(pointer))
    sqlite3_reset(pointer)
  }

  /// Runs an update that must find its row as it remembers it.
  func runOnOneRow() {
    run()
    precondition(connection.changes == 1, "the row is not as it was read")
  }

  func reset() { sqlite3_reset(pointer) }
  func finalize() { sqlite3_finalize(pointer) }
}

// MARK: Values in

extension Statement {
  func bind(_ place: Int32, _ value: Int64) { sqlite3_bind_int64(pointer, place, value) }
  func bind(_ place: Int32, _ value: Int) { sqlite3_bind_int64(pointer, place, Int64(value)) }
  func bind(_ place: Int32, _ value: Bool) { sqlite3_bind_int(pointer, place, value ? 1 : 0) }
  func bind(_ place: Int32, _ value: Double) { sqlite3_bind_double(pointer, place, value) }

  func bind(_ place: Int32, _ value: String) {
    var value = value
    value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        _ = sqlite3_bind_text(pointer, place, characters.baseAddress, Int32(characters.count), copied)
      }
    }
  }

  func bind(_ place: Int32, _ value: UUID) {
    withUnsafeBytes(of: value.uuid) { _ = sqlite3_bind_blob(pointer, place, $0.baseAddress, 16, copied) }
  }

  /// Tells SQLite to copy what it is given.
  private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

// MARK: Values out

extension Statement {
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
  func key(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
  func bool(_ column: Int32) -> Bool { sqlite3_column_int(pointer, column) != 0 }
  func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

  func text(_ column: Int32) -> String {
    let start = sqlite3_column_text(pointer, column)
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func uuid(_ column: Int32) -> UUID {
    UUID(uuid: sqlite3_column_blob(pointer, column)!.loadUnaligned(as: uuid_t.self))
  }
}
