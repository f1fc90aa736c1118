import Foundation
import TrellisModel
import TrellisModelFile
import TrellisStorage

/// `trellis diff`: how stored data of one model becomes that of another. With a store, also how the store's own data
/// does, with the numbers of rows.
enum Diff {
  static func run(_ old: String, _ new: String, store: String?) throws(ToolFailure) -> ExitStatus {
    let current = try ModelInput(new)
    var outcomes: [PlanReport.Outcome] = []
    if let store {
      let report = try StorePlan.report(store, to: current.model)
      Console.print("\(ServerPlace.name(store)) → \(current.title)\n\(report.text)")
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

  /// The models of a file or of a history's folder.
  private static func models(in path: String) throws(ToolFailure) -> [ModelInput] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      return [try ModelInput(path)]
    }
    let versions = try Release.unchanged(InputFile.history(in: path)).versions
    guard !versions.isEmpty else { throw InputFile.unreadable(path, "There is no released version in the folder.") }
    return try versions.map { version throws(ToolFailure) in
      try ModelInput(version, InputFile.file(ModelHistory.fileName(of: version.number), in: path))
    }
  }
}

// MARK: - Command

extension Diff {
  static let command = Command(
    operands: "OLD NEW", needed: "OLD and NEW", count: 2...2,
    options: [
      .init(name: "store", value: "FILE", summary: "count what the migration means for the rows of this store")
    ], summary: "show how stored data of one model becomes that of another",
    details: """
      OLD and NEW are model files or released versions. OLD may also be the folder of a history: then each version is
      compared with NEW. Exit 0 if nothing is asked or lost, 2 if there are open questions, 3 if data is lost with the
      consent of the model.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], arguments.operands[1], store: arguments.value(of: "store"))
  }
}
