import Foundation
import TrellisAdoption
import TrellisModel
import TrellisPostgresAdoption
import TrellisStorage

/// `trellis pull`: a model file from a database of any origin, and a store with its rows.
enum Pull {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let target = arguments.value(of: "rows")
    if target == nil, arguments.has("allow-loss") { throw .usage("--allow-loss is for --rows.", of: .pull) }
    let (name, sample) = (try name(arguments), try sample(arguments))
    let operand = arguments.operands[0]
    let database: AdoptedDatabase
    let text: [UInt8]
    do {
      database = try opened(operand, name: name, sample: sample)
      text = Array(try database.modelText().utf8)
    } catch {
      throw ToolFailure(adoption: error, operand)
    }
    let path = arguments.value(of: "output") ?? "\(database.description.name).model.json"
    let laidOut = Import.laidOut(text, path)
    if path != "-" { try refuseOther(path, laidOut) }
    if let target, isSame(target, path) {
      throw .usage("--rows and --output name the same file, \(target.inMessage).", of: .pull)
    }
    let made = try target.map { target throws(ToolFailure) in
      try rows(of: database, operand, to: target, allowingLoss: arguments.has("allow-loss"))
    }
    if path != "-" {
      do throws(ToolFailure) { try OutputFile.replace(path, with: laidOut) } catch {
        // A store without its model file would stand in the way of the next try.
        made?.store.remove()
        throw error
      }
    }
    let report = made?.report
    tell(database, path, laidOut, report, isJSON: arguments.has("json"))
    return .success
  }

  // MARK: Arguments

  private static func name(_ arguments: ParsedArguments) throws(ToolFailure) -> String? {
    guard let name = arguments.value(of: "name") else { return nil }
    let isName = name.wholeMatch(of: /[A-Z][A-Za-z0-9_]{0,99}/) != nil
    guard isName else {
      throw .usage("\(name.inMessage) is no name of a model: a capital letter, then letters and digits.", of: .pull)
    }
    return name
  }

  private static func sample(_ arguments: ParsedArguments) throws(ToolFailure) -> Int {
    guard let text = arguments.value(of: "sample") else { return AdoptedDatabase.defaultSample }
    guard let number = Int(text), (0...1_000_000_000).contains(number) else {
      throw .usage("--sample needs a number of rows, not \(text.inMessage).", of: .pull)
    }
    return number
  }

  private static func opened(_ operand: String, name: String?, sample: Int) throws -> AdoptedDatabase {
    if let server = ServerPlace(operand) {
      return try AdoptedDatabase(postgres: server.connectionString, schema: server.schema, name: name)
    }
    try ServerPlace.refuseOtherForms(operand)
    let path = withoutScheme(operand)
    try InputFile.needRegular(path)
    return try AdoptedDatabase(sqlite: URL(fileURLWithPath: path), name: name, sample: sample)
  }

  /// The path of `sqlite:FILE`, and of `sqlite:///FILE` as others write it.
  private static func withoutScheme(_ operand: String) -> String {
    for scheme in ["sqlite://", "sqlite:"] where operand.hasPrefix(scheme) {
      return String(operand.dropFirst(scheme.count))
    }
    return operand
  }

  /// A file of a former run with the same text is no obstacle.
  private static func refuseOther(_ path: String, _ text: [UInt8]) throws(ToolFailure) {
    guard FileManager.default.fileExists(atPath: path), (try? InputFile.read(path)) != text else { return }
    throw ToolFailure(
      .failure, "error: \(path) exists already. Name another file with --output, or print the model with --output -.")
  }

  private static func isSame(_ store: String, _ file: String) -> Bool {
    ServerPlace(store) == nil
      && URL(fileURLWithPath: store).standardizedFileURL == URL(fileURLWithPath: file).standardizedFileURL
  }

  // MARK: Rows

  private static func rows(
    of database: AdoptedDatabase, _ operand: String, to path: String, allowingLoss: Bool
  ) throws(ToolFailure) -> (store: NewStore, report: AdoptionReport) {
    let model: Model
    do throws(AdoptionError) { model = try database.resolvedModel() } catch {
      throw ToolFailure(adoption: error, operand)
    }
    let target = try NewStore(path)
    var report = AdoptionReport()
    _ = try target.fill(keepsBroken: false) { () throws(ToolFailure) in
      try Load.write(model, StoreLineage(nextKey: 1), into: target) { writer, progress in
        do {
          report = try withoutActuallyEscaping(progress) { progress in
            try database.transfer(model, to: writer, allowingLoss: allowingLoss, progress: progress)
          }
        } catch let error as AdoptionError {
          throw ToolFailure(adoption: error, operand)
        }
      }
    }
    return (target, report)
  }

  // MARK: Output

  private static func tell(
    _ database: AdoptedDatabase, _ path: String, _ text: [UInt8], _ report: AdoptionReport?, isJSON: Bool
  ) {
    if path == "-" { Console.print(String(decoding: text, as: UTF8.self)) }
    let told: String
    if isJSON {
      told = json(database, path, report)
    } else {
      let lines = (path == "-" ? [] : [path]) + database.notes.map(\.description)
      told = (lines + (report.map { [$0.description] } ?? [])).map { $0 + "\n" }.joined()
    }
    // The model alone is on the output.
    if path == "-" { Console.complain(told) } else { Console.print(told) }
  }

  private static func json(_ database: AdoptedDatabase, _ path: String, _ report: AdoptionReport?) -> String {
    var members = [
      (key: "file", value: path == "-" ? "null" : JSONText.quoted(path)),
      (key: "notes", value: JSONText.list(database.notes.map(json))),
    ]
    if let report {
      let rows = report.rows.map { (key: $0.entity, value: "\($0.rows)") }
      members += [
        ("rows", JSONText.object(rows)), ("pairs", "\(report.pairs)"), ("left", JSONText.list(report.left.map(json))),
        ("leftCount", "\(report.leftCount)"),
      ]
    }
    return JSONText.object(members) + "\n"
  }

  private static func json(_ note: AdoptionNote) -> String {
    JSONText.object([
      ("outcome", JSONText.quoted(note.outcome.rawValue)), ("subject", JSONText.quoted(note.subject)),
      ("message", JSONText.quoted(note.message)),
    ])
  }

  private static func json(_ finding: AdoptionFinding) -> String {
    JSONText.object([
      ("table", JSONText.quoted(finding.table)), ("row", JSONText.quoted(finding.row)),
      ("column", finding.column.map(JSONText.quoted) ?? "null"), ("message", JSONText.quoted(finding.message)),
    ])
  }
}

extension ToolFailure {
  fileprivate init(adoption error: any Error, _ operand: String) {
    guard let error = error as? AdoptionError else {
      self.init(store: error, operand)
      return
    }
    let isUnreadable = [.unreadable, .noDatabase].contains(error.code)
    self.init(isUnreadable ? .unreadable : .failure, "error: \(error)")
  }
}

// MARK: - Command

extension Pull {
  static let command = Command(
    operands: "DATABASE", needed: "a DATABASE", count: 1...1,
    options: [
      .init(name: "name", value: "NAME", summary: "the name of the model; otherwise that of the file"),
      .init(
        name: "output", value: "FILE",
        summary: "write the model to FILE, to the output if it is -; otherwise to NAME.model.json"),
      .init(name: "rows", value: "STORE", summary: "copy the rows into a new STORE"),
      .init(name: "allow-loss", value: nil, summary: "leave out what the model has no place for, and list it"),
      .init(
        name: "sample", value: "N", summary: "look at the values of the first and the last N rows of each table; 5000"),
      .json,
    ],
    summary: "make a model file, and a store, from a database of any origin",
    details: """
      DATABASE is a SQLite file, as FILE or sqlite:FILE, or a schema of a server, as postgresql://user@host/database?schema=NAME.
      It is read at one moment and stays as it is. What has no word in a model file is printed. STORE is a new SQLite file, a document if its name ends in `.json`, or a new schema of a server.
      Without --allow-loss, a value, reference or row that has no place is printed with its table, row and column, and
      nothing is made. Exit 0 if it is done, 1 if it is refused.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
