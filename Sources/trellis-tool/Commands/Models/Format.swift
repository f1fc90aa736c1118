import TrellisModel
import TrellisModelFile

/// `trellis format`: model files in the canonical layout.
enum Format {
  static func run(_ paths: [String], onlyChecks: Bool) -> ExitStatus {
    var status = ExitStatus.success
    for path in paths {
      do throws(ToolFailure) {
        guard let text = try changedText(of: path) else { continue }
        if onlyChecks {
          Console.print("\(path)\n")
          status = max(status, .failure)
        } else {
          try OutputFile.replace(path, with: text)
        }
      } catch {
        Console.complain(error.text)
        status = max(status, error.status)
      }
    }
    return status
  }

  /// The text of a file in the canonical layout; nil if that is how it is written already.
  private static func changedText(of path: String) throws(ToolFailure) -> [UInt8]? {
    let bytes = try InputFile.read(path)
    guard ModelHistory.version(in: ModelHistory.File(path: path, bytes: bytes)) == nil else {
      throw ToolFailure(.failure, "\(path):1:1: error: This is a released version, which stays as it was released.")
    }
    let (root, diagnostics) = ModelFile.readJSON(bytes, path: path)
    guard let root else {
      throw ToolFailure(.failure, diagnostics.prefix(Limits.shownDiagnostics).map { $0.rendered() + "\n" }.joined())
    }
    let text = ModelLayout(root, in: bytes).text()
    guard text.count <= Limits.fileSize else {
      throw ToolFailure(
        .failure, "\(path):1:1: error: With its line breaks the file would have more than \(Limits.fileSize) bytes.")
    }
    return text == bytes ? nil : text
  }
}

// MARK: - Command

extension Format {
  static let command = Command(
    operands: "MODEL...", needed: "one MODEL at least", count: 1...Int.max,
    options: [
      .init(name: "check", value: nil, summary: "change nothing, list the files that would change; exit 1 if any")
    ], summary: "write model files in the canonical layout",
    details: """
      Only white space changes. A file with errors in its JSON stays as it is. Exit 0 if all is done, 1 if a file has
      such errors, 66 if a file cannot be read, 74 if one cannot be written.
      """
  ) { arguments throws(ToolFailure) in
    run(arguments.operands, onlyChecks: arguments.has("check"))
  }
}
