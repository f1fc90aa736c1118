internal import CSQLite

/// The SQLite library of the process.
///
/// A program that does nothing uses the system's, which is loaded when the first store opens. Another one is chosen before:
/// ```swift
/// try SQLiteLibrary.file("/opt/sqlcipher/lib/libsqlcipher.so").use()
/// ```
/// All stores of a process use one library: two copies of SQLite in a process do not see each other's locks, and closing a file in
/// one of them would release the locks of the other.
public struct SQLiteLibrary: Sendable {
  private enum Source: Sendable {
    case system
    case file(String)
    /// The address of a table.
    case functions(UInt)
  }

  private let source: Source

  /// The library of the system, or the one that the environment variable `TRELLIS_SQLITE_LIBRARY` names.
  public static let system = SQLiteLibrary(source: .system)

  /// The library in a file, such as a build with encryption.
  ///
  /// - Parameter path: The path of a dynamic library, or a name that the system searches for.
  public static func file(_ path: String) -> SQLiteLibrary { SQLiteLibrary(source: .file(path)) }

  /// The functions of a build that the program contains.
  ///
  /// - Parameter table: A `trellis_sqlite_library` of the product `TrellisSQLiteFunctions`, whose header shows how a C function
  ///   makes it. It lives as long as the program.
  public static func functions(_ table: UnsafeRawPointer) -> SQLiteLibrary {
    SQLiteLibrary(source: .functions(UInt(bitPattern: table)))
  }

  /// Chooses this library for the process and loads it. To choose it again does nothing.
  ///
  /// Call it from any thread before the first store opens, for example at the start of `main.swift`.
  ///
  /// - Throws: ``StoreError``: `otherLibrary` if another one is in use, `libraryUnavailable` if this one cannot be loaded, is older
  ///   than 3.38 or lacks a function, which the message names. Then another one may be chosen.
  public func use() throws(StoreError) {
    var isOther: Int32 = 0
    let reason =
      switch source {
      case .system: trellis_sqlite_choose(nil, nil, &isOther)
      case .file(let path): trellis_sqlite_choose(path, nil, &isOther)
      case .functions(let address): trellis_sqlite_choose(nil, UnsafeRawPointer(bitPattern: address), &isOther)
      }
    guard let reason else { return }
    guard isOther == 0 else {
      throw StoreError(
        .otherLibrary, "SQLite \(Self.version) is in use already, and a process has one SQLite library.",
        remedy: "Choose the library once, before the first store opens.")
    }
    throw Self.unavailable(String(cString: reason))
  }

  /// Loads the chosen library, or the system's if none was chosen.
  ///
  /// - Throws: ``StoreError`` if the library is missing, too old or not thread-safe.
  static func load() throws(StoreError) {
    if let reason = trellis_sqlite_load() { throw unavailable(String(cString: reason)) }
  }

  /// Loads the library for files with a key, if there is one.
  ///
  /// - Throws: ``StoreError`` if the library cannot encrypt them.
  static func load(for key: FileKey?) throws(StoreError) {
    try load()
    guard key != nil, trellis_sqlite_has_keys() == 0 else { return }
    throw noEncryption("SQLite \(version), which is in use, cannot encrypt files, so nothing was written.")
  }

  static func noEncryption(_ message: String) -> StoreError {
    StoreError(
      .noEncryption, message,
      remedy: "Choose a library with encryption by SQLiteLibrary.file(…).use(), before the first store opens.")
  }

  private static var version: String { String(cString: trellis_sqlite3_libversion()) }

  private static func unavailable(_ message: String) -> StoreError {
    StoreError(
      .libraryUnavailable, message,
      remedy: "Install SQLite 3.38 or later (libsqlite3), or set TRELLIS_SQLITE_LIBRARY to the library's path.")
  }
}
