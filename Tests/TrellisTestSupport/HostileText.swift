/// Texts that programs trip over: words and marks of SQL and JSON, quotes, NUL, paths, long and broken-looking Unicode.
package struct HostileText {
  package var random: SeededGenerator

  package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let pieces = [
    "'", "\"", "`", "[", "]", "--", ";", "/*", "*/", "\\", "%", "_", "?", "?1", ":a", "@a", "$a", "%@", "%K", "\\(x)",
    "\u{0}",
    "\n", "\r", "\u{1B}[2J", "\u{202E}", "\u{FEFF}", "\u{FFFD}", "\u{1F468}\u{200D}\u{1F469}", "e\u{301}",
    "\u{1100}\u{1161}", "각", "K", "ß",
    "ﷺ", "\u{10FFFF}", "SELECT", "DROP TABLE", "UNION", "NULL", "_id", "_version", "_entity", "_trellis", "rowid",
    "sqlite_schema",
    "sqlite_", "Song", "Person", "main.", "temp.", "../", "..", "/", "C:", "CON", ".external", "{", "}", "\"_key\":",
    "true",
    "1e999", "-0", "0x", "NaN", "TRUEPREDICATE", "AND", "OR", "SELF", "ANY", "CAST(", "matching", " ", "a", "Z", "9",
  ]

  package mutating func next() -> String {
    if random.below(60) == 0 { return String(repeating: piece(), count: 10_000) }
    return (0..<1 + random.below(6)).map { _ in piece() }.joined()
  }

  private mutating func piece() -> String { Self.pieces[random.below(Self.pieces.count)] }
}
