internal import CSQLite
import TrellisStorage

/// The SQLite library, loaded on first use.
enum SQLiteLibrary {
  /// STRICT tables need 3.37; IS TRUE on rows of RETURNING and fixes of STRICT need 3.38.
  static let minimumVersion: Int32 = 3_038_000

  /// - Throws: ``StoreError`` if the library is missing, too old or not thread-safe.
  static func load() throws(StoreError) {
    if let reason = trellis_sqlite_load() {
      throw unavailable(String(cString: reason))
    }
    let version = String(cString: trellis_sqlite3_libversion())
    guard trellis_sqlite3_libversion_number() >= minimumVersion else {
      throw unavailable("SQLite \(version) is too old: Trellis needs 3.38 or later.")
    }
    guard trellis_sqlite3_threadsafe() != 0 else {
      throw unavailable("This SQLite \(version) was built without support for threads.")
    }
  }

  private static func unavailable(_ message: String) -> StoreError {
    StoreError(
      .libraryUnavailable, message,
      remedy: "Install SQLite 3.38 or later (libsqlite3), or set TRELLIS_SQLITE_LIBRARY to the library's path.")
  }
}
