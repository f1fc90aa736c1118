/// A value, a reference or a row of a database that has no place in the model.
public struct AdoptionFinding: Hashable, Sendable, CustomStringConvertible {
  /// The table.
  public let table: String
  /// The row: its number as `#7`, or the values of its key.
  public let row: String
  /// The column; nil for the whole row.
  public let column: String?
  /// What it is, as the end of a sentence.
  public let message: String

  /// The finding as a line: `film#7.length: has a text, and is an int64`.
  public var description: String { "\(table)\(row)\(column.map { ".\($0)" } ?? ""): \(message)" }
}

/// The result of copying the rows of a database.
public struct AdoptionReport: Sendable, CustomStringConvertible {
  /// The number of copied rows of an entity.
  public struct RowCount: Hashable, Sendable, CustomStringConvertible {
    /// The entity.
    public let entity: String
    /// The table that the rows come from.
    public let table: String
    /// The number of rows.
    public let rows: Int

    /// The number and the entity: `12 × Entry`.
    public var description: String { "\(rows) × \(entity)" }
  }

  /// The copied rows, for each entity.
  public internal(set) var rows: [RowCount] = []
  /// The number of copied pairs of many-to-manys.
  public internal(set) var pairs = 0
  /// What was left out, in the order of the tables; ``mostFindings`` at most.
  public internal(set) var left: [AdoptionFinding] = []
  /// The number of all findings.
  public internal(set) var leftCount = 0

  /// The most findings that are kept.
  public static let mostFindings = 10_000

  package init() {}

  mutating func add(_ finding: AdoptionFinding) {
    leftCount += 1
    if left.count < Self.mostFindings { left.append(finding) }
  }

  /// The report as lines, one for each entity and each finding.
  public var description: String {
    let copied = rows.filter { $0.rows > 0 }.map { "copied \($0)" }
    let counts = (copied.isEmpty ? ["copied no rows"] : copied) + (pairs > 0 ? ["copied \(pairs) pairs"] : [])
    return (counts + left.map { "left-out \($0)" } + hidden).joined(separator: "\n")
  }

  private var hidden: [String] { leftCount > left.count ? ["and \(leftCount - left.count) more"] : [] }

  /// The findings as lines of a message.
  func lines(_ limit: Int) -> String {
    let shown = left.prefix(limit).map(\.description)
    return (shown + (leftCount > shown.count ? ["and \(leftCount - shown.count) more"] : [])).joined(separator: "\n")
  }
}
