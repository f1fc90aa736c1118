internal import CSQLite
import TrellisModel

/// Collects the pairs of links that are stored in another way, in temporary tables of a connection.
struct PairCollection {
  let database: Database
  let statements: MigrationStatements

  /// Collects and reduces the pairs of a link.
  ///
  /// - Returns: the number of pairs of two kept objects that are too many for the current link.
  func collect(_ number: Int) throws(StoreError) -> Int {
    let move = statements.migration.links[number]
    for statement in statements.collectPairs(number) + statements.filterPairs(number) {
      try database.run(statement, doing: "collect links")
    }
    guard move.mayLose else {
      try reduce(number)
      return 0
    }
    let before = try database.number(statements.countKeptPairs(number))
    try reduce(number)
    return before - (try database.number(statements.countKeptPairs(number)))
  }

  private func reduce(_ number: Int) throws(StoreError) {
    let move = statements.migration.links[number]
    if move.link.isSymmetric && !move.link.first.isToMany { try matchPartners(number) }
    for statement in statements.reducePairs(number) { try database.run(statement, doing: "collect links") }
  }

  /// In a one-to-one that is its own inverse, each object has at most one partner: the first that is free.
  private func matchPartners(_ number: Int) throws(StoreError) {
    var matching = PartnerMatching()
    var lost: [(owner: Int64, partner: Int64)] = []
    let statement = try database.prepare(
      "SELECT owner, partner FROM \(MigrationStatements.pairs(number)) ORDER BY owner, place, partner")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    while try database.step(statement.pointer, doing: "collect links") {
      let owner = trellis_sqlite3_column_int64(statement.pointer, 0)
      let partner = trellis_sqlite3_column_int64(statement.pointer, 1)
      if !matching.matches(owner, partner) { lost.append((owner, partner)) }
    }
    for (owner, partner) in lost {
      try database.run(
        MigrationStatement(
          "DELETE FROM \(MigrationStatements.pairs(number)) WHERE owner = ?1 AND partner = ?2",
          [.integer(owner), .integer(partner)]), doing: "collect links")
    }
  }
}

extension Database {
  /// Runs one statement of a migration.
  func run(_ statement: MigrationStatement, doing: String) throws(StoreError) {
    statistics.run += 1
    let prepared = try prepare(statement)
    defer { _ = trellis_sqlite3_finalize(prepared.pointer) }
    while try step(prepared.pointer, doing: doing) {}
  }

  /// Prepares a statement of a migration with its values. The caller finalizes it.
  func prepare(_ statement: MigrationStatement) throws(StoreError) -> Statement {
    let prepared = try prepare(statement.text)
    do throws(StoreError) {
      for (place, value) in statement.values.enumerated() {
        let code = try bind(value, .plain, Int32(truncatingIfNeeded: place + 1), prepared.pointer)
        try check(code, doing: "bind a value")
      }
    } catch {
      _ = trellis_sqlite3_finalize(prepared.pointer)
      throw error
    }
    return prepared
  }

  /// The number in the first column of the first row; 0 if there is none.
  func number(_ sql: String) throws(StoreError) -> Int {
    let statement = try prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    guard try step(statement.pointer, doing: "count rows") else { return 0 }
    return Int(truncatingIfNeeded: trellis_sqlite3_column_int64(statement.pointer, 0))
  }
}
