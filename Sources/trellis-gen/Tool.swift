import TrellisGenerator
import TrellisModelFile

/// Runs a command. Problems are written to the error stream, in the format that build systems recognize; the output
/// stream is for requested output.
enum Tool {
  /// A failed command, after its error was reported.
  struct Failure: Error {}

  static func run(_ command: Command) throws(Failure) {
    switch command {
    case .generate(let model, let output, let besides, let history):
      try generate(model, to: output, besides: besides, history: history)
    case .check(let models): try check(models)
    case .show(let model): Platform.print(try text(of: model))
    case .help: Platform.print(Command.usage)
    }
  }

  private static func generate(
    _ model: String, to output: String, besides: [String], history: [String]
  ) throws(Failure) {
    let text: String
    do throws(Failure) {
      text = try Self.text(of: model, besides: besides, history: checkedHistory(history))
    } catch {
      // An old output would still compile as if there were no error.
      Platform.remove(output)
      throw error
    }
    if Platform.read(output).map({ $0.elementsEqual(text.utf8) }) ?? false { return }
    if !Platform.write(text, to: output) { try fail("\(output): error: The file cannot be written.") }
  }

  private static func checkedHistory(_ files: [String]) throws(Failure) -> ModelHistory {
    let history = ModelHistory(files.map { ModelHistory.File(path: $0, bytes: Platform.read($0)) })
    Platform.complain(history.diagnostics.map { $0.rendered() + "\n" }.joined())
    if !history.diagnostics.isEmpty { throw Failure() }
    return history
  }

  /// The history in the folder beside a model.
  private static func history(beside model: String) throws(Failure) -> ModelHistory {
    guard let folder = ModelHistory.folder(besideModel: model) else { return ModelHistory([]) }
    var files: [String] = []
    while true {
      let path = "\(folder)/\(ModelHistory.fileName(of: files.count + 1))"
      if Platform.read(path) == nil { return try checkedHistory(files) }
      files.append(path)
    }
  }

  private static func check(_ models: [String]) throws(Failure) {
    var isGood = true
    for model in models {
      do { _ = try text(of: model) } catch { isGood = false }
    }
    if !isGood { throw Failure() }
  }

  /// The Swift code of a model file.
  ///
  /// - Parameters:
  ///   - besides: The other models of the same target. Their names are not available to this model.
  ///   - history: The model's released versions; nil to look for them beside the model.
  private static func text(
    of path: String, besides: [String] = [], history: ModelHistory? = nil
  ) throws(Failure) -> String {
    guard let bytes = Platform.read(path) else { try fail("\(path): error: The file cannot be read.") }
    // Another model that cannot be read is reported when that model itself is generated.
    let others = besides.compactMap { other in Platform.read(other).flatMap { ModelFile.Neighbor($0, path: other) } }
    let result = ModelFile.parse(bytes, path: path, besides: others)
    Platform.complain(result.rendered())
    guard let description = result.description else { throw Failure() }
    var former = FormerVersions()
    if !result.migrates.isEmpty {
      let released: ModelHistory
      if let history { released = history } else { released = try Self.history(beside: path) }
      former = try formerVersions(result.migrates, of: path, released)
    }
    do {
      return try TrellisGenerator.generate(
        description, modelFileName: lastComponent(of: path), foundationPredicates: result.foundationPredicates,
        history: former)
    } catch {
      try fail("\(path):1:1: error: No Swift can be generated: \(error).")
    }
  }

  private static func formerVersions(
    _ numbers: [Int], of path: String, _ history: ModelHistory
  ) throws(Failure) -> FormerVersions {
    var former = FormerVersions(checksums: history.versions.map(\.checksum))
    for number in numbers.sorted() {
      guard let version = history.versions.first(where: { $0.number == number }) else {
        try fail(
          "\(path):1:1: error: \"migrates\" lists version \(number), which was not released; release it with `trellis "
            + "release`, or take it off the list.")
      }
      do throws(StoredModelFault) {
        former.versions.append(
          FormerVersions.Version(
            number: number, released: version.released, description: try version.description(),
            text: version.canonicalText))
      } catch {
        try fail("\(path):1:1: error: Version \(number) of the model cannot be read: \(error.message)")
      }
    }
    return former
  }

  private static func fail(_ message: String) throws(Failure) -> Never {
    Platform.complain(message + "\n")
    throw Failure()
  }

  private static func lastComponent(of path: String) -> String {
    String(path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? "")
  }
}
