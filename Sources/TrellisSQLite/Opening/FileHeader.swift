import TrellisStorage

/// The first hundred bytes of a file, read without SQLite, which would leave other files beside it.
enum FileHeader {
  /// "Trls", as SQLite's application id.
  static let applicationID: UInt32 = 0x5472_6C73
  /// The newest file format that this version of Trellis supports.
  static let format: UInt32 = 1
  static let length = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)

  /// Checks the header of a file that is not empty.
  ///
  /// - Throws: ``StoreError`` if the file is not a Trellis store that this version can read.
  static func check(_ start: [UInt8], path: String) throws(StoreError) {
    guard start.count == length, start.starts(with: magic) else {
      if isDocument(start) {
        throw StoreError(
          .foreignFile, "\(path) is a JSON document, and no SQLite database.", remedy: "Open it with .json(at:).")
      }
      throw foreign("\(path) is no SQLite database.")
    }
    guard number(start, at: 68) == applicationID else {
      throw foreign("\(path) is a SQLite database of another program.")
    }
    let found = number(start, at: 60)
    guard found <= format else { throw newer(path, found: String(found)) }
    try checkEncoding(number(start, at: 56), path)
  }

  /// Trellis creates its files with UTF-8 texts, and compares and sorts them by their bytes.
  private static func checkEncoding(_ encoding: UInt32, _ path: String) throws(StoreError) {
    switch encoding {
    case 1: return
    case 2, 3: throw foreign("\(path) holds its texts as UTF-16, which no store of Trellis does.")
    default: throw SQLiteErrors.damaged(path, "the encoding of its texts is unknown")
    }
  }

  /// Whether a file begins like a JSON store.
  private static func isDocument(_ start: [UInt8]) -> Bool {
    start.starts(with: "{".utf8) && String(decoding: start, as: UTF8.self).contains("\"trellis\"")
  }

  static func newer(_ path: String, found: String) -> StoreError {
    StoreError(
      .newerFormat, "\(path) was written by a newer version of Trellis (format \(found), known up to \(format)).",
      remedy: "Update Trellis in this program.")
  }

  /// The length of the part of a rollback journal that contains the original file length
  /// (https://sqlite.org/fileformat.html#the_rollback_journal).
  static let journalLength = 20
  private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  /// Whether this is the start of a rollback journal for a file that was empty before.
  static func takesBackToNothing(_ journal: [UInt8]) -> Bool {
    journal.count == journalLength && journal.starts(with: journalMagic) && number(journal, at: 16) == 0
  }

  private static func foreign(_ message: String) -> StoreError {
    StoreError(.foreignFile, message, remedy: "Choose another file; Trellis does not write to files of others.")
  }

  private static func number(_ data: [UInt8], at offset: Int) -> UInt32 {
    data.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
