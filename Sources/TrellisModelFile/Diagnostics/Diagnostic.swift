/// A problem in a model file: its position, a description, and a remedy.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  public enum Severity: String, Hashable, Sendable {
    case error, warning, note
  }

  /// A position in a file. Lines and columns count from 1.
  ///
  /// Columns count Unicode scalars, which most editors call characters. A byte order mark takes no column.
  public struct Position: Hashable, Sendable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// Another position that helps to understand a problem.
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

  /// The text `file:line:column: error: sentence [code]`, followed by a line for each note.
  public func rendered() -> String {
    var text = "\(path):\(position.line):\(position.column): \(severity.rawValue): \(message) [\(code.rawValue)]"
    for note in notes { text += "\n\(path):\(note.position.line):\(note.position.column): note: \(note.message)" }
    return text
  }

  public var description: String { rendered() }
}
