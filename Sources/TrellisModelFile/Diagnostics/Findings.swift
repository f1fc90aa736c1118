/// The problems found so far, by byte offset. Lines and columns are computed once, at the end.
final class Findings {
  typealias Note = (message: String, offset: Int)

  private struct Finding {
    let severity: Diagnostic.Severity
    let code: DiagnosticCode
    let message: String
    let offset: Int
    /// For a position inside a JSON string that begins at `offset`: the offset in its text, in bytes of UTF-8.
    var textOffset: Int?
    let notes: [Note]

    func place(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
      textOffset.map { JSONString.place(of: $0, inStringAt: offset, bytes) } ?? offset
    }
  }

  private var kept: [Finding] = []
  private(set) var errorCount = 0
  private(set) var omittedErrorCount = 0
  let suggestions = Suggestions()

  /// Whether no further findings are kept, so that computing suggestions is of no use.
  var isFull: Bool { kept.count >= Limits.keptDiagnostics }

  func error(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    errorCount += 1
    guard !isFull else { return omittedErrorCount += 1 }
    kept.append(Finding(severity: .error, code: code, message: message, offset: offset, notes: notes))
  }

  /// - Parameters:
  ///   - offset: the offset of a JSON string.
  ///   - textOffset: the offset in the string's text, in bytes of UTF-8.
  func error(_ code: DiagnosticCode, at offset: Int, inText textOffset: Int, _ message: String) {
    errorCount += 1
    guard !isFull else { return omittedErrorCount += 1 }
    kept.append(
      Finding(severity: .error, code: code, message: message, offset: offset, textOffset: textOffset, notes: []))
  }

  func warning(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    guard !isFull else { return }
    kept.append(Finding(severity: .warning, code: code, message: message, offset: offset, notes: notes))
  }

  /// All findings with lines and columns, in the order of the file.
  func diagnostics(in bytes: UnsafeBufferPointer<UInt8>, path: String) -> [Diagnostic] {
    guard !kept.isEmpty else { return [] }
    let placed = kept.map { (finding: $0, place: $0.place(in: bytes)) }
    let positions = Positions(of: placed.flatMap { [$0.place] + $0.finding.notes.map(\.offset) }, in: bytes)
    // Findings at the same position keep the order of the passes.
    let sorted = placed.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
    return sorted.map { _, entry in
      let (finding, place) = entry
      return Diagnostic(
        severity: finding.severity, code: finding.code, message: finding.message.asMessage, path: path,
        position: positions[place],
        notes: finding.notes.map { Diagnostic.Note(message: $0.message.asMessage, position: positions[$0.offset]) })
    }
  }
}
