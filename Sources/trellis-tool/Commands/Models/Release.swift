import Foundation
import TrellisModel
import TrellisModelFile

/// `trellis release`: keeps a model as the next version of its history.
enum Release {
  static func run(_ path: String, history folder: String?) throws(ToolFailure) -> ExitStatus {
    let bytes = try InputFile.read(path)
    let result = ModelFile.parse(bytes, path: path)
    guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
    Console.complain(result.rendered())
    guard let folder = folder ?? ModelHistory.folder(besideModel: path) else {
      throw .usage("\(path.inMessage) does not end in '.model.json'; name the folder with --history.", of: .release)
    }
    let history = try unchanged(InputFile.history(in: folder))
    if let error = history.returnError(of: description, in: ModelHistory.File(path: path, bytes: bytes)) {
      throw ToolFailure(.failure, error.rendered() + "\n")
    }
    if let newest = history.versions.last, newest.holds(description) {
      let file = InputFile.file(ModelHistory.fileName(of: newest.number), in: folder)
      Console.print("\(file): version \(newest.number) of \(newest.released) already is this model\n")
      return .success
    }
    let next = ReleasedModel(description, number: history.versions.count + 1, released: today)
    let file = InputFile.file(ModelHistory.fileName(of: next.number), in: folder)
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw OutputFile.unwritable(file, "its folder cannot be created")
    }
    try OutputFile.create(file, Array(next.fileText.utf8), permissionsOf: path)
    Console.print("\(file): version \(next.number)\n")
    return .success
  }

  /// The history, if nothing in it was edited.
  static func unchanged(_ history: ModelHistory) throws(ToolFailure) -> ModelHistory {
    guard history.diagnostics.isEmpty else {
      throw ToolFailure(.failure, history.diagnostics.map { $0.rendered() + "\n" }.joined())
    }
    return history
  }

  /// The day in UTC, or the one that a reproducible build sets by `SOURCE_DATE_EPOCH`.
  private static var today: String {
    let fixed = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap { Int64($0) }
    let seconds = fixed ?? Int64(Date().timeIntervalSince1970)
    let (microseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return String(DateText.text(isTooLarge ? 0 : microseconds).prefix(10))
  }
}

extension ReleasedModel {
  /// Whether the version is of this model, even if another version of Trellis spelled it in another way.
  fileprivate func holds(_ model: ModelDescription) -> Bool {
    checksum == model.checksum || (try? description()) == model
  }
}

// MARK: - Command

extension Release {
  static let command = Command(
    operands: "MODEL", needed: "a MODEL", count: 1...1,
    options: [
      .init(
        name: "history", value: "FOLDER",
        summary: "the folder of the versions, instead of Diary.history beside Diary.model.json")
    ], summary: "keep a model as the next version of its history",
    details: """
      Nothing is written if the newest version has the same model. Exit 0 if it is or was released, 1 if the model has
      errors or is a former version again, or if a released version was edited or removed, 66 if a file cannot be read,
      74 if one cannot be written.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], history: arguments.value(of: "history"))
  }
}
