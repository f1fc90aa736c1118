import Foundation
import TrellisModel
import TrellisPostgres
import TrellisRuntime
import TrellisStorage

/// `trellis doctor`: whether a store is whole, how large it is, and what would make it faster.
enum Doctor {
  /// The greatest number of findings that are shown.
  static let shownFindings = 1_000

  static func run(_ path: String, asJSON: Bool) throws(ToolFailure) -> ExitStatus {
    let file = try StoreOperand(path)
    let report = try Report(file)
    Console.print(asJSON ? report.json : report.text)
    return report.findings.isEmpty ? .success : .failure
  }

  /// What is known of a store.
  struct Report {
    private let file: StoreOperand
    let findings: [StoreFinding]
    /// The findings that differ in nothing but the object, in the order of the first of each.
    private let groups: [FindingGroup]
    /// The numbers of objects of each entity that can have some, without those of its subentities.
    private let counts: [(entity: String, count: Int)]
    private let sizes: [(what: String, bytes: Int64)]
    private let parts: [(name: String, bytes: Int64)]
    private let advice: [Advice]

    private struct Advice {
      let entity: String
      let request: String
      let text: String
    }

    /// - Parameter mostFindings: The greatest number of findings that are kept.
    init(_ file: StoreOperand, mostFindings: Int = shownFindings) throws(ToolFailure) {
      self.file = file
      do {
        let container = try file.container(readOnly: true)
        defer { container.close() }
        var findings: [StoreFinding] = []
        var groups = FindingGroups(most: mostFindings)
        try container.check { finding in
          if findings.count < mostFindings { findings.append(finding) }
          groups.add(finding)
        }
        (self.findings, self.groups) = (findings, groups.all)
        let context = container.newContext()
        counts = try file.model.entities.filter { !$0.isAbstract }.map { entity in
          (entity.name, try context.count(of: StoreRequest(entity: entity.index, includesSubentities: false)))
        }
        let measured = try Self.measure(file)
        (sizes, parts) = (measured.sizes, measured.parts)
        advice = try Self.advice(file.model, context)
      } catch {
        throw ToolFailure(store: error, file.name)
      }
    }

    // MARK: Sizes

    private static func measure(
      _ file: StoreOperand
    ) throws -> (sizes: [(what: String, bytes: Int64)], parts: [(name: String, bytes: Int64)]) {
      if case .server = file.kind {
        let store = try file.store(readOnly: true)
        defer { store.close() }
        let parts = try (store as? PostgresStore)?.sizes() ?? []
        return ([("tables and indexes", parts.reduce(0) { $0 + $1.bytes })], parts)
      }
      var sizes: [(what: String, bytes: Int64)] = [("file", bytes(of: file.path))]
      var parts: [(name: String, bytes: Int64)] = []
      if file.kind == .sqlite, let store = try file.store(readOnly: true) as? SQLiteStore {
        defer { store.close() }
        let found = try store.sizes()
        sizes = [("file", found.file), ("of it free", found.free)]
        parts = found.parts
        let log = bytes(of: file.path + "-wal")
        if log > 0 { sizes.append(("write-ahead log", log)) }
      }
      let folder = file.path + ".external"
      if let names = try? FileManager.default.contentsOfDirectory(atPath: folder), !names.isEmpty {
        sizes.append(("external files", names.reduce(0) { $0 + bytes(of: folder + "/" + $1) }))
      }
      return (sizes, parts)
    }

    private static func bytes(of path: String) -> Int64 {
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
      return size?.int64Value ?? 0
    }

    // MARK: Advice

    /// The requests of the model that read a whole table, and the indexes that they lack.
    private static func advice(_ model: Model, _ context: ManagedObjectContext) throws -> [Advice] {
      var advice: [Advice] = []
      for entity in model.entities {
        for request in model.description.entities[entity.index].fetchRequests {
          // Nil stands for each variable: the plan does not depend on values.
          let names = request.predicate.map(variables) ?? []
          let bindings = Dictionary(names.map { ($0, FormatArgument.null) }) { first, _ in first }
          guard
            let asked = try? context.request(
              for: entity.index, format: request.predicate, bindings: bindings,
              sort: request.sort.map { ($0.isDescending ? "-" : "") + $0.path }, limit: request.limit),
            let missing = try context.plan(of: asked).missingIndex
          else { continue }
          advice.append(Advice(entity: entity.name, request: request.name, text: missing.description))
        }
      }
      return advice
    }

    /// The names after dollar signs, outside of quotes.
    private static func variables(of predicate: String) -> [String] {
      var names: [String] = []
      var quote: Character?
      var rest = predicate[...]
      while let character = rest.popFirst() {
        if let open = quote {
          if character == "\\" { _ = rest.popFirst() } else if character == open { quote = nil }
        } else if character == "'" || character == "\"" {
          quote = character
        } else if character == "$" {
          let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
          names.append(String(name))
          rest = rest.dropFirst(name.count)
        }
      }
      return names
    }

    // MARK: Text

    var text: String {
      var lines = ["\(file.name): \(kind) of the model \(file.model.name)"]
      lines += TextTable(counts.map { [$0.entity, "\($0.count)"] }, numbers: [1]).lines.map { "  " + $0 }
      lines += ["", "sizes"]
      lines += TextTable(sizes.map { [$0.what, Self.text(ofBytes: $0.bytes)] }, numbers: [1]).lines.map { "  " + $0 }
      if !parts.isEmpty {
        lines += ["", "largest tables and indexes"]
        lines += TextTable(parts.prefix(10).map { [$0.name, Self.text(ofBytes: $0.bytes)] }, numbers: [1]).lines.map {
          "  " + $0
        }
      }
      if !advice.isEmpty {
        lines += ["", "advice"]
        lines += advice.map { "  the request \($0.request) of \($0.entity) reads the whole table: \($0.text)" }
      }
      lines += ["", findings.isEmpty ? "nothing is broken" : "broken"]
      lines += groups.map { "  \($0)" }
      if groups.count >= shownFindings { lines.append("  and possibly more") }
      return lines.joined(separator: "\n") + "\n"
    }

    private var kind: String {
      switch file.kind {
      case .sqlite: "a SQLite store"
      case .document: "a JSON document"
      case .server: "a store on PostgreSQL"
      }
    }

    private var shortKind: String {
      switch file.kind {
      case .sqlite: "sqlite"
      case .document: "json"
      case .server: "postgresql"
      }
    }

    private static func text(ofBytes bytes: Int64) -> String {
      switch bytes {
      case ..<10_000: "\(bytes) B"
      case ..<10_000_000: "\(bytes / 1_000) kB"
      default: "\(bytes / 1_000_000) MB"
      }
    }

    /// All keys are always there.
    var json: String {
      func object(_ pairs: [(String, Int64)]) -> String {
        "{ " + pairs.map { "\(JSONText.quoted($0.0)): \($0.1)" }.joined(separator: ", ") + " }"
      }
      let broken = findings.map { finding in
        let key = finding.key.map { "\($0)" } ?? "null"
        let properties = finding.properties.map(JSONText.quoted).joined(separator: ", ")
        return #"{ "code": \#(JSONText.quoted(finding.code.rawValue)), "entity": "#
          + #"\#(finding.entity.map(JSONText.quoted) ?? "null"), "key": \#(key), "properties": [\#(properties)], "#
          + #""message": \#(JSONText.quoted(finding.message)), "repair": \#(JSONText.quoted(finding.repair)) }"#
      }
      let advised = advice.map {
        #"{ "entity": \#(JSONText.quoted($0.entity)), "request": \#(JSONText.quoted($0.request)), "advice": "#
          + #"\#(JSONText.quoted($0.text)) }"#
      }
      return """
        {
          "store": \(JSONText.quoted(file.name)),
          "kind": "\(shortKind)",
          "model": \(JSONText.quoted(file.model.name)),
          "objects": \(object(counts.map { ($0.entity, Int64($0.count)) })),
          "sizes": \(object(sizes.map { ($0.what, $0.bytes) })),
          "parts": \(object(parts.map { ($0.name, $0.bytes) })),
          "advice": [\(advised.joined(separator: ", "))],
          "findings": [\(broken.isEmpty ? "" : "\n    " + broken.joined(separator: ",\n    ") + "\n  ")]
        }

        """
    }
  }
}

// MARK: - Finding groups

/// Findings of one kind at one property: a program that writes by itself leaves the same in many rows.
struct FindingGroup: CustomStringConvertible {
  /// The number of keys that are shown.
  private static let shownKeys = 3

  /// The finding of the first object, without the object.
  let finding: StoreFinding
  private var keys: [Int64] = []
  private var count = 0

  init(_ finding: StoreFinding) { self.finding = finding }

  mutating func add(_ key: Int64?) {
    count += 1
    if let key, keys.count < Self.shownKeys { keys.append(key) }
  }

  /// The words of a finding, with the number of objects if there are several.
  var description: String {
    var told = finding
    if count == 1 {
      told.key = keys.first
    } else if !keys.isEmpty {
      let more = count > keys.count ? ", …" : ""
      told.message = "\(count) objects, \(keys.map { "\($0)" }.joined(separator: ", "))\(more): \(finding.message)"
    }
    return told.description
  }
}

/// Collects findings in groups.
private struct FindingGroups {
  private let most: Int
  private(set) var all: [FindingGroup] = []
  private var places: [StoreFinding: Int] = [:]

  /// - Parameter most: The maximum number of groups. The findings of others are not kept.
  init(most: Int) { self.most = most }

  mutating func add(_ finding: StoreFinding) {
    var common = finding
    common.key = nil
    if let place = places[common] { return all[place].add(finding.key) }
    if all.count >= most { return }
    places[common] = all.count
    all.append(FindingGroup(common))
    all[all.count - 1].add(finding.key)
  }
}

// MARK: - Command

extension Doctor {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1,
    options: [.init(name: "json", value: nil, summary: "print everything as one JSON object")],
    summary: "check a store, and say how large it is and what would make it faster",
    details: """
      Nothing in the store changes, and programs may go on using it. Exit 0 if all is well, 1 if something is broken, 66
      if the store cannot be read.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], asJSON: arguments.has("json"))
  }
}
