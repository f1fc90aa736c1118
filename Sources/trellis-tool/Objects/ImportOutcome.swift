import TrellisJSON
import TrellisRuntime

/// What an import of JSON has done, or would do.
struct ImportOutcome {
  private struct Counts {
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var deleted = 0

    var changesNothing: Bool { inserted == 0 && updated == 0 && deleted == 0 }
  }

  private var counts: [(entity: String, counts: Counts)] = []
  private let rejected: [JSONImportFailure]
  private let unresolved: [JSONImportFailure]
  /// The number of rows that have separators only.
  private let emptyRows: Int
  private let isWritten: Bool
  /// Whether nothing was imported, because of mistakes.
  let isGivenUp: Bool

  /// So many mistakes are printed for people.
  static let mostFailures = 100

  init(_ report: JSONImportReport, isWritten: Bool) {
    rejected = report.rejected
    unresolved = report.unresolved
    emptyRows = report.emptyRows
    self.isWritten = isWritten
    isGivenUp = false
    add(report.inserted, \.inserted)
    add(report.updated, \.updated)
    add(report.unchanged, \.unchanged)
    add(report.deleted, \.deleted)
    counts.sort { $0.entity < $1.entity }
  }

  /// New objects of one entity.
  init(inserted count: Int, _ entity: String, emptyRows: Int) {
    rejected = []
    unresolved = []
    self.emptyRows = emptyRows
    isWritten = true
    isGivenUp = false
    if count > 0 { counts = [(entity, Counts(inserted: count))] }
  }

  /// Nothing, because of mistakes.
  init(_ failures: [JSONImportFailure]) {
    rejected = failures
    unresolved = []
    emptyRows = 0
    isWritten = false
    isGivenUp = true
  }

  private mutating func add(_ objects: ImportedObjects, _ count: WritableKeyPath<Counts, Int>) {
    for object in objects {
      let place = counts.firstIndex { $0.entity == object.entity } ?? counts.count
      if place == counts.count { counts.append((object.entity, Counts())) }
      counts[place].counts[keyPath: count] += 1
    }
  }

  private var changesNothing: Bool { counts.allSatisfy(\.counts.changesNothing) }

  private var status: ExitStatus {
    if !rejected.isEmpty { return .failure }
    return isWritten || changesNothing ? .success : .asks
  }

  // MARK: Output

  /// Prints the outcome. Returns the exit code.
  func show(asJSON: Bool) -> ExitStatus {
    if asJSON {
      Console.print(json)
      return status
    }
    show(rejected, "error")
    show(unresolved, "warning")
    if isGivenUp {
      Console.complain("error: \(rejected.count) \(mistakes), so nothing was written.\n")
      return status
    }
    if counts.isEmpty {
      Console.print("no objects\n")
    } else {
      let rows = counts.map { entity, counts in
        [entity, "\(counts.inserted)", "\(counts.updated)", "\(counts.unchanged)", "\(counts.deleted)"]
      }
      let header = ["entity", "inserted", "updated", "unchanged", "deleted"]
      Console.print(TextTable([header] + rows, numbers: [1, 2, 3, 4]).text)
    }
    if emptyRows > 0 {
      Console.print("\(emptyRows) row\(emptyRows == 1 ? "" : "s") with separators only passed over\n")
    }
    if !rejected.isEmpty {
      let verb = isWritten ? "were" : "are"
      Console.complain("error: \(rejected.count) \(mistakes); the objects with them \(verb) left out.\n")
    }
    if !isWritten, !changesNothing {
      Console.complain("Nothing was written. The same with --write changes the store.\n")
    }
    return status
  }

  private var mistakes: String { "mistake\(rejected.count == 1 ? "" : "s") in the input" }

  private func show(_ failures: [JSONImportFailure], _ severity: String) {
    for failure in failures.prefix(Self.mostFailures) {
      Console.complain("\(severity): \(Self.text(failure))\n")
    }
    if failures.count > Self.mostFailures {
      Console.complain("\(severity): and \(failures.count - Self.mostFailures) more, which --json prints\n")
    }
  }

  /// A failure in one line, with the key that leads to no object before the code.
  private static func text(_ failure: JSONImportFailure) -> String {
    guard let key = failure.key else { return "\(failure)" }
    let code = " [\(failure.code.rawValue)]"
    return "\("\(failure)".dropLast(code.count)): \(key.inMessage)\(code)"
  }

  private var json: String {
    let entities = counts.map { entry in
      (
        key: entry.entity,
        value: JSONText.object([
          ("inserted", "\(entry.counts.inserted)"), ("updated", "\(entry.counts.updated)"),
          ("unchanged", "\(entry.counts.unchanged)"), ("deleted", "\(entry.counts.deleted)"),
        ])
      )
    }
    return JSONText.object([
      ("written", "\(isWritten && !isGivenUp)"), ("entities", JSONText.object(entities)),
      ("rejected", JSONText.list(rejected.map(Self.json))), ("unresolved", JSONText.list(unresolved.map(Self.json))),
      ("emptyRows", "\(emptyRows)"),
    ]) + "\n"
  }

  private static func json(_ failure: JSONImportFailure) -> String {
    let place = failure.place
    return JSONText.object([
      ("code", JSONText.quoted(failure.code.rawValue)), ("path", quoted(place?.file)),
      ("line", place.map { "\($0.line)" } ?? "null"), ("column", place.map { "\($0.column)" } ?? "null"),
      ("pointer", quoted(place?.pointer)), ("entity", failure.entity.isEmpty ? "null" : quoted(failure.entity)),
      ("property", quoted(failure.property)), ("message", JSONText.quoted(failure.message)),
      ("key", quoted(failure.key)),
    ])
  }

  private static func quoted(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
}
