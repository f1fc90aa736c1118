internal import CLinkedSQLite
public import TrellisStorage

extension SQLiteLibrary {
  /// The library `sqlite3` that the program is linked with, for programs without dynamic libraries.
  ///
  /// ```swift
  /// import TrellisLinkedSQLite
  ///
  /// try SQLiteLibrary.linked.use()
  /// ```
  /// The linker needs the library: `libsqlite3-dev` on Debian, nothing more on Apple platforms.
  public static var linked: SQLiteLibrary { .functions(trellis_linked_sqlite()) }
}
