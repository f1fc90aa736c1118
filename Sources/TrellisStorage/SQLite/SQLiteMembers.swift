internal import CSQLite
import TrellisModel

/// Reads the members of relationships, for many owners at once.
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

  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: one search per owner. If the owners are many, and their members a large part of the table, one pass
  ///   over the table.
  package func scatteredMembers(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    let wanted = prepared(owners)
    guard !layout.isPast, let range = try rangeToScan(relationship, wanted) else {
      return try members(of: relationship, owners: wanted, body)
    }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.memberScan, relationship) { texts.scan }
    let known = KeyBits(wanted, in: range)
    try bind(range, to: statement)
    try readRows(statement, layout.tables[texts.destination], base: 1) { reader, pointer in
      let owner = trellis_sqlite3_column_int64(pointer, 0)
      if known.contains(owner) { try body(owner, reader) }
    }
  }

  /// Fewer owners are searched for one by one, without counting.
  private static let fewOwners = 512

  /// A row that is searched for, in an index and then in its table, costs several times one that a pass over the table
  /// skips, which takes 540 instructions.
  private static let rowsPerSearch = 4

  /// The range of the owners if a pass over the members' table is faster than a search for each owner.
  private func rangeToScan(_ relationship: RelationshipNumber, _ owners: [Int64]) throws -> ClosedRange<Int64>? {
    guard owners.count >= Self.fewOwners, let range = owners.denseRange else { return nil }
    let texts = try memberStatements(relationship)
    guard texts.share != nil else { return nil }
    let statement = try memberStatement(.memberShare, relationship) { texts.share }
    try bind(range, to: statement)
    try database.check(
      trellis_sqlite3_bind_int64(statement.pointer, 3, Int64(Self.rowsPerSearch)), doing: "bind a share")
    return try run(statement) { pointer in try database.step(pointer, doing: "count members") ? range : nil }
  }

  private func bind(_ range: ClosedRange<Int64>, to statement: Statement) throws(StoreError) {
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, range.lowerBound), doing: "bind owners")
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, range.upperBound), doing: "bind owners")
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let wanted = prepared(owners)
    if let range = rangeOfPairs(texts, wanted) {
      return try pairs(of: wanted, in: range, relationship, texts) { owner, member in try body(owner, member, 0) }
    }
    let hasPlaces = texts.hasPlaces
    let statement = try memberStatement(.memberKeys, relationship) { texts.keys }
    try withKeys(wanted, statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "read members") {
          try body(
            trellis_sqlite3_column_int64(pointer, 0), trellis_sqlite3_column_int64(pointer, 1),
            hasPlaces ? trellis_sqlite3_column_int64(pointer, 2) : 0)
        }
      }
    }
  }

  /// Fewer owners are searched for in the join table one by one.
  private static let fewOwnersOfPairs = 32

  /// The range of the owners if their pairs are read faster from the first to the last than owner by owner; nil for pairs
  /// with positions, which have another order.
  private func rangeOfPairs(_ texts: MemberStatements, _ owners: [Int64]) -> ClosedRange<Int64>? {
    guard owners.count >= Self.fewOwnersOfPairs, !layout.isPast, let range = owners.denseRange,
      range.upperBound - range.lowerBound < 2 * owners.count, texts.hasUnorderedPairs
    else { return nil }
    return range
  }

  /// Reads the pairs of owners, in the order of both keys. Where the range ends is found by looking at each pair, because
  /// SQLite compares whole keys for a condition.
  private func pairs(
    of owners: [Int64], in range: ClosedRange<Int64>, _ relationship: RelationshipNumber, _ texts: MemberStatements,
    _ body: (_ owner: Int64, _ member: Int64) throws -> Void
  ) throws {
    let statement = try memberStatement(.keysFrom, relationship) { texts.keysFrom }
    let known = KeyBits(owners, in: range)
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, range.lowerBound), doing: "bind an owner")
    try run(statement) { pointer in
      while try database.step(pointer, doing: "read members") {
        let owner = trellis_sqlite3_column_int64(pointer, 0)
        if owner > range.upperBound { return }
        if known.contains(owner) { try body(owner, trellis_sqlite3_column_int64(pointer, 1)) }
      }
    }
  }

  package func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int {
    if layout.isPast { return 0 }
    guard !owners.isEmpty else { return .max }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.levels, relationship) { texts.levels }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, Int64(limit)), doing: "bind a limit")
    var (count, deepest) = (0, 0)
    try withKeys(prepared(owners), statement) {
      try readRows(statement, layout.tables[texts.destination], base: 1) { reader, pointer in
        let level = Int(truncatingIfNeeded: trellis_sqlite3_column_int64(pointer, 0))
        (count, deepest) = (count + 1, max(deepest, level))
        try body(level, reader)
      }
    }
    return count < limit ? .max : deepest - 1
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.lastPlaces, relationship) { texts.lastPlaces }
    try readPlaces(statement, owners, body)
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    guard !members.isEmpty else { return }
    let texts = try memberStatements(relationship)
    let statement = try memberStatement(.memberPlaces, relationship) { texts.places }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, owner), doing: "bind an owner")
    try readPlaces(statement, members, body)
  }

  /// Reads keys and positions by a list of keys, without the positions that are null.
  private func readPlaces(
    _ statement: Statement, _ keys: [Int64], _ body: (_ key: Int64, _ place: Int64) throws -> Void
  ) throws {
    try withKeys(prepared(keys), statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "read places") {
          guard trellis_sqlite3_column_type(pointer, 1) != TRELLIS_SQLITE_NULL else { continue }
          try body(trellis_sqlite3_column_int64(pointer, 0), trellis_sqlite3_column_int64(pointer, 1))
        }
      }
    }
  }
}

// MARK: - Scans

/// The statements that read the members of many owners in one pass over a table or an index.
extension MemberStatements {
  /// Selects the owner, then the member's row, of the owners in a range of keys, in the order of the members' keys: one
  /// pass over the whole table. Parameters: the least and the greatest owner. Nil if the members do not hold the reference,
  /// or have positions.
  package var scan: String? {
    guard areUnplacedRows else { return nil }
    let table = layout.tables[destination]
    return "SELECT \(owner), \(table.selection("t")) FROM \(table.name) AS t NOT INDEXED WHERE \(owner) BETWEEN ? AND ?"
  }

  /// Selects a row if the members of the owners in a range of keys are more than a part of the rows of their table, and
  /// counts them no further. Parameters: the least and the greatest owner, and the number of such parts in the whole
  /// table. Nil where ``scan`` is.
  package var share: String? {
    guard areUnplacedRows else { return nil }
    return "SELECT 1 FROM \(searched) WHERE \(owner) BETWEEN ?1 AND ?2 "
      + "LIMIT 1 OFFSET (SELECT count(*) FROM \(layout.tables[destination].name)) / ?3"
  }

  /// Whether the members are in a join table without positions.
  package var hasUnorderedPairs: Bool { isJoined && !hasPlaces }

  /// Selects the owner and the member's key, of all owners from a key on, in the order of both. Parameter: the least
  /// owner. Nil unless the relationship is unordered and has a join table.
  package var keysFrom: String? {
    guard hasUnorderedPairs else { return nil }
    return "SELECT \(owner), \(member) FROM \(searched) WHERE \(owner) >= ? ORDER BY \(owner), \(member)"
  }
}
