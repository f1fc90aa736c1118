internal import CPQ
import TrellisStorage

/// PostgreSQL's client library.
enum ServerLibrary {
  /// Loads the library, once for the process.
  ///
  /// - Throws: ``StoreError`` with the code `libraryUnavailable`.
  static func load() throws(StoreError) {
    guard let problem = trellis_pq_load() else { return }
    throw StoreError(
      .libraryUnavailable, String(cString: problem),
      remedy: "Install libpq 14 or later (Debian: libpq5), or name its file in TRELLIS_LIBPQ_LIBRARY.")
  }
}
