/// What the passes have found so far, by byte offset. Positions are counted once, at the end.
final class Findings {
  typealias Note = (message: String, offset: Int)

  private struct Finding {
    let severity: Diagnostic.Severity
    let code: DiagnosticCode
    let message: String
    let offset: Int
    let notes: [Note]
  }

  private var kept: [Finding] = []
  private(set) var errorCount = 0
  private(set) var omittedErrorCount = 0
  let suggestions = Suggestions()

  func error(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    errorCount += 1
    guard kept.count < Limits.keptDiagnostics else { return omittedErrorCount += 1 }
    kept.append(Finding(severity: .error, code: code, message: message, offset: offset, notes: notes))
  }

  func warning(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    guard kept.count < Limits.keptDiagnostics else { return }
    kept.append(Finding(severity: .warning, code: code, message: message, offset: offset, notes: notes))
  }

  /// Everything found, with lines and columns, in the order of the file.
  func diagnostics(in bytes: UnsafeBufferPointer<UInt8>, path: String) -> [Diagnostic] {
    guard !kept.isEmpty else { return [] }
    let positions = Positions(of: kept.flatMap { [$0.offset] + $0.notes.map(\.offset) }, in: bytes)
    // Sorting by place keeps the order of passes where two findings share one.
    let sorted = kept.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
    return sorted.map { _, finding in
      Diagnostic(
        severity: finding.severity, code: finding.code, message: finding.message, path: path,
        position: positions[finding.offset],
        notes: finding.notes.map { Diagnostic.Note(message: $0.message, position: positions[$0.offset]) })
    }
  }
}
