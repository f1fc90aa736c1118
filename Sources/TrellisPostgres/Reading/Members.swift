package import TrellisModel
package import TrellisStorage

extension TableLayout {
  /// - Throws: ``StoreError`` for a relationship that is not stored.
  func memberStatements(_ relationship: RelationshipNumber) throws(StoreError) -> MemberStatements {
    guard let texts = MemberStatements(self, entity: relationship.entity, property: relationship.property) else {
      throw RequestFault.unknown
    }
    return texts
  }
}

// MARK: - Members

extension PostgresConnection {
  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    let statements = try layout.memberStatements(relationship)
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
      ServerStatement(try layout.memberStatements(list.relationship).rows, ServerParameters(list.owners.distinct))
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
    let statements = try layout.memberStatements(relationship)
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
    let statements = try layout.memberStatements(relationship)
    guard !owners.isEmpty else { return }
    try readAll(ServerStatement(statements.keys, ServerParameters(owners.distinct))) { result, row in
      try body(result.integer(row, 0), result.integer(row, 1), result.integer(row, 2))
    }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    let statements = try layout.memberStatements(relationship)
    guard !owners.isEmpty, let text = statements.lastPlaces else { return }
    try readAll(ServerStatement(text, ServerParameters(owners.distinct))) { result, row in
      if !result.isNull(row, 1) { try body(result.integer(row, 0), result.integer(row, 1)) }
    }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    let statements = try layout.memberStatements(relationship)
    guard !members.isEmpty, let text = statements.places else { return }
    var parameters = ServerParameters(members.distinct)
    parameters.add(owner)
    try readAll(ServerStatement(text, parameters)) { result, row in
      if !result.isNull(row, 1) { try body(result.integer(row, 0), result.integer(row, 1)) }
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
