internal import CSQLite
package import Foundation

/// The key of an encrypted file. Only the program has it: each connection asks for it, and keeps nothing of it.
package struct FileKey: Sendable {
  private let ask: @Sendable () throws -> Data

  package init(_ ask: @escaping @Sendable () throws -> Data) { self.ask = ask }

  /// Passes the key to a function of SQLite, which gets a pointer and a length.
  ///
  /// - Throws: ``StoreError`` without the text of the program's error, which may contain the key.
  func pass<Result>(for path: String, _ body: (UnsafeRawPointer, Int32) -> Result) throws(StoreError) -> Result {
    let key: Data
    do { key = try ask() } catch let error as StoreError { throw error } catch {
      throw StoreError(
        .noKey, "The key of \(path) could not be had: the program's closure has thrown \(type(of: error)).",
        remedy: "Unlock what keeps the key, and try again.")
    }
    let result: Result? = key.withUnsafeBytes { bytes in
      // SQLite takes an empty key for none, and would write plain text.
      guard let start = bytes.baseAddress, let count = Int32(exactly: bytes.count), count > 0 else { return nil }
      return body(start, count)
    }
    guard let result else {
      throw StoreError(
        .noKey, "The key of \(path) is empty, or has more than two thousand million bytes.",
        remedy: "Give the bytes of a key, or open a store without one.")
    }
    return result
  }
}

extension Database {
  /// Gives SQLite the key before it reads anything.
  func unlock(with key: FileKey) throws(StoreError) {
    try check(try key.pass(for: path) { trellis_sqlite_key(handle, $0, $1) }, doing: "take the key")
    // Temporary files would contain plain text.
    try execute("PRAGMA temp_store = MEMORY", doing: "prepare the connection")
  }

  /// Reads the first page. Only that shows whether the key is right. What a crashed program has left stays as it is.
  func checkKey() throws(StoreError) {
    _ = trellis_sqlite3_db_config(handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    statistics.run += 1
    let code = trellis_sqlite3_exec(handle, "SELECT 1 FROM sqlite_schema LIMIT 1", nil, nil, nil)
    if code & 0xFF == TRELLIS_SQLITE_NOTADB {
      throw StoreError(
        .wrongKey,
        "\(path) cannot be decrypted: it has another key, or its first page is damaged, or it is no SQLite database.",
        remedy: "Give the key that the store has now. If this is the one, restore the file from a backup.")
    }
    try check(code, doing: "read the file")
    _ = trellis_sqlite3_db_config(handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// The statements that drop the temporary tables and triggers of the connection, and say where the next ones are.
  ///
  /// - Parameter kind: FILE or MEMORY. Those of an encrypted file are in memory in any case.
  func settingsOfTemporaryTables(_ kind: String) -> String {
    // A setting that does not change would keep them.
    isEncrypted ? "PRAGMA temp_store = FILE; PRAGMA temp_store = MEMORY" : "PRAGMA temp_store = \(kind)"
  }
}

extension FileHeader {
  /// What the header of an encrypted file says, which only SQLite can read.
  ///
  /// - Throws: ``StoreError`` if the file is not a Trellis store that this version can read.
  static func check(_ database: Database) throws(StoreError) {
    guard database.isEncrypted else { return }
    guard try database.number("PRAGMA application_id") == Int(applicationID) else {
      throw foreign("\(database.path) is a SQLite database of another program.")
    }
    let found = try database.number("PRAGMA user_version")
    guard found >= 0, found <= Int(format) else { throw newer(database.path, found: String(found)) }
    guard try database.text("PRAGMA encoding") == "UTF-8" else { throw otherEncoding(database.path) }
  }

  /// - Throws: ``StoreError`` if a file that was written with a key contains plain text: the library's functions for keys do
  ///   nothing.
  static func checkEncryption(of path: String) throws(StoreError) {
    guard let start = try? PlatformFiles.start(of: path, magic.count), start == magic else { return }
    for end in ["", "-journal", "-wal", "-shm"] { PlatformFiles.remove(path + end) }
    throw SQLiteLibrary.noEncryption(
      "The SQLite library has taken a key for \(path), but does not encrypt. The file was removed before it had data.")
  }
}
