internal import CSQLite
import TrellisSQL
import TrellisStorage

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
