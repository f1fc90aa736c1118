import Foundation
import TrellisCoreData
import TrellisModel
import TrellisModelFile
import TrellisStorage

/// `trellis import`: a model file from a model of Core Data, and a store from one of its stores.
enum Import {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let path = operands[0]
    guard FileManager.default.fileExists(atPath: path) else {
      throw InputFile.unreadable(path, "There is no such file.")
    }
    if [".xcdatamodeld", ".xcdatamodel"].contains(where: withoutSlash(path).hasSuffix) {
      return try model(path, arguments)
    }
    if ["json", "ndjson", "jsonl"].contains(URL(fileURLWithPath: path).pathExtension.lowercased()) {
      throw ToolFailure(
        .failure,
        "error: \(path) is no store of Core Data. Objects of a JSON file are brought into a store by import-json.")
    }
    guard operands.count > 1 else { throw .usage("import needs the name of a NEW store.", of: .import) }
    return try store(path, to: operands[1], arguments)
  }

  /// A shell completes the name of a folder with a slash.
  private static func withoutSlash(_ path: String) -> String {
    String(path.reversed().drop { $0 == "/" }.reversed())
  }

  // MARK: Models

  private static func model(_ path: String, _ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    try refuse(["model", "xcdatamodel", "allow-loss", "keep-incomplete"], arguments, "a store")
    let imported: CoreDataModelImport
    do throws(CoreDataError) {
      imported = try CoreDataModelImport(
        contentsOf: URL(fileURLWithPath: path), allVersions: arguments.has("all-versions"))
    } catch {
      throw ToolFailure(coreData: error, path)
    }
    let folder = arguments.operands.count > 1 ? arguments.operands[1] : nil
    let files = imported.files.map { file in
      let path = folder.map { InputFile.file(file.name, in: $0) } ?? file.name
      return (path: path, text: laidOut(Array(file.text.utf8), path))
    }
    for file in files where FileManager.default.fileExists(atPath: file.path) {
      throw ToolFailure(
        .failure, "error: \(file.path) exists already. Choose another folder, or remove the file.")
    }
    for file in files {
      let parent = URL(fileURLWithPath: file.path).deletingLastPathComponent()
      do { try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true) } catch {
        throw OutputFile.unwritable(file.path, "its folder cannot be created")
      }
      try OutputFile.replace(file.path, with: file.text)
    }
    if arguments.has("json") {
      Console.print(
        JSONText.object([
          ("files", JSONText.list(files.map { JSONText.quoted($0.path) })),
          ("notes", JSONText.list(imported.notes.map(Self.json))),
        ]) + "\n")
    } else {
      Console.print((files.map(\.path) + imported.notes.map(\.description)).map { $0 + "\n" }.joined())
    }
    return .success
  }

  /// The text of a model file as `trellis format` leaves it. A released version stays as it was made.
  static func laidOut(_ text: [UInt8], _ path: String) -> [UInt8] {
    guard ModelHistory.version(in: ModelHistory.File(path: path, bytes: text)) == nil,
      let root = ModelFile.readJSON(text, path: path).root
    else { return text }
    let laidOut = ModelLayout(root, in: text).text()
    return laidOut.count <= Limits.fileSize ? laidOut : text
  }

  // MARK: Stores

  private static func store(
    _ path: String, to target: String, _ arguments: ParsedArguments
  ) throws(ToolFailure) -> ExitStatus {
    try refuse(["all-versions"], arguments, "a model")
    guard ServerPlace(target) == nil else {
      throw ToolFailure(
        .failure, "error: import makes a file. Bring it to a server with trellis copy, which keeps keys and versions.")
    }
    try InputFile.needRegular(path)
    var model: ModelDescription?
    if let file = arguments.value(of: "model") {
      let result = ModelFile.parse(try InputFile.read(file), path: file)
      guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
      model = description
    }
    let progress = Progress("rows")
    defer { progress.end() }
    do {
      let source = try CoreDataStore(
        at: URL(fileURLWithPath: path),
        model: arguments.value(of: "xcdatamodel").map { URL(fileURLWithPath: withoutSlash($0)) })
      let report = try source.copy(
        to: URL(fileURLWithPath: target), model: model,
        migration: arguments.has("allow-loss") ? .allowingDataLoss : .automatic,
        keepsIncompleteRows: arguments.has("keep-incomplete")
      ) { progress.show($0.rows) }
      progress.end()
      Console.print(arguments.has("json") ? json(report) : report.description + "\n")
    } catch let error as CoreDataError {
      throw ToolFailure(coreData: error, path)
    } catch {
      throw ToolFailure(store: error, path)
    }
    return .success
  }

  private static func refuse(
    _ options: [String], _ arguments: ParsedArguments, _ subject: String
  ) throws(ToolFailure) {
    guard let option = options.first(where: arguments.has) else { return }
    throw .usage("--\(option) is for the import of \(subject).", of: .import)
  }

  // MARK: JSON

  private static func json(_ note: CoreDataNote) -> String {
    JSONText.object([
      ("outcome", JSONText.quoted(note.outcome.rawValue)), ("subject", JSONText.quoted(note.subject)),
      ("message", JSONText.quoted(note.message)),
    ])
  }

  private static func json(_ finding: CoreDataFinding) -> String {
    JSONText.object([
      ("outcome", JSONText.quoted(finding.outcome.rawValue)), ("entity", JSONText.quoted(finding.entity)),
      ("property", finding.property.map(JSONText.quoted) ?? "null"), ("message", JSONText.quoted(finding.message)),
      ("count", "\(finding.count)"), ("firstKeys", JSONText.list(finding.firstKeys.map { "\($0)" })),
    ])
  }

  private static func json(_ report: CoreDataCopyReport) -> String {
    let rows = report.rows.map { (key: $0.entity, value: "\($0.rows)") }
    return JSONText.object([
      ("rows", JSONText.object(rows)), ("pairs", "\(report.pairs)"),
      ("findings", JSONText.list((report.repaired + report.left + report.kept).map(json))),
      ("notes", JSONText.list(report.notes.map(json))),
    ]) + "\n"
  }
}

extension ToolFailure {
  fileprivate init(coreData error: CoreDataError, _ path: String) {
    self.init(.failure, "error: \(error)")
  }
}

// MARK: - Command

extension Import {
  static let command = Command(
    operands: "MODEL [FOLDER] | STORE NEW", needed: "a model or a store of Core Data", count: 1...2,
    options: [
      .init(name: "all-versions", value: nil, summary: "write the former versions of a model as its history"),
      .init(name: "model", value: "FILE", summary: "give the new store the model in FILE, by a migration"),
      .init(name: "xcdatamodel", value: "MODEL", summary: "the model of a store that does not contain it"),
      .init(name: "allow-loss", value: nil, summary: "delete what the model in FILE does not account for"),
      .init(name: "keep-incomplete", value: nil, summary: "keep rows without a partner that is required"),
      .json,
    ],
    summary: "make a model file or a store from those of Core Data",
    details: """
      MODEL is an .xcdatamodeld or .xcdatamodel; the model file is written to FOLDER, or here. STORE is a SQLite file of
      Core Data, read with its log and its external data from a copy. What has no word here, and every value that was
      repaired or left out, is printed. Beside NEW, a file tells which object each x-coredata URI leads to. Exit 0 if it
      is done, 1 if it is refused, 2 if the model in FILE leaves questions open.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
