import TrellisDiagram

/// Rows of texts in columns, for a terminal. Hangul, Han, kana and emoji take two columns of it.
struct TextTable {
  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: String...) { self.header = header }

  var isEmpty: Bool { rows.isEmpty }

  /// - Parameter cells: as many as the header has. Line breaks and other control characters become spaces.
  mutating func add(_ cells: [String]) { rows.append(cells.map(\.onOneLine)) }

  mutating func add(_ cells: String...) { add(cells) }

  /// The table with its header. The last column has no width of its own, so that it may hold sentences.
  func text() -> String {
    let lines = [header] + rows
    let widths = header.indices.map { column in lines.map { Self.width($0[column]) }.max() ?? 0 }
    var text = Self.line(header, widths)
    text += widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "+") + "\n"
    for row in rows { text += Self.line(row, widths) }
    return text
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (column, cell) in cells.enumerated() {
      line += (column == 0 ? " " : " | ") + cell
      if column < cells.count - 1 { line += String(repeating: " ", count: max(0, widths[column] - width(cell))) }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line + "\n"
  }

  /// The number of columns of a terminal that a text takes.
  static func width(_ text: String) -> Int {
    text.reduce(0) { $0 + (TextWidth.isWide($1) ? 2 : 1) }
  }
}

extension String {
  /// The text with a space for each line break and each other control character.
  var onOneLine: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return String(
      String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}
