/// Rows of text in aligned columns, for a terminal.
struct TextTable {
  private let rows: [[String]]
  private let numbers: Set<Int>

  /// - Parameters:
  ///   - rows: The cells of each row, all with as many cells.
  ///   - numbers: The columns that are aligned at their right end.
  init(_ rows: [[String]], numbers: Set<Int> = []) {
    self.rows = rows
    self.numbers = numbers
  }

  /// The rows, each in one line, with two spaces between columns and none at the end.
  var lines: [String] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], Self.width(of: cell))
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - Self.width(of: cell))
        line += (column > 0 ? "  " : "") + (numbers.contains(column) ? space + cell : cell + space)
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The rows as text.
  var text: String { lines.map { $0 + "\n" }.joined() }

  /// The rows without the last columns, as far as a line would be wider than a number of cells. The first column stays.
  static func fitting(_ rows: [[String]], width: Int) -> [[String]] {
    var shown = 0
    var used = -2
    while let column = rows.first.flatMap({ shown < $0.count ? shown : nil }) {
      used += 2 + (rows.map { Self.width(of: $0[column]) }.max() ?? 0)
      if shown > 0 && used > width { break }
      shown += 1
    }
    return rows.map { Array($0.prefix(shown)) }
  }

  /// The number of cells of a terminal that a text takes: two for Hangul, Han, kana, full-width forms and emoji.
  static func width(of text: String) -> Int { text.reduce(0) { $0 + (isWide($1) ? 2 : 1) } }

  private static func isWide(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first else { return false }
    if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return true }
    return wideRanges.contains { $0.contains(first.value) }
  }

  /// The scalars that Unicode Standard Annex 11 calls wide or full-width, in coarse ranges.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7FB, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
  ]
}
