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
      Console.print(besideThePlan(stored.model, current.model))
      outcomes.append(report.outcome)
    }
    return outcomes.max()?.status ?? .success
  }

  /// Indexes, searches and derived attributes, of which a plan says nothing, since no stored value changes.
  private static func besideThePlan(_ old: Model, _ new: Model) -> String {
    ModelComparison(old, new).changes.filter { $0.audience == .store }.map { "  store: \($0.subject): \($0.message)\n" }
      .joined()
  }

  // MARK: Others

  /// Tells what the change of a model means for others than its stores.
  private static func runAPI(_ old: String, _ new: String, _ arguments: ParsedArguments) throws(ToolFailure)
    -> ExitStatus
  {
    guard !arguments.has("store") else {
      throw .usage("--api compares models alone, so --store has nothing to say.", of: .diff)
    }
    let checked = try audiences(arguments.value(of: "check"))
    let current = try ModelInput(new)
    var lists: [ChangeList] = []
    for former in try models(in: old) {
      lists.append(
        ChangeList(
          old: former.title, new: current.title, changes: ModelComparison(former.model, current.model).changes))
    }
    Console.print(
      arguments.has("json") ? JSONText.lines(lists.map(\.json)) : lists.map(\.text).joined(separator: "\n"))
    return lists.contains { $0.breaks(for: checked) } ? .failure : .success
  }

  /// The audiences of `--check`; none without it.
  private static func audiences(_ text: String?) throws(ToolFailure) -> Set<ModelChange.Audience> {
    guard let text else { return [] }
    if text == "all" { return Set(ModelChange.Audience.allCases) }
    var found: Set<ModelChange.Audience> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let audience = ModelChange.Audience(rawValue: String(name)) else {
        let names = ModelChange.Audience.allCases.map(\.rawValue)
        throw .usage("\(String(name).inMessage) is none of \(names.joined(separator: ", ")) and all.", of: .diff)
      }
      found.insert(audience)
    }
    return found
  }

  // MARK: Models

  /// The models of a file or of a history's folder.
  static func models(in path: String) throws(ToolFailure) -> [ModelInput] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      guard !ModelInput.isStore(path, mayBeEncrypted: false) else {
        throw InputFile.unreadable(
          path,
          "This is a store, and OLD is a model. Name the store with --store \(ServerPlace.name(path)) besides OLD and NEW, or "
            + "compare it alone with NEW: trellis migrate --plan \(ServerPlace.name(path)) NEW.")
      }
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
      .init(name: "store", value: "FILE", summary: "count what the migration means for the rows of this store"),
      .init(
        name: "api", value: nil,
        summary: "tell what the change means for Swift code, documents and former programs instead"),
      .init(
        name: "check", value: "NAMES",
        summary: "with --api, exit 1 if something breaks for these, with commas between, or for all"),
      .init(name: "json", value: nil, summary: "with --api, print JSON for other programs"),
    ], summary: "show how stored data of one model becomes that of another",
    details: """
      OLD and NEW are model files or released versions. OLD may also be the folder of a history: then each version is
      compared with NEW. Exit 0 if nothing is asked or lost, 2 if there are open questions, 3 if data is lost with the
      consent of the model.

      With --api, the changes are told that others have to do with: swift, the generated declarations; import and export,
      JSON documents by the mapping; rollout, programs with the former model on the same store; store, indexes and what is
      computed. Each is breaking, to be aware of, or safe. Exit 0 then, unless --check names for whom nothing may break.
      """
  ) { arguments throws(ToolFailure) in
    guard !arguments.has("api") else {
      return try runAPI(arguments.operands[0], arguments.operands[1], arguments)
    }
    if let option = ["check", "json"].first(where: arguments.has) {
      throw .usage("--\(option) goes with --api.", of: .diff)
    }
    return try run(arguments.operands[0], arguments.operands[1], store: arguments.value(of: "store"))
  }
}
