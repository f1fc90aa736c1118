internal import CSQLite

/// The reason why a file of another program cannot be read. Each product that reads one has its own error for users.
package struct ForeignFileError: Error {
  package enum Reason: Sendable {
    /// SQLite is missing, or too old.
    case noLibrary
    /// The file is encrypted, or is no SQLite file.
    case noDatabase
    /// Another program has locked the file.
    case busy
    /// The file, or the disk, cannot be used.
    case inaccessible
    /// The content of the file contradicts itself.
    case damaged
    /// The schema has something that only the program knows that made the file: a function or a collation.
    case foreign
    /// A statement fails for another reason.
    case refused
  }

  package let reason: Reason
  /// The message of SQLite, without a period.
  package let message: String

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  init(code: Int32, _ message: String) {
    let reason: Reason =
      switch code & 0xFF {
      case TRELLIS_SQLITE_NOTADB: .noDatabase
      case TRELLIS_SQLITE_BUSY, TRELLIS_SQLITE_LOCKED: .busy
      case TRELLIS_SQLITE_FULL, TRELLIS_SQLITE_IOERR, TRELLIS_SQLITE_CANTOPEN, TRELLIS_SQLITE_PERM,
        TRELLIS_SQLITE_READONLY:
        .inaccessible
      case TRELLIS_SQLITE_CORRUPT: .damaged
      default: .refused
      }
    // SQLite has no code of its own for what a schema uses and the connection lacks.
    let isForeign = Self.foreign.contains { message.contains($0) } && (reason == .damaged || reason == .refused)
    self.init(isForeign ? .foreign : reason, message)
  }

  private static let foreign = [
    "unsafe use of ", "unknown function: ", "no such function: ", "no such collation sequence: ", "no such module: ",
  ]
}
