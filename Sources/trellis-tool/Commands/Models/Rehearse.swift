import Foundation
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTesting

/// `trellis rehearse`: migrates stores of all released versions to a model, and tells what became of their objects.
enum Rehearse {
  private static let mostObjects = 100_000
  private static let mostSeeds = 10_000

  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let objects = try number("objects", of: arguments, default: 20, in: 0...mostObjects)
    let count = try number("seeds", of: arguments, default: 1, in: 0...mostSeeds)
    let seconds = try number("time", of: arguments, default: 120, in: 0...1_000_000)
    let seedText = arguments.value(of: "seed") ?? "1"
    guard let seed = UInt64(seedText) else {
      throw .usage("\(seedText.inMessage) is no seed: that is a whole number from 0 on.", of: .rehearse)
    }
    var rehearsal = try rehearsal(of: path, history: arguments.value(of: "history"))
    rehearsal.objects = objects
    rehearsal.seeds = (0..<UInt64(count)).map { seed &+ $0 }
    rehearsal.timeLimit = .seconds(seconds)
    if let folder = arguments.value(of: "stores") {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
        throw InputFile.unreadable(folder, "This is no folder with stores.")
      }
      rehearsal.stores = URL(fileURLWithPath: folder)
    }
    let report: RehearsalReport
    do { report = try rehearsal.run() } catch {
      throw ToolFailure(.unwritable, "error: The rehearsal could not be run: \(error)")
    }
    let isStrict = arguments.has("strict")
    let text = RehearsalText(report, model: path)
    Console.print(arguments.has("json") ? text.json : text.text)
    if !report.findings.isEmpty || isStrict && !report.announced.isEmpty { return .failure }
    return report.omissions.isEmpty ? .success : .asks
  }

  /// The rehearsal of a model file.
  ///
  /// - Parameter folder: The folder of the released versions; nil for the one beside the model.
  static func rehearsal(of path: String, history folder: String? = nil) throws(ToolFailure) -> MigrationRehearsal {
    let bytes = try InputFile.read(path)
    let result = ModelFile.parse(bytes, path: path)
    guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
    guard let folder = folder ?? ModelHistory.folder(besideModel: path) else {
      throw .usage("\(path.inMessage) does not end in '.model.json'; name the folder with --history.", of: .rehearse)
    }
    let history = try Release.unchanged(InputFile.history(in: folder))
    guard !history.versions.isEmpty else {
      throw InputFile.unreadable(folder, "There is no released version; `trellis release \(path)` keeps the first one.")
    }
    if let error = history.returnError(of: description, in: ModelHistory.File(path: path, bytes: bytes)) {
      throw ToolFailure(.failure, error.rendered() + "\n")
    }
    do {
      return try MigrationRehearsal(
        of: ObjectModel(dynamic: description), history: history, missingSteps: result.migrates.max() ?? 0)
    } catch {
      throw ToolFailure(.failure, "\(path):1:1: error: \(error)")
    }
  }

  private static func number(
    _ option: String, of arguments: ParsedArguments, default value: Int, in range: ClosedRange<Int>
  ) throws(ToolFailure) -> Int {
    guard let text = arguments.value(of: option) else { return value }
    guard let number = Int(text), range.contains(number) else {
      throw .usage(
        "\(text.inMessage) is no number from \(range.lowerBound) to \(range.upperBound) for --\(option).", of: .rehearse
      )
    }
    return number
  }
}

// MARK: - Text

/// The report of a rehearsal for people and for programs.
struct RehearsalText {
  private let report: RehearsalReport
  private let model: String

  init(_ report: RehearsalReport, model: String) {
    self.report = report
    self.model = model
  }

  /// The verdict comes first, then what is to be done about it.
  var text: String {
    var lines = [verdict]
    if !report.runs.isEmpty {
      let titles = ["version", "store", "objects", "after", "migrations", "seconds", "outcome"]
      lines += [""] + TextTable([titles] + rows, numbers: [0, 2, 3, 4, 5]).lines.map { "  " + $0 }
    }
    lines += section("findings", report.findings)
    lines += section("announced by the model", report.announced)
    if !report.omissions.isEmpty {
      lines += ["", "not rehearsed"] + Self.grouped(report.omissions).map { "  \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var verdict: String {
    let migrations = report.runs.reduce(0) { $0 + 1 + ($1.steps ?? 0) }
    let stores = Self.count(report.runs.count, "store", "stores")
    let found =
      report.findings.isEmpty ? "nothing was found" : Self.count(report.findings.count, "finding", "findings")
    return "\(model): \(stores), \(Self.count(migrations, "migration", "migrations")), \(found)"
  }

  /// A row for each store; the random stores of a version are one.
  private var rows: [[String]] {
    var rows: [[RehearsalReport.Run]] = []
    for run in report.runs {
      if let last = rows.last?.last, last.version == run.version, last.isRandom, run.isRandom {
        rows[rows.count - 1].append(run)
      } else {
        rows.append([run])
      }
    }
    return rows.map(row)
  }

  private func row(_ runs: [RehearsalReport.Run]) -> [String] {
    let outcomes: [RehearsalReport.Run.Outcome] = [.findings, .announced, .fine]
    let worst = outcomes.first { outcome in runs.contains { $0.outcome == outcome } }
    let isRefused = runs.contains { $0.objectsAfter == nil }
    return [
      runs.first?.version.map { "\($0)" } ?? "–", runs.count == 1 ? runs[0].store : "\(runs.count) seeds",
      "\(runs.reduce(0) { $0 + $1.objects })", isRefused ? "–" : "\(runs.reduce(0) { $0 + ($1.objectsAfter ?? 0) })",
      "\(runs.reduce(0) { $0 + 1 + ($1.steps ?? 0) })",
      Self.seconds(runs.reduce(.zero) { $0 + $1.jumpTime + $1.stepsTime }), worst?.rawValue ?? "",
    ]
  }

  private func section(_ title: String, _ findings: [RehearsalFinding]) -> [String] {
    if findings.isEmpty { return [] }
    return ["", title]
      + findings.flatMap { finding in
        ["  \(finding)"] + (finding.advice.isEmpty ? [] : ["    \(finding.advice)"])
      }
  }

  /// What is left out for the same reason is one line.
  private static func grouped(_ omissions: [RehearsalReport.Omission]) -> [String] {
    var order: [String] = []
    var versions: [String: [Int]] = [:]
    for omission in omissions {
      guard let version = omission.version else {
        order.append(omission.description)
        continue
      }
      let text = "\(omission.subject): \(omission.reason)"
      if versions[text] == nil { order.append(text) }
      versions[text, default: []].append(version)
    }
    return order.map { text in versions[text].map { "\(RehearsalFinding.text(of: $0)), \(text)" } ?? text }
  }

  private static func seconds(_ time: Duration) -> String {
    time < .seconds(1) ? "<1" : "\(time.components.seconds)"
  }

  private static func count(_ number: Int, _ one: String, _ many: String) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many)"
  }

  // MARK: JSON

  /// All keys are always there.
  var json: String {
    """
    {
      "model": \(JSONText.quoted(model)),
      "runs": \(Self.indented(report.runs.map(Self.json))),
      "findings": \(Self.indented(report.findings.map(Self.json))),
      "announced": \(Self.indented(report.announced.map(Self.json))),
      "omissions": \(Self.indented(report.omissions.map(Self.json)))
    }

    """
  }

  private static func indented(_ values: [String]) -> String {
    values.isEmpty ? "[]" : "[\n    \(values.joined(separator: ",\n    "))\n  ]"
  }

  private static func json(_ run: RehearsalReport.Run) -> String {
    JSONText.object([
      ("version", number(run.version)), ("store", JSONText.quoted(run.store)), ("objects", "\(run.objects)"),
      ("objectsAfter", number(run.objectsAfter)), ("steps", number(run.steps)),
      ("outcome", JSONText.quoted(run.outcome.rawValue)), ("jumpSeconds", exact(run.jumpTime)),
      ("stepsSeconds", exact(run.stepsTime)),
    ])
  }

  private static func json(_ finding: RehearsalFinding) -> String {
    JSONText.object([
      ("code", JSONText.quoted(finding.code.rawValue)), ("subject", JSONText.quoted(finding.subject)),
      ("message", JSONText.quoted(finding.message)), ("advice", JSONText.quoted(finding.advice)),
      ("versions", JSONText.list(finding.versions.map { "\($0)" })), ("store", JSONText.quoted(finding.store)),
      ("program", number(finding.program)), ("count", "\(finding.count)"),
      ("examples", JSONText.list(finding.examples.map(JSONText.quoted))),
    ])
  }

  private static func json(_ omission: RehearsalReport.Omission) -> String {
    JSONText.object([
      ("version", number(omission.version)), ("subject", JSONText.quoted(omission.subject)),
      ("reason", JSONText.quoted(omission.reason)),
    ])
  }

  private static func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "null" }

  /// Seconds with three digits.
  private static func exact(_ time: Duration) -> String {
    let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
    let fraction = String(milliseconds % 1_000)
    return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}

// MARK: - Command

extension Rehearse {
  static let command = Command(
    operands: "MODEL", needed: "a MODEL", count: 1...1,
    options: [
      .init(
        name: "history", value: "FOLDER",
        summary: "the folder of the versions, instead of Diary.history beside Diary.model.json"),
      .init(name: "stores", value: "FOLDER", summary: "rehearse the stores in this folder as well, on copies"),
      .init(name: "objects", value: "N", summary: "about N random objects of each entity; 20 if not given"),
      .init(name: "seed", value: "S", summary: "other objects than those of seed 1"),
      .init(name: "seeds", value: "N", summary: "a store of each version for N seeds, from S on; 1 if not given"),
      .init(name: "time", value: "SECONDS", summary: "begin with no store after this time; 120 if not given"),
      .init(name: "strict", value: nil, summary: "exit 1 for what the model announces, too"),
      .json,
    ], summary: "migrate stores of all released versions to a model, and tell what became of their objects",
    details: """
      Each version has a store of random objects that its rules allow. A copy is opened with MODEL at once, and another one
      with every later version in turn. Both are compared with the former store, object by object, and with each other, and
      are checked as by `doctor`. Nothing stays of these stores. Steps in Swift are part of the program: versions that need
      them are named, and `MigrationRehearsal` of the library rehearses them in a test. Exit 0 if all is well, 1 if
      something was found, 2 if nothing was found, but something was not rehearsed.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
