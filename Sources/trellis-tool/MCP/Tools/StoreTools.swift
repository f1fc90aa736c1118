import TrellisModel
import TrellisModelFile

extension StoreTool {
  /// The number of problems that are reported.
  private static let mostFindings = 100

  static let doctor = StoreTool(
    name: "doctor", title: "Check the store",
    summary: """
      Looks at every row, reference and index by the rules of the model. Tells what is broken with its repair, the numbers of objects, \
      the sizes, and indexes that fetch requests of the model lack. Nothing is changed. It reads the whole store.
      """,
    parameters: [],
    result: [
      ("store", schema("string", "The store.")), ("kind", schema("string", "What it is: sqlite, json or postgresql.")),
      ("findings", schema("array", "What is broken. Empty if all is well.")),
    ], requiredInResult: 3
  ) { _, store in
    try Doctor.Report(StoreOperand(store.path), mostFindings: mostFindings).json
  }

  /// - Parameter store: The store, which may have the model file of a program beside it.
  static func diff(_ store: ServedStore) -> StoreTool {
    let file = store.modelFile
    let other =
      file == nil
      ? "" : ", or is the one that the server was started with; then each released version is compared as well"
    return StoreTool(
      name: "diff", title: "Compare models",
      summary: """
        What a change of the model would mean for the store: what is safe, what is lost, what the model has to answer before a migration. \
        The changed model is given as the text of a model file\(other). Nothing is changed.
        """,
      parameters: [
        Parameter(
          name: "model", schema: schema("string", "The whole text of a model file, with the change."),
          isRequired: file == nil)
      ],
      result: [
        ("outcome", schema("string", "The worst of all: safe, loses or asks.")),
        ("plans", schema("array", "What becomes of the store, and of each released version.")),
      ], requiredInResult: 2
    ) { arguments, store in
      var reports: [(from: String, report: PlanReport)] = []
      let current: ModelInput
      if let text = try arguments.text("model") {
        current = try ModelInput(Array(text.utf8), "model")
      } else {
        let file = store.modelFile ?? ""
        current = try ModelInput(file)
        if let folder = ModelHistory.folder(besideModel: file), try !InputFile.history(in: folder).versions.isEmpty {
          for version in try Diff.models(in: folder) {
            reports.append((version.title, try PlanReport(from: version.model, to: current.model)))
          }
        }
      }
      reports.insert((ServerPlace.name(store.path), try StorePlan.report(store.path, to: current.model)), at: 0)
      let plans = reports.map { from, report in
        JSONText.object([
          ("from", JSONText.quoted(from)), ("outcome", JSONText.quoted("\(report.outcome)")),
          ("plan", JSONText.list(report.text.split(separator: "\n").map { JSONText.quoted(String($0)) })),
        ])
      }
      let worst = reports.map(\.report.outcome).max() ?? .safe
      return JSONText.object([("outcome", JSONText.quoted("\(worst)")), ("plans", JSONText.list(plans))])
    }
  }
}
