internal import CSQLite
import TrellisModel

/// The rules that a save's transaction checks again: the partners of deleted rows are read before the deletes, and
/// members are counted after everything is written.
struct RulesCheck {
  private var counts: [SaveRequest.CountChecks]
  private var broken = ConstraintViolations()

  /// Nil if the request has no rules to check.
  init?(_ request: SaveRequest, _ connection: SQLiteConnection) throws {
    if request.counts.isEmpty && request.denials.isEmpty { return nil }
    counts = request.counts
    for index in counts.indices where !counts[index].leaving.isEmpty {
      counts[index].owners += try connection.owners(ofMembers: counts[index].leaving, counts[index].relationship)
    }
    if !request.denials.isEmpty { try findDenials(request, connection) }
  }

  private mutating func findDenials(_ request: SaveRequest, _ connection: SQLiteConnection) throws {
    let leaving = request.departures
    for denial in request.denials {
      let (table, isFirst) = try connection.joinTable(of: denial.relationship)
      try connection.memberKeys(of: denial.relationship, owners: denial.owners) { owner, partner, _ in
        guard !leaving.takes(table, owner, partner, isFirst: isFirst) else { return }
        broken.denials.append(.init(relationship: denial.relationship, owner: owner, partner: partner))
      }
    }
  }

  /// - Throws: ``ConstraintViolations``.
  func finish(_ connection: SQLiteConnection) throws {
    var broken = broken
    for count in counts {
      var wrong: [Int64] = []
      try connection.memberCounts(of: count.relationship, owners: count.owners, upTo: count.enough) { owner, found in
        if !count.allows(found) { wrong.append(owner) }
      }
      try connection.memberCounts(of: count.relationship, owners: wrong, upTo: .max) { owner, found in
        broken.counts.append(.init(relationship: count.relationship, owner: owner, found: found))
      }
    }
    if !broken.isEmpty { throw broken }
  }
}

extension SQLiteConnection {
  fileprivate func joinTable(of number: RelationshipNumber) throws(StoreError) -> (table: Int, isFirst: Bool) {
    guard case .joinTable(let table, let isFirst)? = layout.relationship(number.entity, number.property)?.home else {
      throw PlanError.unknownEntity
    }
    return (table, isFirst)
  }

  fileprivate func owners(ofMembers members: [Int64], _ relationship: RelationshipNumber) throws -> [Int64] {
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.ownersOfMembers, relationship) { texts.owners }
    var owners: [Int64] = []
    try withKeys(prepared(members), statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "find owners") {
          owners.append(trellis_sqlite3_column_int64(pointer, 0))
        }
      }
    }
    return owners
  }

  fileprivate func memberCounts(
    of relationship: RelationshipNumber, owners: [Int64], upTo enough: Int, _ body: (_ owner: Int64, Int) -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.memberCount, relationship) { texts.counts }
    _ = trellis_sqlite3_bind_int64(statement.pointer, 2, Int64(enough))
    try withKeys(prepared(owners), statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "count members") {
          let count = trellis_sqlite3_column_int64(pointer, 1)
          body(trellis_sqlite3_column_int64(pointer, 0), Int(truncatingIfNeeded: count))
        }
      }
    }
  }
}

// MARK: - Violations

/// Describes SQLite's constraint errors in the model's terms.
extension SQLiteConnection {
  func violation(_ code: Int32, _ entity: Int) -> StoreError {
    let message = database.message
    let extended = trellis_sqlite3_extended_errcode(database.handle)
    let name = layout.model.entities[entity].name
    switch extended {
    case TRELLIS_SQLITE_CONSTRAINT_UNIQUE: return notUnique(message, entity)
    case TRELLIS_SQLITE_CONSTRAINT_PRIMARYKEY, TRELLIS_SQLITE_CONSTRAINT_ROWID:
      return StoreError(
        .notUnique, "A row with the key of a new \(name) is there already.",
        remedy: "Make the object again in a new context.", entity: name)
    case TRELLIS_SQLITE_CONSTRAINT_NOTNULL:
      return StoreError(
        .unstorableValue, "A required attribute of \(name) has no value (\(message)).",
        remedy: "Give it a value.", entity: name, properties: column(in: message, entity))
    case TRELLIS_SQLITE_CONSTRAINT_DATATYPE:
      return StoreError(
        .unstorableValue, "A value of \(name) is not of its column's type (\(message)).",
        remedy: "Report this as a mistake in Trellis.", entity: name)
    case TRELLIS_SQLITE_CONSTRAINT_FOREIGNKEY: return danglingReference()
    default: return database.error(code, doing: "write a row")
    }
  }

  private func notUnique(_ message: String, _ entity: Int) -> StoreError {
    let prefix = "UNIQUE constraint failed: "
    let columns = message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message
    let root = layout.model.entities[entity].root
    let candidates = setup.uniqueIndexes.filter { $0.root == root && $0.violation == columns }
    let index = candidates.first { layout.model.entities[$0.entity].subtree.contains(entity) } ?? candidates.first
    let owner = layout.model.entities[index?.entity ?? entity]
    let names = index?.properties.map { owner.properties[$0].name } ?? []
    return StoreError(
      .notUnique, "Another \(owner.name) has the same \(names.isEmpty ? columns : names.joined(separator: ", ")).",
      remedy: "Give it another value, or change the other object in the same save.", entity: owner.name,
      properties: names)
  }

  private func column(in message: String, _ entity: Int) -> [String] {
    let columns = layout.model.entities[entity].columns
    return columns.filter { message.hasSuffix(".\($0.name)") }.prefix(1).map(\.name)
  }

  /// Names a reference without a row, while the referring row can still be read.
  func danglingReference() -> StoreError {
    let found = try? brokenReference()
    let place = found.map { "\($0.table).\($0.column)" } ?? "A reference"
    return StoreError(
      .danglingReference, "\(place) leads to an object that is not in the store.",
      remedy: "Save the object it leads to in the same save, or set the relationship to nil.", entity: found?.table,
      properties: found.map { [$0.column] } ?? [])
  }

  private func brokenReference() throws(StoreError) -> (table: String, column: String)? {
    let check = try database.prepare("SELECT \"table\", fkid FROM pragma_foreign_key_check LIMIT 1")
    defer { _ = trellis_sqlite3_finalize(check.pointer) }
    guard try database.step(check.pointer, doing: "check references"), let table = database.text(of: check.pointer)
    else {
      return nil
    }
    let number = trellis_sqlite3_column_int64(check.pointer, 1)
    if let join = layout.model.joinTables.first(where: { $0.name == table }) {
      let entity = layout.model.entities[join.first.entity]
      return (entity.name, entity.properties[join.first.property].name)
    }
    let list = "SELECT \"from\" FROM pragma_foreign_key_list(\(SQLName.literal(table))) WHERE id = \(number)"
    return try database.text(list).map { (table, $0) }
  }

  func unstorable(_ entity: Int, _ count: Int32) -> StoreError {
    let declared = layout.model.entities[entity]
    switch writer.problem {
    case .notANumber:
      return StoreError(
        .unstorableValue, "A value of \(declared.name) is not a number.", remedy: "Give it a number or nil.",
        entity: declared.name)
    case .tooLarge:
      return StoreError(
        .limit, "A value of \(declared.name) is too large for SQLite.",
        remedy: "Keep values below 1,000,000,000 bytes.",
        entity: declared.name)
    case .external(let error): return error
    case .code(let code): return database.error(code, doing: "bind a value of \(declared.name)")
    case nil:
      return StoreError(
        .internalError, "An object of \(declared.name) wrote \(writer.index) values where \(count) belong.",
        remedy: "Generate the code again from the model.", entity: declared.name)
    }
  }
}
