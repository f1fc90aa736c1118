import TrellisDiagram

/// Rows of text in aligned columns, for a terminal. The first row may have the titles.
struct TextTable {
  private var rows: [[String]]
  private let numbers: Set<Int>

  /// - Parameters:
  ///   - rows: The cells of each row, all with as many cells.
  ///   - numbers: The columns that are aligned at their right end.
  init(_ rows: [[String]], numbers: Set<Int> = []) {
    self.rows = rows
    self.numbers = numbers
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The rows, each in one line, with two spaces between columns and none at the end.
  var lines: [String] {
    let widths = Self.widths(of: rows)
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - CellWidth.of(cell))
        line += (column > 0 ? "  " : "") + (numbers.contains(column) ? space + cell : cell + space)
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The rows as text.
  var text: String { lines.map { $0 + "\n" }.joined() }

  /// The rows without the last columns, as far as a line would be wider than a number of cells. The first column stays.
  static func fitting(_ rows: [[String]], width: Int) -> [[String]] {
    var used = -2
    let shown = widths(of: rows).enumerated().prefix { column, columnWidth in
      used += columnWidth + 2
      return column == 0 || used <= width
    }.count
    return rows.map { Array($0.prefix(shown)) }
  }

  private static func widths(of rows: [[String]]) -> [Int] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], CellWidth.of(cell))
      }
    }
    return widths
  }
}
