import Foundation
import TrellisModel
import TrellisModelFile
import TrellisStorage

/// `trellis diff`: how stored data of one model becomes that of another. With a store, also how the store's own data
/// does, with the numbers of rows.
enum Diff {
  static func run(_ old: String, _ new: String, store: String?) throws(ToolFailure) -> ExitStatus {
    let current = try model(in: new)
    var outcomes: [PlanReport.Outcome] = []
    if let store {
      let report = try StorePlan.report(store, to: current.model)
      Console.print("\(store) → \(current.title)\n\(report.text)")
      outcomes.append(report.outcome)
    }
    for stored in try models(in: old) {
      let report = try PlanReport(from: stored.model, to: current.model)
      Console.print("\(stored.title) → \(current.title)\n\(report.text)")
      outcomes.append(report.outcome)
    }
    return outcomes.max()?.status ?? .success
  }

  // MARK: Models

  private struct Side {
    /// How the model is called in the output.
    let title: String
    let model: Model
  }

  /// The models of a file or of a history's folder.
  private static func models(in path: String) throws(ToolFailure) -> [Side] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      return [try model(in: path)]
    }
    let versions = try Release.unchanged(InputFile.history(in: path)).versions
    guard !versions.isEmpty else { throw InputFile.unreadable(path, "There is no released version in the folder.") }
    return try versions.map { version throws(ToolFailure) in
      try side(version, InputFile.file(ModelHistory.fileName(of: version.number), in: path))
    }
  }

  private static func model(in path: String) throws(ToolFailure) -> Side {
    let bytes = try InputFile.read(path)
    switch ModelHistory.version(in: ModelHistory.File(path: path, bytes: bytes)) {
    case .success(let version)?: return try side(version, path)
    case .failure(let refusal)?: throw ToolFailure(.failure, refusal.diagnostic.rendered())
    case nil: break
    }
    let result = ModelFile.parse(bytes, path: path)
    guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
    return Side(title: path, model: try resolved(description, path))
  }

  private static func side(_ version: ReleasedModel, _ path: String) throws(ToolFailure) -> Side {
    let description: ModelDescription
    do throws(StoredModelFault) {
      description = try version.description()
    } catch {
      throw ToolFailure(.failure, "\(path):1:1: error: \(error.message)")
    }
    return Side(title: "version \(version.number) (\(version.released))", model: try resolved(description, path))
  }

  private static func resolved(_ description: ModelDescription, _ path: String) throws(ToolFailure) -> Model {
    do throws(SchemaError) {
      return try Model(description)
    } catch {
      throw ToolFailure(.failure, "\(path):1:1: error: \(error.description)")
    }
  }
}
