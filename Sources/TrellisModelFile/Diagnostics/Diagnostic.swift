/// One problem of a model file: where it is, what it is, and the way out.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  public enum Severity: String, Hashable, Sendable {
    case error, warning, note
  }

  /// A place in a file. Lines and columns count from 1.
  ///
  /// Columns count Unicode scalars, which is what editors call characters for nearly all text; a byte order mark
  /// takes no column.
  public struct Position: Hashable, Sendable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// Something else that one must see to understand a problem, at its own place.
  public struct Note: Hashable, Sendable {
    public let message: String
    public let position: Position

    public init(message: String, position: Position) {
      self.message = message
      self.position = position
    }
  }

  public let severity: Severity
  public let code: DiagnosticCode
  public let message: String
  public let path: String
  public let position: Position
  public let notes: [Note]

  /// `file:line:column: error: sentence [code]`, then a line for each note.
  public func rendered() -> String {
    var text = "\(path):\(position.line):\(position.column): \(severity.rawValue): \(message) [\(code.rawValue)]"
    for note in notes { text += "\n\(path):\(note.position.line):\(note.position.column): note: \(note.message)" }
    return text
  }

  public var description: String { rendered() }
}
