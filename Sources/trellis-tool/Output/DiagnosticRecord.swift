import Foundation
import TrellisModel
import TrellisModelFile

/// A diagnostic for other programs.
struct DiagnosticRecord {
  struct Note {
    let line: Int
    let column: Int
    let message: String
  }

  let path: String
  let line: Int
  let column: Int
  let severity: String
  let code: String
  let message: String
  let notes: [Note]

  init(_ diagnostic: Diagnostic) {
    path = diagnostic.path
    line = diagnostic.position.line
    column = diagnostic.position.column
    severity = diagnostic.severity.rawValue
    code = diagnostic.code.rawValue
    message = diagnostic.message
    notes = diagnostic.notes.map {
      Note(line: $0.position.line, column: $0.position.column, message: $0.message)
    }
  }

  /// The record for a file that could not be read, so that a program learns of it in the same way.
  init(unreadable path: String, _ failure: ToolFailure) {
    self.path = path
    line = 1
    column = 1
    severity = Diagnostic.Severity.error.rawValue
    code = "unreadable"
    message = String(failure.text.split(separator: ": error: ").last ?? "").trimmingCharacters(in: .newlines)
    notes = []
  }

  /// A list with one record per line, so that a line can be found and compared.
  static func json(_ records: [DiagnosticRecord]) -> String {
    let lines = records.map(\.json)
    return lines.isEmpty ? "[]\n" : "[\n  \(lines.joined(separator: ",\n  "))\n]\n"
  }

  /// The keys stand in the order in which people read a diagnostic.
  private var json: String {
    let notes = notes.map { note in
      #"{ "line": \#(note.line), "column": \#(note.column), "message": \#(JSONText.quoted(note.message)) }"#
    }
    return #"{ "path": \#(JSONText.quoted(path)), "line": \#(line), "column": \#(column), "severity": "\#(severity)", "#
      + #""code": "\#(code)", "message": \#(JSONText.quoted(message)), "notes": [\#(notes.joined(separator: ", "))] }"#
  }
}
