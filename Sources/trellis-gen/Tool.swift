import TrellisGenerator
import TrellisModel
import TrellisModelFile

/// Runs a command. Problems are written to the error stream, in the format that build systems recognize; the output
/// stream is for requested output.
enum Tool {
  /// A failed command, after its error was reported.
  struct Failure: Error {}

  static func run(_ command: Command) throws(Failure) {
    switch command {
    case .generate(let model, let output, let files, let besides, let history):
      try generate(model, to: output, files: files, besides: besides, history: history)
    case .check(let models): try check(models)
    case .show(let model): Platform.print(try texts(of: model, files: 1).joined())
    case .help: Platform.print(Command.usage)
    }
  }

  private static func generate(
    _ model: String, to output: String, files: Int?, besides: [String], history: [String]
  ) throws(Failure) {
    let texts: [String]
    do throws(Failure) {
      texts = try Self.texts(of: model, files: files, besides: besides, history: checkedHistory(history))
    } catch {
      // An old output would still compile as if there were no error.
      removeFiles(output, from: 1)
      throw error
    }
    for (number, text) in texts.enumerated() {
      let file = FilePart.path(output, number: number + 1)
      if Platform.read(file).map({ $0.elementsEqual(text.utf8) }) ?? false { continue }
      if !Platform.write(text, to: file) { try fail("\(file): error: The file cannot be written.") }
    }
    removeFiles(output, from: texts.count + 1)
  }

  /// Removes the files of a model beginning with a number. The numbers of files have no gaps.
  private static func removeFiles(_ output: String, from first: Int) {
    var number = first
    while Platform.read(FilePart.path(output, number: number)) != nil {
      Platform.remove(FilePart.path(output, number: number))
      number += 1
    }
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
      do { _ = try texts(of: model, files: 1) } catch { isGood = false }
    }
    if !isGood { throw Failure() }
  }

  /// The Swift code of a model file, in one or more files.
  ///
  /// - Parameters:
  ///   - files: The number of files; nil for as many as the model needs.
  ///   - besides: The other models of the same target. Their names are not available to this model.
  ///   - history: The model's released versions; nil to look for them beside the model.
  private static func texts(
    of path: String, files: Int?, besides: [String] = [], history: ModelHistory? = nil
  ) throws(Failure) -> [String] {
    guard let bytes = Platform.read(path) else { try fail("\(path): error: The file cannot be read.") }
    // Another model that cannot be read is reported when that model itself is generated.
    let others = besides.compactMap { other in Platform.read(other).flatMap { ModelFile.Neighbor($0, path: other) } }
    let result = ModelFile.parse(bytes, path: path, besides: others)
    Platform.complain(result.rendered())
    guard let description = result.description else { throw Failure() }
    let released: ModelHistory
    if let history { released = history } else { released = try Self.history(beside: path) }
    if let error = released.returnError(of: description, in: ModelHistory.File(path: path, bytes: bytes)) {
      Platform.complain(error.rendered() + "\n")
      throw Failure()
    }
    var former = FormerVersions()
    if !result.migrates.isEmpty { former = try formerVersions(result.migrates, of: path, released) }
    do {
      return try TrellisGenerator.generate(
        description, modelFileName: lastComponent(of: path), foundationPredicates: result.foundationPredicates,
        history: former, files: files)
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
