internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Sees to it that a file has the full-text tables of a model, and no others.
struct SearchOpening {
  let model: Model
  let options: OpenOptions
  let database: Database

  /// - Parameter isSameModel: whether the file was last written with the very same model.
  /// - Returns: what changes must mark, and what can be asked.
  func open(isSameModel: Bool) throws(StoreError) -> (marked: SearchPlan, asked: SearchPlan) {
    let plan = SearchPlan(model)
    let none = SearchPlan()
    // Most models have nothing to search, and most files never had.
    if plan.isEmpty && isSameModel { return (none, none) }
    let isUpToDate = try presentParts().isSame(as: plan)
    if options.isReadOnly { return (none, isUpToDate && isAvailable ? plan : none) }
    guard isAvailable else {
      // Who has the index at hand later is told what has changed.
      return (try presentParts().hasMarks ? plan : none, none)
    }
    if !isUpToDate { try remake(plan) }
    return (plan, plan)
  }

  /// Whether ``open(isSameModel:)`` is about to write to the file.
  func writes(isSameModel: Bool) throws(StoreError) -> Bool {
    let plan = SearchPlan(model)
    if plan.isEmpty && isSameModel { return false }
    guard isAvailable else { return false }
    return try !presentParts().isSame(as: plan)
  }

  /// Makes the tables of a new file, inside the transaction that makes all others.
  func create() throws(StoreError) -> SearchPlan {
    let plan = isAvailable ? SearchPlan(model) : SearchPlan()
    for part in plan.parts { try database.execute(part.statement, doing: "create the search index") }
    return plan
  }

  /// Whether the library has full-text tables. Without them searches look at each text.
  private var isAvailable: Bool {
    options.usesSearchIndex
      && (try? database.text("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")) ?? nil != nil
  }

  private func remake(_ plan: SearchPlan) throws(StoreError) {
    try database.execute("BEGIN IMMEDIATE", doing: "make the search index")
    do throws(StoreError) {
      let present = try presentParts()
      // Somebody else may have been faster.
      if !present.isSame(as: plan) {
        for part in present.parts { try database.execute(part.removal, doing: "drop a search index") }
        for part in plan.parts { try database.execute(part.statement, doing: "create the search index") }
        if !plan.isEmpty {
          for statement in plan.markAll + plan.indexMarked {
            try database.execute(statement, doing: "fill the search index")
          }
        }
      }
      try database.execute("COMMIT", doing: "make the search index")
    } catch {
      try? database.execute("ROLLBACK", doing: "make the search index")
      throw error
    }
  }

  private func presentParts() throws(StoreError) -> PresentParts {
    let statement = try database.prepare(SearchPlan.present)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var present = PresentParts()
    while try database.step(statement.pointer, doing: "read the search index") {
      guard let type = database.text(of: statement.pointer), let name = database.text(of: statement.pointer, 1) else {
        continue
      }
      let sql = database.text(of: statement.pointer, 2) ?? ""
      present.parts.append(PresentParts.Part(isTrigger: type == "trigger", name: name, sql: sql))
    }
    return present
  }
}

/// What a file has for searches.
private struct PresentParts {
  struct Part {
    let isTrigger: Bool
    let name: String
    let sql: String

    var removal: String { "DROP \(isTrigger ? "TRIGGER" : "TABLE") \(SQLName.quoted(name))" }
  }

  var parts: [Part] = []

  var hasMarks: Bool { parts.contains { $0.name == "_searchMarks" } }

  func isSame(as plan: SearchPlan) -> Bool {
    let expected = Set(plan.parts.map(\.statement))
    return expected.count == parts.count && parts.allSatisfy { expected.contains($0.sql) }
  }
}

extension Database {
  /// From here on the connection marks each row whose searchable texts it changes.
  func mark(_ plan: SearchPlan) throws(StoreError) {
    for trigger in plan.triggersOfConnection { try execute(trigger, doing: "prepare the connection") }
  }
}
