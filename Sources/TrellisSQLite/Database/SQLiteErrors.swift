internal import CSQLite
import TrellisStorage

/// Converts SQLite's result codes to ``StoreError``.
enum SQLiteErrors {
  /// - Parameter doing: the failed operation, as the end of a sentence.
  static func error(_ code: Int32, _ message: String, path: String, doing: String) -> StoreError {
    let what = "SQLite could not \(doing) in \(path): \(message)"
    switch code & 0xFF {
    case TRELLIS_SQLITE_BUSY, TRELLIS_SQLITE_LOCKED:
      return StoreError(
        .busy, "\(path) was held by somebody else for longer than the time-out.",
        remedy: "Try again, or open the store with a longer busyTimeout.")
    case TRELLIS_SQLITE_FULL:
      return StoreError(.full, "There is no room for \(path).", remedy: "Make room on the disk and try again.")
    case TRELLIS_SQLITE_IOERR, TRELLIS_SQLITE_PROTOCOL:
      return StoreError(.inputOutput, "\(what) (code \(code)).", remedy: "Check the disk; then open the store again.")
    case TRELLIS_SQLITE_CORRUPT:
      return damaged(path, message)
    case TRELLIS_SQLITE_NOTADB:
      return damaged(path, message)
    case TRELLIS_SQLITE_READONLY:
      if code == TRELLIS_SQLITE_READONLY_DBMOVED { return moved(path) }
      return StoreError(
        .readOnly, "\(path) may not be written to.", remedy: "Change the permissions, or open the store readOnly.")
    case TRELLIS_SQLITE_CANTOPEN, TRELLIS_SQLITE_PERM, TRELLIS_SQLITE_AUTH:
      return StoreError(
        .cannotOpen, "\(path) cannot be opened: \(message).",
        remedy: "Check that the folder exists and may be written to.")
    case TRELLIS_SQLITE_TOOBIG:
      return StoreError(
        .limit, "A value or a statement is too large for SQLite.",
        remedy: "Keep values below one thousand million bytes, or use externalStorage.")
    case TRELLIS_SQLITE_NOMEM:
      return StoreError(.limit, "There is not enough memory to \(doing).", remedy: "Ask for fewer objects at once.")
    default:
      return other(code, message, what)
    }
  }

  private static func other(_ code: Int32, _ message: String, _ what: String) -> StoreError {
    let limits = ["maximum depth", "stack overflow", "too many", "too large", "at most"]
    if limits.contains(where: { message.contains($0) }) {
      return StoreError(
        .limit, "The request is too large for SQLite: \(message).",
        remedy: "Put the terms into one list of and, or, or use a list of values with isIn.")
    }
    if message.contains("no such table") || message.contains("no such column") || message.contains("no such index") {
      return StoreError(.damaged, "\(what).", remedy: "Restore the file from a backup.")
    }
    return StoreError(.internalError, "\(what) (code \(code)).", remedy: "Report this as a mistake in Trellis.")
  }

  static func moved(_ path: String) -> StoreError {
    StoreError(
      .changedByOthers, "\(path) was removed, renamed or replaced while it was open.",
      remedy: "Put the file back, or open the store again to go on with what is there now.")
  }

  static func damaged(_ path: String, _ message: String) -> StoreError {
    StoreError(.damaged, "\(path) is damaged: \(message).", remedy: "Restore the file from a backup.")
  }
}
