import TrellisModelFile

/// `trellis check`: what is wrong with models and their released versions.
enum Check {
  static func run(_ paths: [String], asJSON: Bool) -> ExitStatus {
    var status = ExitStatus.success
    var found: [DiagnosticRecord] = []
    var text = ""
    var neighbors: [ModelFile.Neighbor] = []
    for path in paths {
      do throws(ToolFailure) {
        let findings = try findings(in: path, besides: &neighbors)
        found += findings.diagnostics.map { DiagnosticRecord($0) }
        text += findings.text
        if findings.diagnostics.contains(where: { $0.severity == .error }) { status = max(status, .failure) }
      } catch {
        found.append(DiagnosticRecord(unreadable: path, error))
        text += error.text
        status = max(status, error.status)
      }
    }
    if asJSON { Console.print(DiagnosticRecord.json(found)) } else { Console.complain(text) }
    return status
  }

  /// The text may leave out some of many diagnostics.
  private typealias Findings = (diagnostics: [Diagnostic], text: String)

  /// - Parameter neighbors: the models before this one. A clash is reported once, at the later model.
  private static func findings(
    in path: String, besides neighbors: inout [ModelFile.Neighbor]
  ) throws(ToolFailure) -> Findings {
    let bytes = try InputFile.read(path)
    switch ModelHistory.version(in: ModelHistory.File(path: path, bytes: bytes)) {
    case .success?: return ([], "")
    case .failure(let refusal)?: return ([refusal.diagnostic], refusal.diagnostic.rendered() + "\n")
    case nil: break
    }
    let result = ModelFile.parse(bytes, path: path, besides: neighbors)
    if let neighbor = ModelFile.Neighbor(bytes, path: path) { neighbors.append(neighbor) }
    let history = try ModelHistory.folder(besideModel: path).map { folder throws(ToolFailure) in
      try InputFile.history(in: folder)
    }
    var others = history?.diagnostics ?? []
    let file = ModelHistory.File(path: path, bytes: bytes)
    if let error = result.description.flatMap({ history?.returnError(of: $0, in: file) }) { others.append(error) }
    return (result.diagnostics + others, result.rendered() + others.map { $0.rendered() + "\n" }.joined())
  }
}

// MARK: - Command

extension Check {
  static let command = Command(
    operands: "MODEL...", needed: "one MODEL at least", count: 1...Int.max,
    options: [.init(name: "json", value: nil, summary: "print the diagnostics as a list of JSON objects")],
    summary: "say what is wrong with models",
    details: """
      The models count as those of one target: their types need different names. The released versions beside a model
      are checked too. Exit 0 if there are no errors, 1 if there are, 66 if a file cannot be read.
      """
  ) { arguments throws(ToolFailure) in
    run(arguments.operands, asJSON: arguments.has("json"))
  }
}
