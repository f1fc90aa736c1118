import TrellisModel
import TrellisStorage

/// The counts of a store on a server for the plan of its migration: by statements what these can count, and the rest by
/// what has been read into memory.
struct ServerCounts: LossCounts {
  let connection: ServerConnection
  let migration: Migration
  /// The tables of the stored model.
  let stored: PostgresSetup
  /// The tables of the current model.
  let current: PostgresSetup
  let changes: ServerTableChanges
  let now: Int64
  /// Whether only that is found out which a refusal depends on: one row stands for all, and what a later statement refuses
  /// by itself is left to it.
  var decidesOnly = false
  /// The counts of what is in memory, which is read when the first of them is asked for; nil if nothing has to be.
  let inMemory: MemoryCounts

  /// Counts of rows that are read into memory once.
  final class MemoryCounts {
    private let read: () throws -> (any MigrationCounts)?
    private var found: (any MigrationCounts)??

    init(_ read: @escaping () throws -> (any MigrationCounts)?) { self.read = read }

    func callAsFunction() throws -> (any MigrationCounts)? {
      if let found { return found }
      let counts = try read()
      found = .some(counts)
      return counts
    }
  }

  private var model: Model { migration.stored }
  private var names: SQLNames { stored.layout.names }

  func rows(of entity: Int) throws -> Int { try count(entity, []) }

  func present(column: Int, in entity: Int) throws -> Int {
    try count(entity, ["\(name(column, entity)) IS NOT NULL"])
  }

  func missing(column: Int, in entity: Int) throws -> Int { try count(entity, ["\(name(column, entity)) IS NULL"]) }

  func lost(_ loss: Loss) throws -> Int {
    // What may go is not counted again.
    if decidesOnly && (loss.isConsented || current.options.migration.mode == .losing) { return 1 }
    return try sum(loss)
  }

  func duplicates(of key: NewKey) throws -> NewKey.Duplicates {
    let root = migration.current.entities[key.entity].root
    // The server refuses a key that it cannot make.
    if decidesOnly { return NewKey.Duplicates() }
    guard changes.kept[root] != nil, let selection = values(of: key) else {
      return try inMemory()?.duplicates(of: key) ?? NewKey.Duplicates()
    }
    let columns = key.columns.indices.map { "v\($0)" }
    let result = try connection.run(
      ServerStatement(
        "SELECT (array_agg(k ORDER BY k))[1:\(NewKey.Duplicates.shownRows)]::text, count(*) OVER () FROM (\(selection)) "
          + "AS r(k, \(columns.joined(separator: ", "))) WHERE "
          + "\(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
          + "GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 ORDER BY min(k) "
          + "LIMIT \(NewKey.Duplicates.shownValues)"))
    var duplicates = NewKey.Duplicates(count: result.count == 0 ? 0 : Int(result.integer(0, 1)))
    for row in 0..<result.count {
      let list = (result.text(row, 0) ?? "").dropFirst().dropLast()
      duplicates.rows.append(list.split(separator: ",").compactMap { Int64($0) })
    }
    return duplicates
  }

  func misfits(_ source: StoredColumn, in entity: Int) throws -> Misfits {
    try inMemory()?.misfits(source, in: entity) ?? Misfits()
  }

  func blanks(column: Int, of move: RowMove) throws -> Int { try inMemory()?.blanks(column: column, of: move) ?? 0 }

  func lostPairs(of link: Int) throws -> Int { try inMemory()?.lostPairs(of: link) ?? 0 }

  func breaches(of bound: Int) throws -> Int? { try inMemory()?.breaches(of: bound) }

  // MARK: Statements

  /// Selects the keys of rows, and their values of a unique key; nil if statements cannot tell a value.
  private func values(of key: NewKey) -> String? {
    var selections: [String] = []
    for move in migration.rows.compactMap(\.self)
    where migration.current.isEntity(move.entity, within: key.entity) {
      var columns = [SQLName.id]
      for column in key.columns {
        let type = current.types[key.entity][column]
        func value(_ filling: Filling) -> String? {
          switch filling {
          case .null, .unanswered: "NULL::\(type.name)"
          case .value, .now, .newUUID, .expression: ServerLiteral.text(filling, type, now: now)
          }
        }
        switch move.columns[column] {
        case .stored(let source) where source.conversion == nil:
          guard let missing = value(source.missing) else { return nil }
          columns.append("coalesce(\(name(source.column, move.origin)), \(missing))")
        case .new(let filling):
          guard let value = value(filling) else { return nil }
          columns.append(value)
        case .stored, .partner, .place: return nil
        }
      }
      let condition = own(move.origin).map { " WHERE \($0)" } ?? ""
      selections.append("SELECT \(columns.joined(separator: ", ")) FROM \(table(move.origin))\(condition)")
    }
    return selections.isEmpty ? nil : selections.joined(separator: " UNION ALL ")
  }

  private func table(_ entity: Int) -> String { stored.layout.tables[entity].name }

  private func name(_ column: Int, _ entity: Int) -> String {
    stored.layout.column(column, of: entity) ?? "NULL"
  }

  /// The condition for the rows of exactly this entity; nil if the table has no others.
  private func own(_ entity: Int) -> String? {
    let entity = model.entities[entity]
    return entity.isInHierarchy ? "\(SQLName.entity) = \(SQLName.literal(entity.name))" : nil
  }

  private func count(_ entity: Int, _ conditions: [String]) throws -> Int {
    let terms = [own(entity)].compactMap(\.self) + conditions
    return try number(of: table(entity), terms)
  }

  private func number(of source: String, _ terms: [String]) throws -> Int {
    let condition = terms.isEmpty ? "" : " WHERE \(terms.joined(separator: " AND "))"
    let rows = decidesOnly ? "(SELECT FROM \(source)\(condition) LIMIT 1) AS r" : "\(source)\(condition)"
    return Int(try connection.run(ServerStatement("SELECT count(*) FROM \(rows)")).integer(0, 0))
  }

  func pairs(_ number: Int, of entity: Int, with partners: [Int]) throws -> Int {
    guard let relationship = model.entities[entity].properties[number].relationship,
      let (link, isSecond) = migration.storedLinks.link(of: relationship)
    else { return 0 }
    let first = migration.storedLinks.all[link].first
    let (source, owner, partner): (String, String, String)
    switch first.home {
    case .joinTable(let number, _):
      let table = model.joinTables[number]
      (source, owner, partner) = (
        names.table(table.name), names.column(table.first.column), names.column(table.partnerColumn)
      )
    case .column(let column, _):
      (source, owner, partner) = (table(first.entity), SQLName.id, name(column, first.entity))
    case .inverseColumn, .transient: return 0
    }
    let (own, other) = isSecond ? (partner, owner) : (owner, partner)
    let others = partners.map { "p.\(other) IN \(keys(of: $0))" }.joined(separator: " OR ")
    return try self.number(of: "\(source) AS p", ["p.\(own) IN \(keys(of: entity))", "(\(others))"])
  }

  private func keys(of entity: Int) -> String {
    let condition = own(entity).map { " WHERE \($0)" } ?? ""
    return "(SELECT \(SQLName.id) FROM \(table(entity))\(condition))"
  }
}
