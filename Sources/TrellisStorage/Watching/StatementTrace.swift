public import TrellisSchema

/// Notes what a connection runs while somebody wants to know. A store with a language of its own fills it.
public final class StatementTrace {
  /// A statement and how it was run.
  public struct Statement: Sendable, CustomStringConvertible {
    /// The text, with parameters instead of values.
    public let text: String
    /// Whether the text was compiled before.
    public let isReused: Bool
    /// What the parameters stood for; empty unless values are wanted.
    public fileprivate(set) var values: [StoredValue] = []
    /// How often it was run, one time directly after the other.
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

  /// Notes that a text was compiled; the next run of it counts as not reused.
  public func noteCompiled(_ text: String) { compiled = text }

  /// Notes that a statement is run.
  public func noteRun(_ text: String) {
    if let last = statements.indices.last, statements[last].text == text, statements[last].values.isEmpty {
      statements[last].runs += 1
    } else {
      statements.append(Statement(text: text, isReused: compiled != text))
    }
    compiled = nil
  }

  /// Adds the values of the last statement, if they are wanted.
  public func noteValues(_ values: @autoclosure () -> [StoredValue]) {
    guard includesValues, let last = statements.indices.last else { return }
    statements[last].values = values()
  }

  /// Hands out what was noted and begins anew.
  package func take() -> [Statement] {
    defer { statements.removeAll() }
    return statements
  }
}
