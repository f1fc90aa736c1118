internal import CSQLite
import Foundation
import TrellisModel

/// The history of an open file.
struct HistoryState: Sendable {
  /// What records the history. Nil if the program's model has none, or not the file's.
  var setup: HistorySetup?
  /// The triggers that stand in for records that the program does not write.
  var triggers: [String] = []
  /// What distinguishes the history of the file.
  var signature: Set<String> = []
}

/// Ensures that a file has the history of its model.
///
/// A file has the history of its current model. A program with a former model does not change it: if its own differs, its
/// writes are marked as unknown changes, by the triggers that other programs run. A program with a new model changes the
/// history together with the file's model, so that the programs which have the file open notice.
struct HistoryOpening {
  let model: Model
  let database: Database
  let isReadOnly: Bool
  let head: Metadata.Head
  /// Whether the file has exactly the program's model.
  let isSameModel: Bool
  /// Whether the file had the program's model before its current one.
  let hadThis: Bool
  private let plan: HistoryPlan

  init(
    _ model: Model, _ database: Database, isReadOnly: Bool, head: Metadata.Head, isSameModel: Bool, hadThis: Bool
  ) {
    self.model = model
    self.database = database
    self.isReadOnly = isReadOnly
    self.head = head
    self.isSameModel = isSameModel
    self.hadThis = hadThis
    plan = HistoryPlan(model)
  }

  /// Whether ``open()`` writes to the file.
  func writes() throws(StoreError) -> Bool {
    if isReadOnly || hadThis || plan.isEmpty && !head.hasHistory { return false }
    return try !isPresent
  }

  /// - Returns: the history, and whether the file got the program's model with it.
  func open() throws(StoreError) -> (state: HistoryState, isUpdated: Bool) {
    if plan.isEmpty && !head.hasHistory { return (HistoryState(), false) }
    if try isPresent { return (try state(of: plan), false) }
    if isReadOnly || hadThis {
      let stored = HistoryPlan(try Metadata.storedModel(in: database))
      let triggers = isReadOnly ? [] : stored.triggersOfConnection
      return (HistoryState(triggers: triggers, signature: stored.signature), false)
    }
    try database.execute("BEGIN IMMEDIATE", doing: "prepare the history")
    do throws(StoreError) {
      if !isSameModel { try SchemaUpdate.apply(model, to: database) }
      try HistoryUpdate(plan, database).run()
      try database.execute("COMMIT", doing: "prepare the history")
    } catch {
      try? database.execute("ROLLBACK", doing: "prepare the history")
      throw error
    }
    return (try state(of: plan), !isSameModel)
  }

  private var isPresent: Bool {
    get throws(StoreError) {
      try HistoryUpdate(plan, database).isDone
    }
  }

  private func state(of plan: HistoryPlan) throws(StoreError) -> HistoryState {
    guard !plan.isEmpty else { return HistoryState() }
    guard let identity = try Metadata.historyIdentity(in: database) else {
      throw SQLiteErrors.damaged(database.path, "its history has no identity")
    }
    return HistoryState(setup: HistorySetup(plan, identity: identity), signature: plan.signature)
  }
}

/// Gives a file the tables and triggers of a history, inside a transaction.
struct HistoryUpdate {
  private let plan: HistoryPlan
  private let database: Database
  private let present: [(type: String, name: String, sql: String)]

  init(_ plan: HistoryPlan, _ database: Database) throws(StoreError) {
    self.plan = plan
    self.database = database
    present = try Self.present(in: database)
  }

  private static func present(in database: Database) throws(StoreError) -> [(type: String, name: String, sql: String)] {
    let statement = try database.prepare(HistoryPlan.present)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var present: [(type: String, name: String, sql: String)] = []
    while try database.step(statement.pointer, doing: "read the history") {
      guard let type = database.text(of: statement.pointer), let name = database.text(of: statement.pointer, 1) else {
        continue
      }
      present.append((type, name, database.text(of: statement.pointer, 2) ?? ""))
    }
    return present
  }

  /// Whether the file has exactly the parts of the plan.
  var isDone: Bool {
    let expected = Set(plan.parts.map(\.statement))
    return expected.count == present.count && present.allSatisfy { expected.contains($0.sql) }
  }

  /// Drops what the plan does not have, and creates what is missing. Records stay as long as there is a history; former
  /// rows stay in tables that stay as they are.
  func run() throws(StoreError) {
    if isDone { return }
    let expected = Set(plan.parts.map(\.statement))
    let kept = Set(present.filter { isKept($0, expected) }.map(\.name))
    // An index goes with its table.
    for part in present where part.type == "trigger" && !kept.contains(part.name) { try drop(part) }
    for part in present where part.type == "table" && !kept.contains(part.name) { try drop(part) }
    let hasRecords = kept.contains("_history")
    for part in plan.parts where !kept.contains(part.name) {
      try database.execute(part.statement, doing: "prepare the history")
    }
    if plan.isEmpty { return try Metadata.setHistory(identity: nil, in: database) }
    if !hasRecords { try Metadata.setHistory(identity: UUID().uuidString, in: database) }
    let isNew = plan.parts.contains { $0.name.hasPrefix("_past.") && !kept.contains($0.name) }
    if isNew || !hasRecords {
      try Metadata.setFirstValues(try database.historyNumber(), in: database)
    }
  }

  private func isKept(_ part: (type: String, name: String, sql: String), _ expected: Set<String>) -> Bool {
    // The table of records is the same for every plan.
    if part.name == "_history" { return !plan.isEmpty }
    guard expected.contains(part.sql) else { return false }
    // An index goes with its table, which may have its columns in another order.
    guard part.type == "index" else { return true }
    let table = part.name.replacing("_pastKey.", with: "_past.", maxReplacements: 1)
    return present.contains { $0.name == table && expected.contains($0.sql) }
  }

  private func drop(_ part: (type: String, name: String, sql: String)) throws(StoreError) {
    try database.execute(
      "DROP \(part.type.uppercased()) \(SQLName.quoted(part.name))", doing: "prepare the history")
  }
}

/// Carries the history of a file along with a migration, inside its transaction. Records keep the numbers of the model
/// that they were written under, by which they are read.
struct HistoryMigration {
  private let past: PastMigration
  private let model: Model
  private let copies: [String]?
  private let database: Database
  private let hasHistory: Bool
  /// The number of the transaction from which on former values are kept.
  private let firstValues: Int64

  init(_ statements: MigrationStatements, runsSteps: Bool, _ database: Database) throws(StoreError) {
    past = PastMigration(statements)
    copies = past.copies(runsSteps: runsSteps)
    model = statements.migration.current
    self.database = database
    hasHistory = try Metadata.head(of: database).hasHistory
    firstValues = hasHistory ? try Metadata.firstValues(in: database) : 0
  }

  /// Sets the former rows aside before the tables change.
  func begin() throws(StoreError) {
    guard hasHistory else { return }
    for statement in past.setAside { try database.execute(statement, doing: "migrate the history") }
  }

  /// Makes the parts of the current model's history, fills them, and records the migration.
  func finish() throws(StoreError) {
    let plan = HistoryPlan(model)
    try HistoryUpdate(plan, database).run()
    guard hasHistory else { return }
    if !plan.isEmpty {
      let number = try record()
      for statement in copies ?? [] { try database.execute(statement, doing: "migrate the history") }
      try Metadata.setFirstValues(copies?.isEmpty == false ? firstValues : number, in: database)
    }
    for statement in past.dropFormer { try database.execute(statement, doing: "migrate the history") }
  }

  /// Adds a transaction that says that a migration changed the rows.
  ///
  /// - Returns: its number.
  private func record() throws(StoreError) -> Int64 {
    var writer = ChangeRecordWriter()
    writer.flags.insert(.isMigration)
    let statement = try database.prepare(HistoryPlan.insert)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    let model = try ModelLineage.number(of: self.model.checksum, in: database) ?? 0
    let values: [StoredValue] = [.integer(QueryClock.now), .integer(0), .integer(model), .null, .blob(writer.take())]
    for (place, value) in values.enumerated() {
      try database.check(
        try database.bind(value, .plain, Int32(place + 1), statement.pointer), doing: "bind a value")
    }
    _ = try database.step(statement.pointer, doing: "write the history")
    return try database.historyNumber()
  }
}

extension Database {
  /// The number of the last transaction of the history.
  fileprivate func historyNumber() throws(StoreError) -> Int64 {
    let statement = try prepare(HistoryPlan.last)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    return try step(statement.pointer, doing: "read the history")
      ? trellis_sqlite3_column_int64(statement.pointer, 0) : 0
  }
}
