internal import CSQLite

/// The tables, triggers and indexes of a file that belong to a feature which the file may have or not, such as the search
/// index.
struct FeatureParts {
  let database: Database
  /// Finds the parts that the file has: the type, the name and the SQL of each.
  let question: String
  /// What the parts are made for, as the end of the sentence of an error.
  let purpose: String

  private struct Part {
    let type: String
    let name: String
    let sql: String
  }

  private func present() throws(StoreError) -> [Part] {
    var parts: [Part] = []
    let statement = try database.prepare(question)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    while try database.step(statement.pointer, doing: "read the schema") {
      guard let type = database.text(of: statement.pointer), let name = database.text(of: statement.pointer, 1) else {
        continue
      }
      parts.append(Part(type: type, name: name, sql: database.text(of: statement.pointer, 2) ?? ""))
    }
    return parts
  }

  func contain(_ name: String) throws(StoreError) -> Bool { try present().contains { $0.name == name } }

  /// Whether the file has exactly the expected parts.
  func areSame(as expected: [CheckStatements.Part]) throws(StoreError) -> Bool {
    let statements = Set(expected.map(\.statement))
    let present = try present()
    return statements.count == present.count && present.allSatisfy { statements.contains($0.sql) }
  }

  func create(_ parts: [CheckStatements.Part]) throws(StoreError) {
    for part in parts { try database.execute(part.statement, doing: purpose) }
  }

  func removeAll() throws(StoreError) {
    for part in try present() {
      try database.execute("DROP \(part.type) \(SQLName.quoted(part.name))", doing: purpose)
    }
  }

  /// Makes the parts anew unless the file has them, and fills them, in one transaction.
  ///
  /// - Parameter fill: receives whether the parts were made. Another connection may have made them in the meantime.
  func update(
    to expected: [CheckStatements.Part], _ fill: (_ isNew: Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    try database.execute("BEGIN IMMEDIATE", doing: purpose)
    do throws(StoreError) {
      let isNew = try !areSame(as: expected)
      if isNew {
        try removeAll()
        try create(expected)
      }
      try fill(isNew)
      try database.execute("COMMIT", doing: purpose)
    } catch {
      try? database.execute("ROLLBACK", doing: purpose)
      throw error
    }
  }
}
