/// What a database takes for the same text in a comparison.
package enum TextFolding: Hashable, Sendable {
  /// The same characters.
  case exact
  /// Texts that differ in the case of the letters A to Z, as with NOCASE of SQLite.
  case ofASCII
  /// Texts that differ in case, as with citext of PostgreSQL.
  case ofAllLetters
  /// Texts that differ in spaces at the end, as with RTRIM of SQLite.
  case ofTrailingSpaces

  /// The folding of a collation of SQLite; nil for one that only a program knows.
  init?(collation: String) {
    switch collation.uppercased() {
    case "BINARY": self = .exact
    case "NOCASE": self = .ofASCII
    case "RTRIM": self = .ofTrailingSpaces
    default: return nil
    }
  }

  /// The bytes that texts have in common that are the same.
  func folded(_ text: String) -> [UInt8] {
    switch self {
    case .exact: Array(text.utf8)
    case .ofASCII: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    case .ofAllLetters: Array(text.lowercased().utf8)
    case .ofTrailingSpaces: Array(text.utf8.reversed().drop { $0 == 0x20 }.reversed())
    }
  }
}
