public import TrellisSchema

/// Records the statements that a connection runs. A store with a query language fills it.
public final class StatementTrace {
  /// A statement and its execution.
  public struct Statement: Sendable, CustomStringConvertible {
    /// The text, with parameters instead of values.
    public let text: String
    /// Whether the statement was compiled before.
    public let isReused: Bool
    /// The values of the parameters; empty unless values are included.
    public fileprivate(set) var values: [StoredValue] = []
    /// The number of consecutive runs.
    public fileprivate(set) var runs = 1

    public var description: String {
      let times = runs > 1 ? ", \(runs) times" : ""
      let shown = values.isEmpty ? "" : " ← \(values.map { "\($0)" }.joined(separator: ", "))"
      return "\(text) (\(isReused ? "reused" : "compiled")\(times))\(shown)"
    }
  }

  public private(set) var statements: [Statement] = []
  let includesValues: Bool
  private var compiled: String?

  public init(includesValues: Bool) { self.includesValues = includesValues }

  /// Records that a text was compiled. Its next run does not count as reused.
  public func noteCompiled(_ text: String) { compiled = text }

  /// Records a run of a statement.
  public func noteRun(_ text: String) {
    if let last = statements.indices.last, statements[last].text == text, statements[last].values.isEmpty {
      statements[last].runs += 1
    } else {
      statements.append(Statement(text: text, isReused: compiled != text))
    }
    compiled = nil
  }

  /// Adds the values of the last statement, if values are included.
  public func noteValues(_ values: @autoclosure () -> [StoredValue]) {
    guard includesValues, let last = statements.indices.last else { return }
    statements[last].values = values()
  }

  /// Returns the recorded statements and clears the trace.
  package func take() -> [Statement] {
    defer { statements.removeAll() }
    return statements
  }
}
