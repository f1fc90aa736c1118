import TrellisDiagram

/// Rows with aligned columns.
struct TextTable {
  struct Column {
    let title: String
    /// Whether cells are aligned at their end, as numbers are.
    var isNumber = false
  }

  private let columns: [Column]
  private var rows: [[String]] = []
  private static let gap = "  "

  init(_ columns: [Column]) { self.columns = columns }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// A table without titles.
  ///
  /// - Parameter numbers: The columns that are aligned at their end.
  init(_ rows: [[String]], numbers: Set<Int> = []) {
    columns = (rows.first ?? []).indices.map { Column(title: "", isNumber: numbers.contains($0)) }
    self.rows = rows
  }

  /// The table with its titles, one row a line.
  ///
  /// - Parameter width: The maximum number of cells of a line. Columns that do not fit are left out, but not the first.
  func text(width: Int = .max) -> String {
    let widths = columns.indices.map { column in
      ([columns[column].title] + rows.map { $0[column] }).map(CellWidth.of).max() ?? 0
    }
    var shown = 0
    var used = 0
    while shown < widths.count, shown == 0 || used + Self.gap.count + widths[shown] <= width {
      used += (shown == 0 ? 0 : Self.gap.count) + widths[shown]
      shown += 1
    }
    let titles = columns.allSatisfy(\.title.isEmpty) ? [] : [columns.map(\.title)]
    return (titles + rows).map { line($0, Array(widths[..<shown])) }.joined()
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var parts: [String] = []
    for (number, (cell, width)) in zip(cells, widths).enumerated() {
      let space = String(repeating: " ", count: max(0, width - CellWidth.of(cell)))
      let isLast = number == widths.count - 1
      parts.append(columns[number].isNumber ? space + cell : cell + (isLast ? "" : space))
    }
    var line = parts.joined(separator: Self.gap)
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}
