package import TrellisModel
package import TrellisStorage

/// The statements about the members of a relationship, for many owners. The parameter is the list of owners.
struct MemberStatements {
  private let layout: TableLayout
  private let relationship: Relationship
  private let source: Source

  private enum Source {
    /// The reference in the owner's row.
    case reference(owner: Int, column: String)
    /// The references in the members' rows, with the column of their positions.
    case members(column: String, order: String?)
    /// The pairs of a join table: the columns of the owner, the member and the position.
    case pairs(table: String, owner: String, member: String, order: String?)
  }

  /// - Throws: ``StoreError`` for a relationship that is not stored.
  init(_ layout: TableLayout, _ number: RelationshipNumber) throws(StoreError) {
    guard let relationship = layout.relationship(number.entity, number.property) else { throw RequestFault.unknown }
    self.layout = layout
    self.relationship = relationship
    switch relationship.home {
    case .column(let number, _):
      guard let column = layout.column(number, of: relationship.entity) else { throw RequestFault.unknown }
      source =
        relationship.isOwnInverse
        // Both partners have the reference, so the partner is found like the other end of any one-to-one.
        ? .members(column: column, order: nil) : .reference(owner: relationship.entity, column: column)
    case .inverseColumn:
      guard case .column(let number, let order)? = layout.model.inverse(of: relationship)?.home,
        let column = layout.column(number, of: relationship.destination)
      else { throw RequestFault.unknown }
      source = .members(column: column, order: order.flatMap { layout.column($0, of: relationship.destination) })
    case .joinTable(let number, let isFirst):
      let join = layout.model.joinTables[number]
      let (first, partner) = (layout.names.column(join.first.column), layout.names.column(join.partnerColumn))
      let order = (isFirst ? join.first.orderColumn : join.second?.orderColumn).map(layout.names.column)
      source = .pairs(
        table: layout.names.table(join.name), owner: isFirst ? first : partner, member: isFirst ? partner : first,
        order: order)
    case .transient: throw RequestFault.unknown
    }
  }

  var destination: Int { relationship.destination }
  var isJoined: Bool { if case .pairs = source { true } else { false } }

  private static let owners = "unnest($1::bigint[]) WITH ORDINALITY AS k(owner, n)"
  private var target: String { "\(layout.tables[destination].name) AS t" }
  private static let key = "t.\(SQLName.id)"

  /// Owners with members, and those members, in their order.
  private func joined(withRow: Bool) -> (source: String, key: String, place: String?) {
    switch source {
    case .reference(let owner, let column):
      return (
        "\(Self.owners) JOIN \(layout.tables[owner].name) AS o ON o.\(SQLName.id) = k.owner "
          + "JOIN \(target) ON \(Self.key) = o.\(column)", Self.key, nil
      )
    case .members(let column, let order):
      return ("\(Self.owners) JOIN \(target) ON t.\(column) = k.owner", Self.key, order.map { "t.\($0)" })
    case .pairs(let table, let owner, let member, let order):
      let pairs = "\(Self.owners) JOIN \(table) AS j ON j.\(owner) = k.owner"
      return (
        withRow ? "\(pairs) JOIN \(target) ON \(Self.key) = j.\(member)" : pairs, "j.\(member)", order.map { "j.\($0)" }
      )
    }
  }

  private func order(_ key: String, _ place: String?) -> String {
    " ORDER BY k.n, \(place.map { "\($0) NULLS FIRST, " } ?? "")\(key)"
  }

  /// Selects the owner, then the member's row.
  var rows: String {
    let (source, key, place) = joined(withRow: true)
    return "SELECT k.owner, \(layout.tables[destination].selection("t")) FROM \(source)\(order(key, place))"
  }

  /// Selects the level and the row of what the owners lead to, level after level. The parameters are the owners and the
  /// number of rows. Nil if the relationship does not lead to rows of the same table.
  ///
  /// The search goes through all rows of a level before the next, and ends when enough rows were taken from it, also in a
  /// ring.
  var levels: String? {
    let table = layout.tables[destination]
    guard table.name == layout.tables[relationship.entity].name else { return nil }
    let step: (_ owner: String) -> String
    switch source {
    case .reference(_, let column):
      step = { owner in
        "JOIN \(table.name) AS o ON o.\(SQLName.id) = \(owner) JOIN \(target) ON \(Self.key) = o.\(column)"
      }
    case .members(let column, _): step = { owner in "JOIN \(target) ON t.\(column) = \(owner)" }
    case .pairs: return nil
    }
    return "WITH RECURSIVE w(level, node) AS (SELECT 1::bigint, \(Self.key) FROM \(Self.owners) \(step("k.owner")) "
      + "UNION ALL SELECT w.level + 1, \(Self.key) FROM w \(step("w.node"))) "
      + "SELECT l.level, \(table.selection("t")) FROM (SELECT w.level, w.node FROM w LIMIT $2) AS l "
      + "JOIN \(target) ON \(Self.key) = l.node"
  }

  /// Selects the owner, the member's key and its position.
  var keys: String {
    let (source, key, place) = joined(withRow: false)
    return
      "SELECT k.owner, \(key), \(place.map { "coalesce(\($0), 0)" } ?? "0::bigint") FROM \(source)\(order(key, place))"
  }

  /// Selects the owner and its greatest position. Nil if the relationship is not ordered.
  var lastPlaces: String? {
    let (source, _, place) = joined(withRow: false)
    return place.map { "SELECT k.owner, max(\($0)) FROM \(source) GROUP BY k.owner" }
  }

  /// Selects members and their positions. The parameters are the owner, as a list, and the list of members. Nil if the
  /// relationship is not ordered.
  var places: String? {
    let (source, key, place) = joined(withRow: false)
    return place.map { "SELECT \(key), \($0) FROM \(source) WHERE \(key) = ANY($2::bigint[]) AND \($0) IS NOT NULL" }
  }

  /// Selects the owner and the number of members, for owners that exist.
  var counts: String? {
    let members: String
    switch source {
    case .reference: return nil
    case .members(let column, _): members = "\(target) WHERE t.\(column) = k.owner"
    case .pairs(let table, let owner, _, _): members = "\(table) AS j WHERE j.\(owner) = k.owner"
    }
    return "SELECT k.owner, (SELECT count(*) FROM \(members)) FROM \(Self.owners) "
      + "JOIN \(layout.tables[relationship.entity].name) AS o ON o.\(SQLName.id) = k.owner"
  }

  /// Selects the owners of the members in the list. Nil if the relationship has no join table.
  var ownersOfMembers: String? {
    guard case .pairs(let table, let owner, let member, _) = source else { return nil }
    return "SELECT DISTINCT j.\(owner) FROM \(table) AS j WHERE j.\(member) = ANY($1::bigint[])"
  }
}

// MARK: - Members

extension PostgresConnection {
  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    let statements = try MemberStatements(layout, relationship)
    guard !owners.isEmpty else { return }
    if let known = announced.removeValue(forKey: MemberRequest(of: relationship, owners: owners)) {
      let reader = ServerRowReader(known, layout.tables[statements.destination], base: 1, store: store.name)
      for row in 0..<known.count {
        try reader.show(known, row)
        try body(known.integer(row, 0), reader)
      }
      return
    }
    let statement = ServerStatement(statements.rows, ServerParameters(owners.distinct))
    try readRows(statement, statements.destination, base: 1, isStreamed: owners.count > 100) { reader, result, row in
      try body(result.integer(row, 0), reader)
    }
  }

  /// Reads all of them in one round trip.
  package func willReadMembers(_ lists: [MemberRequest]) throws {
    announced = [:]
    if lists.isEmpty { return }
    let statements = try lists.map { list in
      ServerStatement(try MemberStatements(layout, list.relationship).rows, ServerParameters(list.owners.distinct))
    }
    for statement in statements { note(statement) }
    let results = try reading(doing: "read") { connection, first in
      let (results, failure) = try connection.run([first?.statement].compactMap(\.self) + statements)
      if let first, let answer = results.first { try first.check(answer) }
      if let failure { throw failure }
      return Array(results.suffix(statements.count))
    }
    announced = Dictionary(zip(lists, results)) { first, _ in first }
  }

  package func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int {
    guard !owners.isEmpty else { return .max }
    let statements = try MemberStatements(layout, relationship)
    guard let text = statements.levels else { return 0 }
    var parameters = ServerParameters(owners.distinct)
    parameters.add(Int64(limit))
    var (count, deepest) = (0, 0)
    try readRows(ServerStatement(text, parameters), statements.destination, base: 1, isStreamed: limit > 10_000) {
      reader, result, row in
      let level = Int(truncatingIfNeeded: result.integer(row, 0))
      (count, deepest) = (count + 1, max(deepest, level))
      try body(level, reader)
    }
    return count < limit ? .max : deepest - 1
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    let statements = try MemberStatements(layout, relationship)
    guard !owners.isEmpty else { return }
    try readAll(ServerStatement(statements.keys, ServerParameters(owners.distinct))) { result, row in
      try body(result.integer(row, 0), result.integer(row, 1), result.integer(row, 2))
    }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    let statements = try MemberStatements(layout, relationship)
    guard !owners.isEmpty, let text = statements.lastPlaces else { return }
    try readAll(ServerStatement(text, ServerParameters(owners.distinct))) { result, row in
      if !result.isNull(row, 1) { try body(result.integer(row, 0), result.integer(row, 1)) }
    }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    let statements = try MemberStatements(layout, relationship)
    guard !members.isEmpty, let text = statements.places else { return }
    var parameters = ServerParameters([owner])
    parameters.add(members)
    try readAll(ServerStatement(text, parameters)) { result, row in
      try body(result.integer(row, 0), result.integer(row, 1))
    }
  }
}

extension [Int64] {
  /// The keys in their order, each once.
  var distinct: [Int64] {
    if count < 2 { return self }
    var seen: Set<Int64> = []
    return filter { seen.insert($0).inserted }
  }
}

// MARK: - Keys

extension PostgresConnection {
  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    guard setup.model.entities.indices.contains(entity) else { throw RequestFault.unknown }
    guard !keys.isEmpty else { return }
    let table = layout.tables[entity]
    let ending = table.subtreeTerm.map { " AND \($0("t"))" } ?? ""
    let statement: ServerStatement
    if keys.count == 1 {
      var parameters = ServerParameters()
      parameters.add(keys[0])
      statement = ServerStatement(
        "SELECT \(table.selection("t")) FROM \(table.name) AS t WHERE t.\(SQLName.id) = $1\(ending)", parameters)
    } else {
      statement = ServerStatement(
        "SELECT \(table.selection("t")) FROM \(table.name) AS t WHERE t.\(SQLName.id) = ANY($1)\(ending)",
        ServerParameters(keys))
    }
    try readRows(statement, entity, isStreamed: keys.count > 1_000) { reader, _, _ in try body(reader) }
  }

  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    let entity = setup.model.entities[key.entity]
    let table = layout.tables[key.entity]
    guard let count = values.map(\.count).min(), count > 0 else { return }
    var parameters = ServerParameters()
    var lists: [String] = []
    var terms: [String] = []
    // A value that a column cannot hold is in no row.
    var arrays: [ServerArray] = []
    for property in key.properties {
      guard let column = entity.properties[property].column else { throw RequestFault.unknown }
      arrays.append(ServerArray(of: setup.types[key.entity][column]))
    }
    for number in 0..<count {
      for (place, list) in values.enumerated() where !arrays[place].append(list[number]) { arrays[place].appendNull() }
    }
    for (place, property) in key.properties.enumerated() {
      guard let number = entity.properties[property].column, let column = layout.column(number, of: key.entity) else {
        throw RequestFault.unknown
      }
      lists.append("\(parameters.add(arrays[place]))::\(arrays[place].type.name)[]")
      terms.append("t.\(column) = k.v\(place)")
    }
    let names = key.properties.indices.map { "v\($0)" }.joined(separator: ", ")
    let condition = table.subtreeTerm.map { " WHERE \($0("t"))" } ?? ""
    let text =
      "SELECT k.n, \(table.selection("t")) FROM unnest(\(lists.joined(separator: ", "))) WITH ORDINALITY "
      + "AS k(\(names), n) JOIN \(table.name) AS t ON \(terms.joined(separator: " AND "))\(condition)"
    try readRows(ServerStatement(text, parameters), key.entity, base: 1, isStreamed: count > 1_000) {
      reader, result, row in
      try body(Int(result.integer(row, 0)) - 1, reader)
    }
  }
}
