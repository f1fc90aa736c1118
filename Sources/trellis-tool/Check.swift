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
        let bytes = try InputFile.read(path)
        let result = ModelFile.parse(bytes, path: path, besides: neighbors)
        // A clash is reported once, at the later model.
        if let neighbor = ModelFile.Neighbor(bytes, path: path) { neighbors.append(neighbor) }
        let history = try ModelHistory.folder(besideModel: path).map { folder throws(ToolFailure) in
          try InputFile.history(in: folder)
        }
        let edited = history?.diagnostics ?? []
        found += (result.diagnostics + edited).map { DiagnosticRecord($0) }
        text += result.rendered() + edited.map { $0.rendered() + "\n" }.joined()
        if result.hasErrors || !edited.isEmpty { status = max(status, .failure) }
      } catch {
        found.append(DiagnosticRecord(unreadable: path, error))
        text += error.text
        status = max(status, error.status)
      }
    }
    if asJSON { Console.print(DiagnosticRecord.json(found)) } else { Console.complain(text) }
    return status
  }
}
