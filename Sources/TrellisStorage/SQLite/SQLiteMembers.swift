internal import CSQLite
import Synchronization

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.memberRows, relationship) { texts.rows }
    let table = layout.tables[texts.destination]
    try withKeys(prepared(owners), statement) {
      try readRows(statement, table, base: 1) { reader, pointer in
        try body(trellis_sqlite3_column_int64(pointer, 0), reader)
      }
    }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.memberKeys, relationship) { texts.keys }
    try withKeys(prepared(owners), statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "read members") {
          try body(
            trellis_sqlite3_column_int64(pointer, 0), trellis_sqlite3_column_int64(pointer, 1),
            trellis_sqlite3_column_int64(pointer, 2))
        }
      }
    }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.lastPlaces, relationship) { texts.lastPlaces }
    try withKeys(prepared(owners), statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "read places") {
          guard trellis_sqlite3_column_type(pointer, 1) != TRELLIS_SQLITE_NULL else { continue }
          try body(trellis_sqlite3_column_int64(pointer, 0), trellis_sqlite3_column_int64(pointer, 1))
        }
      }
    }
  }

  func memberStatements(_ relationship: RelationshipNumber) throws(StoreError) -> MemberStatements {
    guard let texts = MemberStatements(layout, entity: relationship.entity, property: relationship.property) else {
      throw StoreError(
        .internalError, "The store was asked for a relationship that it does not keep.",
        remedy: "Report this as a mistake in Trellis.")
    }
    return texts
  }

  func memberStatement(
    _ kind: FixedStatement, _ relationship: RelationshipNumber, _ text: () -> String?
  ) throws(StoreError) -> Statement {
    try statement(kind, relationship.entity, UInt64(truncatingIfNeeded: relationship.property), text)
  }

  /// The owners sorted, so that searches go through the file in one direction, and without duplicates, so that no
  /// member is returned twice.
  func prepared(_ owners: [Int64]) -> [Int64] {
    var owners = owners
    owners.sortIfNeeded()
    for index in owners.indices.dropFirst() where owners[index - 1] == owners[index] { return owners.withoutRepeats }
    return owners
  }
}

extension [Int64] {
  /// Sorted keys without duplicates.
  fileprivate var withoutRepeats: [Int64] {
    var result: [Int64] = []
    for key in self where result.last != key { result.append(key) }
    return result
  }
}

// MARK: - Place

/// An open file may be removed, renamed or replaced. Then it continues to exist without its name, and everything
/// written to it is lost.
extension SQLiteConnection {
  /// Checks the path before each commit. This costs one system call.
  func checkPlace() throws(StoreError) {
    guard database.hasMoved else { return }
    setup.mayHaveMoved.store(true, ordering: .relaxed)
    throw SQLiteErrors.moved(setup.path)
  }

  /// Checks the path before reads, too, once a save has found the file moved, until the file is back.
  @inline(never) func checkPlaceAgain() throws(StoreError) {
    // A transaction runs to its end. Its commit checks the path by itself.
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return }
    if database.hasMoved { throw SQLiteErrors.moved(setup.path) }
    setup.mayHaveMoved.store(false, ordering: .relaxed)
  }
}

extension Database {
  /// Whether the path leads to another file, or to none. Systems without this check do not allow an open file to be
  /// moved.
  var hasMoved: Bool {
    var answer: Int32 = 0
    return trellis_sqlite3_file_control(handle, "main", TRELLIS_SQLITE_FCNTL_HAS_MOVED, &answer) == TRELLIS_SQLITE_OK
      && answer != 0
  }
}

extension StoreSetup {
  /// Ensures that a new connection does not open another file that has replaced this one.
  func checkIdentity() throws(StoreError) {
    guard let identity, let found = try? options.files.stamp(path), !found.isSameFile(as: identity) else { return }
    throw SQLiteErrors.moved(path)
  }
}
