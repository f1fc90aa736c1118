internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Ensures that a file has exactly the full-text tables of a model.
struct SearchOpening {
  let model: Model
  let options: OpenOptions
  let database: Database

  /// - Parameter isSameModel: whether the file was last written with exactly the same model.
  /// - Returns: the columns where changes must insert marks, and the columns that searches may use.
  func open(isSameModel: Bool) throws(StoreError) -> (marked: SearchPlan, asked: SearchPlan) {
    let plan = SearchPlan(model)
    let none = SearchPlan()
    // Most models have no searchable attribute, and most files never had one.
    if plan.isEmpty && isSameModel { return (none, none) }
    let isUpToDate = try presentParts().isSame(as: plan)
    if options.isReadOnly { return (none, isUpToDate && isAvailable ? plan : none) }
    guard isAvailable else {
      // The marks tell a library with full-text search later which rows have changed.
      return (try presentParts().hasMarks ? plan : none, none)
    }
    if !isUpToDate { try remake(plan) }
    return (plan, plan)
  }

  /// Whether ``open(isSameModel:)`` will write to the file.
  func writes(isSameModel: Bool) throws(StoreError) -> Bool {
    let plan = SearchPlan(model)
    if plan.isEmpty && isSameModel { return false }
    guard isAvailable else { return false }
    return try !presentParts().isSame(as: plan)
  }

  /// Creates the tables of a new file, inside the transaction that creates all other tables.
  func create() throws(StoreError) -> SearchPlan {
    let plan = isAvailable ? SearchPlan(model) : SearchPlan()
    for part in plan.parts { try database.execute(part.statement, doing: "create the search index") }
    return plan
  }

  /// Whether the library has full-text tables. Without them, searches read each text.
  private var isAvailable: Bool {
    options.usesSearchIndex
      && (try? database.text("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")) ?? nil != nil
  }

  private func remake(_ plan: SearchPlan) throws(StoreError) {
    try database.execute("BEGIN IMMEDIATE", doing: "make the search index")
    do throws(StoreError) {
      let present = try presentParts()
      // Another connection may have done this in the meantime.
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

/// The tables and triggers for searches that a file has.
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
  /// Makes the connection mark each row whose searchable texts it changes.
  func mark(_ plan: SearchPlan) throws(StoreError) {
    for trigger in plan.triggersOfConnection { try execute(trigger, doing: "prepare the connection") }
  }
}
