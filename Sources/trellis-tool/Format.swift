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
