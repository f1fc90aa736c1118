package import TrellisModel

/// A statement of a migration, with the values that it binds.
package struct MigrationStatement: Hashable, Sendable {
  package let text: String
  package let values: [StoredValue]
  /// The stored table whose rows the statement copies; nil if it takes no time worth showing.
  let copiedTable: String?

  init(_ text: String, _ values: [StoredValue] = [], copying table: String? = nil) {
    self.text = text
    self.values = values
    copiedTable = table
  }
}

/// The SQL of a migration, in the order in which it runs.
///
/// A table stays as it is, or gets new columns and names, if that is enough. Otherwise it is set aside under another
/// name, created again and filled from the former tables. What comes from more than one row, pairs of relationships and
/// computed values, is collected in temporary tables before the first table changes.
package struct MigrationStatements {
  let migration: Migration
  /// The time of the migration, in microseconds since 1970.
  let now: Int64
  private let oldSchema: SchemaStatements
  private let newSchema: SchemaStatements
  /// The way from former tables to each table, by the number of the current root entity.
  let tables: [Int: TableChange]

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }

  package init(_ migration: Migration, now: Int64) {
    self.migration = migration
    self.now = now
    oldSchema = SchemaStatements(migration.stored)
    newSchema = SchemaStatements(migration.current)
    tables = TableChanges(migration, oldSchema, newSchema).all
  }

  /// Every statement that is known without the file, in the order in which they run.
  package var all: [MigrationStatement] {
    let indexes = IndexPlan(current).all.map { MigrationStatement($0.statement) }
    let reversed = current.joinTables.flatMap(newSchema.reversedIndex).map { MigrationStatement($0) }
    return collectedLinks.flatMap { collectPairs($0) + filterPairs($0) + reducePairs($0) } + renameTables + setAside
      + changeTables + dropFormer + indexes + reversed
  }

  // MARK: Collecting

  package static func pairs(_ link: Int) -> String { "temp.\"_pairs.\(link)\"" }
  static func values(_ expression: Int) -> String { "temp.\"_values.\(expression)\"" }

  /// The links that are collected, by their numbers.
  package var collectedLinks: [Int] {
    migration.links.indices.filter { migration.links[$0].way == .collected && passedOn(migration.links[$0]) == nil }
  }

  /// The selection of a link's pairs from the former tables, if they become rows of a join table without being collected
  /// before: none of them is lost, and their places stay.
  private func passedOn(_ move: LinkMove) -> (pairs: String, isReversed: Bool, table: String)? {
    guard move.way == .collected, !move.isFiltered, !move.mayReduceFirst, !move.mayReduceSecond,
      move.link.joinTable != nil, move.sources.count == 1, let source = move.sources.first
    else { return nil }
    let link = migration.storedLinks.all[source.link]
    guard !link.isSymmetric, !move.link.isSymmetric,
      !move.link.isFirstOrdered || move.keepsFirstPlaces(migration.storedLinks),
      !move.link.isSecondOrdered || move.keepsSecondPlaces(migration.storedLinks)
    else { return nil }
    let table: (name: String, aside: String)
    if let number = link.joinTable {
      guard !isKept(stored.joinTables[number]) else { return nil }
      table = (stored.joinTables[number].name, Self.asidePairs(number))
    } else {
      let root = stored.entities[link.first.entity].root
      guard !tables.values.contains(where: { $0.keptRoot == root }) else { return nil }
      table = (stored.entities[root].name, Self.aside(root))
    }
    return (StoredPairs.selection(of: link, in: stored, table: table.aside), source.isReversed, table.name)
  }

  /// Collects the stored pairs of a link.
  package func collectPairs(_ number: Int) -> [MigrationStatement] {
    let move = migration.links[number]
    let table = Self.pairs(number)
    var statements = [
      MigrationStatement(
        "CREATE TABLE \(table) (owner INTEGER, partner INTEGER, place INTEGER, inverse INTEGER, "
          + "PRIMARY KEY (owner, partner)) WITHOUT ROWID")
    ]
    for source in move.sources {
      let select = StoredPairs.selection(of: migration.storedLinks.all[source.link], in: stored)
      statements.append(insertPairs(table, select, isReversed: source.isReversed))
      if move.link.isSymmetric {
        statements.append(insertPairs(table, select, isReversed: !source.isReversed))
      }
    }
    return statements
  }

  private func insertPairs(_ table: String, _ select: String, isReversed: Bool) -> MigrationStatement {
    let columns = isReversed ? "partner, owner, inverse, place" : "owner, partner, place, inverse"
    return MigrationStatement("INSERT OR IGNORE INTO \(table) (\(columns)) \(select)")
  }

  /// Counts the collected pairs of two objects that are kept.
  package func countKeptPairs(_ number: Int) -> String {
    "SELECT count(*) FROM \(Self.pairs(number)) WHERE \(liveRows(within: nil, "partner"))"
  }

  /// Removes the pairs with objects that cannot be at their end any more.
  package func filterPairs(_ number: Int) -> [MigrationStatement] {
    let move = migration.links[number]
    guard move.isFiltered else { return [] }
    let table = Self.pairs(number)
    let owners = liveRows(within: move.link.first.entity, "owner")
    let partners = liveRows(within: move.link.first.destination, "partner")
    // A reference under the rule `noAction` may lead to nothing.
    let isLost =
      move.link.first.isLeftAlone
      ? "(NOT \(partners) AND \(liveRows(within: nil, "partner")))" : "NOT \(partners)"
    return [MigrationStatement("DELETE FROM \(table) WHERE NOT \(owners) OR \(isLost)")]
  }

  /// A condition: the key is that of a stored row that becomes an object of a current entity.
  private func liveRows(within entity: Int?, _ key: String) -> String {
    var names: [Int: [String]] = [:]
    for move in migration.rows.compactMap(\.self)
    where entity.map({ current.isEntity(move.entity, within: $0) }) ?? true {
      names[stored.entities[move.origin].root, default: []].append(stored.entities[move.origin].name)
    }
    let terms = names.sortedByKey.map { root, names in
      let table = stored.entities[root]
      let isWhole = names.count == table.subtree.count { !stored.entities[$0].isAbstract }
      let condition =
        isWhole || !table.isInHierarchy
        ? "" : " AND t.\(SQLName.entity) IN (\(names.map(SQLName.literal).joined(separator: ", ")))"
      return "EXISTS (SELECT 1 FROM main.\(SQLName.quoted(table.name)) AS t WHERE t.\(SQLName.id) = \(key)\(condition))"
    }
    return terms.isEmpty ? "0" : "(\(terms.joined(separator: " OR ")))"
  }

  /// Reduces the collected pairs to those that the current link can have, and gives them places.
  package func reducePairs(_ number: Int) -> [MigrationStatement] {
    let move = migration.links[number]
    let table = Self.pairs(number)
    var statements: [MigrationStatement] = []
    if move.mayReduceFirst && !move.link.isSymmetric {
      statements.append(keepFirst(table, of: "owner", by: "place", then: "partner"))
    }
    if move.mayReduceSecond && !move.link.isSymmetric {
      statements.append(keepFirst(table, of: "partner", by: "inverse", then: "owner"))
    }
    if move.link.isFirstOrdered && !move.keepsFirstPlaces(migration.storedLinks) {
      statements.append(numberPlaces(table, "place", of: "owner", then: "partner"))
    }
    if move.link.isSecondOrdered && !move.keepsSecondPlaces(migration.storedLinks) {
      statements.append(numberPlaces(table, "inverse", of: "partner", then: "owner"))
    }
    return statements
  }

  private func keepFirst(_ table: String, of end: String, by place: String, then key: String) -> MigrationStatement {
    MigrationStatement(
      "DELETE FROM \(table) WHERE (owner, partner) IN (SELECT owner, partner FROM (SELECT owner, partner, "
        + "row_number() OVER (PARTITION BY \(end) ORDER BY \(place), \(key)) AS n FROM \(table)) "
        + "WHERE n > 1)")
  }

  private func numberPlaces(_ table: String, _ place: String, of end: String, then key: String) -> MigrationStatement {
    MigrationStatement(
      "UPDATE \(table) AS p SET \(place) = n.n FROM (SELECT owner, partner, \(PairPlaces.gap) * row_number() OVER "
        + "(PARTITION BY \(end) ORDER BY \(place), \(key)) AS n FROM \(table)) AS n "
        + "WHERE n.owner = p.owner AND n.partner = p.partner")
  }

  // MARK: Tables

  /// Gives tables their new names. References follow the new names.
  package var renameTables: [MigrationStatement] {
    var renames: [(from: String, to: String)] = []
    for root in stored.entities where root.parent == nil {
      let name = renamed(root.index)
      if name != root.name { renames.append((root.name, name)) }
    }
    // By way of a third name, because names may be swapped, or differ in case only.
    return renames.enumerated().map { rename($1.from, "_name.\($0)") }
      + renames.enumerated().map { rename("_name.\($0)", $1.to) }
  }

  private func rename(_ old: String, _ new: String) -> MigrationStatement {
    MigrationStatement("ALTER TABLE \(SQLName.quoted(old)) RENAME TO \(SQLName.quoted(new))")
  }

  /// The name of a stored root entity's table after ``renameTables``. Another table may get the name of one that is not
  /// kept.
  private func renamed(_ root: Int) -> String {
    guard let successor = migration.match.successors[root], current.entities[successor].parent == nil else {
      return "_gone.\(root)"
    }
    return current.entities[successor].name
  }

  static func aside(_ root: Int) -> String { "_old.\(root)" }
  static func asidePairs(_ table: Int) -> String { "_oldPairs.\(table)" }

  /// Gives the former tables that are not kept another name. References stay as they are.
  package var setAside: [MigrationStatement] {
    let kept = Set(tables.values.compactMap(\.keptRoot))
    return stored.entities.filter { $0.parent == nil && !kept.contains($0.index) }
      .map { rename(renamed($0.index), Self.aside($0.index)) }
      + stored.joinTables.filter { !isKept($0) }.map { rename($0.name, Self.asidePairs($0.index)) }
  }

  /// Creates, fills and changes tables.
  package var changeTables: [MigrationStatement] {
    var statements: [MigrationStatement] = []
    for root in current.entities where root.parent == nil {
      switch tables[root.index] {
      case .kept(let change)?: statements += change.statements(newSchema, now: now)
      case .rebuilt(let sources)?:
        statements.append(MigrationStatement(newSchema.table(root)))
        for source in sources { statements.append(fill(root, from: source)) }
      case nil: break
      }
    }
    for table in current.joinTables where keptOrigin(of: table) == nil {
      statements.append(MigrationStatement(newSchema.joinTable(table)))
      if let filling = fill(table) { statements.append(filling) }
    }
    return statements
  }

  /// Drops the tables that were set aside.
  package var dropFormer: [MigrationStatement] {
    let kept = Set(tables.values.compactMap(\.keptRoot))
    return stored.entities.filter { $0.parent == nil && !kept.contains($0.index) }
      .map { MigrationStatement("DROP TABLE \(SQLName.quoted(Self.aside($0.index)))") }
      + stored.joinTables.filter { !isKept($0) }
      .map { MigrationStatement("DROP TABLE \(SQLName.quoted(Self.asidePairs($0.index)))") }
  }

  /// The rows of a former table that become rows of a current one.
  private func fill(_ root: Entity, from source: Int) -> MigrationStatement {
    var values = BoundValues(now: now)
    let moves = migration.rows.compactMap(\.self).filter {
      stored.entities[$0.origin].root == source && current.entities[$0.entity].root == root.index
    }
    let old = stored.entities[source]
    var names = [SQLName.id, SQLName.version]
    var expressions = ["o.\(SQLName.id)", "o.\(SQLName.version)"]
    if root.isInHierarchy {
      names.append(SQLName.entity)
      expressions.append(choice(moves, old) { SQLName.literal(current.entities[$0.entity].name) })
    }
    for column in newSchema.columns(of: root) {
      names.append(SQLName.quoted(column.name))
      expressions.append(
        choice(moves, old) { move in
          let entity = current.entities[move.entity]
          guard let number = entity.columns.firstIndex(where: { $0.name == column.name }) else { return "NULL" }
          return expression(move.columns[number], stored.entities[move.origin], &values)
        })
    }
    let moved = moves.map { stored.entities[$0.origin].name }
    let isWhole = moved.count == old.subtree.count { !stored.entities[$0].isAbstract }
    let rows =
      isWhole || !old.isInHierarchy
      ? "" : " WHERE o.\(SQLName.entity) IN (\(moved.map(SQLName.literal).joined(separator: ", ")))"
    return MigrationStatement(
      "INSERT INTO \(SQLName.quoted(root.name)) (\(names.joined(separator: ", "))) SELECT "
        + "\(expressions.joined(separator: ", ")) FROM \(SQLName.quoted(Self.aside(source))) AS o\(rows)", values.all,
      copying: stored.entities[source].name)
  }

  /// Selects the keys of rows with the same values of a unique key, in a list for each of these values.
  func duplicates(of key: NewKey) -> MigrationStatement {
    var values = BoundValues(now: now)
    let names = key.columns.indices.map { "v\($0)" }
    let rows = migration.rows.compactMap(\.self).filter { current.isEntity($0.entity, within: key.entity) }
      .map { move -> String in
        let origin = stored.entities[move.origin]
        let columns = zip(key.columns, names).map { column, name in
          "\(expression(move.columns[column], origin, &values)) AS \(name)"
        }
        let condition = origin.isInHierarchy ? " WHERE o.\(SQLName.entity) = \(SQLName.literal(origin.name))" : ""
        return "SELECT o.\(SQLName.id) AS k, \(columns.joined(separator: ", ")) FROM main."
          + "\(SQLName.quoted(stored.entities[origin.root].name)) AS o\(condition)"
      }
    return MigrationStatement(
      "SELECT group_concat(k, ' ') FROM (\(rows.joined(separator: " UNION ALL "))) "
        + "WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) "
        + "GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1 ORDER BY min(k)", values.all)
  }

  /// Counts the rows for which a current column has no value.
  func blanks(column: Int, of move: RowMove) -> MigrationStatement {
    var values = BoundValues(now: now)
    let rows = selection(of: column, move, &values)
    return MigrationStatement("SELECT count(*) FROM (\(rows)) WHERE v IS NULL", values.all)
  }

  /// A selection of the values v that a current column gets.
  private func selection(of column: Int, _ move: RowMove, _ values: inout BoundValues) -> String {
    let origin = stored.entities[move.origin]
    return selection(of: expression(move.columns[column], origin, &values), origin)
  }

  private func selection(of value: String, _ origin: Entity) -> String {
    let condition = origin.isInHierarchy ? " WHERE o.\(SQLName.entity) = \(SQLName.literal(origin.name))" : ""
    return "SELECT \(value) AS v FROM main.\(SQLName.quoted(stored.entities[origin.root].name)) AS o\(condition)"
  }

  /// Counts the rows that break a new bound.
  func breaches(of number: Int) -> MigrationStatement {
    let bound = migration.newBounds[number]
    var values = BoundValues(now: now)
    let moves = migration.rows.compactMap(\.self).filter { bound.origins.contains($0.origin) }
    let rows = moves.map { move in
      switch bound.subject {
      case .values(let column): selection(of: column, move, &values)
      case .partners: selection(of: "o.\(SQLName.id)", stored.entities[move.origin])
      }
    }
    let all = rows.joined(separator: " UNION ALL ")
    switch bound.subject {
    case .values:
      return MigrationStatement("SELECT count(*) FROM (\(all)) WHERE trellis_breaks(\(number), v)", values.all)
    case .partners(let link, let isSecond):
      guard let relationship = current.entities[bound.entity].properties[bound.property].relationship else {
        return MigrationStatement("SELECT 0")
      }
      let end = isSecond ? "partner" : "owner"
      return MigrationStatement(
        "SELECT count(*) FROM (\(all)) LEFT JOIN (SELECT \(end) AS k, count(*) AS n FROM (\(pairs(ofMoved: link))) "
          + "GROUP BY \(end)) ON k = v WHERE \(Self.isForbidden("ifnull(n, 0)", by: relationship))")
    }
  }

  private static func isForbidden(_ count: String, by relationship: Relationship) -> String {
    let mayBeEmpty = relationship.isToMany && relationship.isOptional
    let isTooSmall = "\(count) < \(relationship.leastCount)" + (mayBeEmpty ? " AND \(count) > 0" : "")
    return "\(count) > \(relationship.mostCount) OR \(isTooSmall)"
  }

  /// A selection of the pairs that a current link gets, owner and partner.
  private func pairs(ofMoved number: Int) -> String {
    if collectedLinks.contains(number) { return "SELECT owner, partner FROM \(Self.pairs(number))" }
    guard let source = migration.links[number].sources.first else { return "SELECT 0 AS owner, 0 AS partner WHERE 0" }
    let stored = StoredPairs.selection(of: migration.storedLinks.all[source.link], in: stored)
    return source.isReversed
      ? "SELECT partner AS owner, owner AS partner FROM (\(stored))" : "SELECT owner, partner FROM (\(stored))"
  }

  /// An expression that depends on the entity of the stored row.
  private func choice(_ moves: [RowMove], _ old: Entity, _ expression: (RowMove) -> String) -> String {
    let expressions = moves.map(expression)
    guard let first = expressions.first else { return "NULL" }
    guard old.isInHierarchy, expressions.contains(where: { $0 != first }) else { return first }
    let cases = zip(moves, expressions).map { move, text in
      "WHEN \(SQLName.literal(stored.entities[move.origin].name)) THEN \(text)"
    }
    return "CASE o.\(SQLName.entity) \(cases.joined(separator: " ")) END"
  }

  private func expression(_ source: ColumnSource, _ origin: Entity, _ values: inout BoundValues) -> String {
    switch source {
    case .stored(let column): return stored(column, origin, &values)
    case .new(let filling): return values.expression(filling)
    case .partner(let link): return pair("partner", link)
    case .place(let link): return pair("inverse", link)
    }
  }

  private func pair(_ column: String, _ link: Int) -> String {
    "(SELECT p.\(column) FROM \(Self.pairs(link)) AS p WHERE p.owner = o.\(SQLName.id))"
  }

  private func stored(_ source: StoredColumn, _ origin: Entity, _ values: inout BoundValues) -> String {
    let column = "o.\(SQLName.quoted(origin.columns[source.column].name))"
    var text = source.isInlined ? "trellis_inline(\(column))" : column
    if let conversion = source.conversion {
      text = "trellis_convert(\(conversion), \(text))"
      if source.misfit != .null { text = "COALESCE(\(text), \(values.expression(source.misfit)))" }
      if source.misfit != .null || source.missing != .null {
        return "CASE WHEN \(column) IS NULL THEN \(values.expression(source.missing)) ELSE \(text) END"
      }
      return text
    }
    return source.missing == .null ? text : "COALESCE(\(text), \(values.expression(source.missing)))"
  }

  // MARK: Join tables

  private func isKept(_ table: JoinTable) -> Bool {
    current.joinTables.contains { keptOrigin(of: $0) == table.index }
  }

  /// The stored join table that a current one is, unchanged.
  func keptOrigin(of table: JoinTable) -> Int? {
    guard let (move, source) = copiedLink(of: table), !source.isReversed,
      let number = migration.storedLinks.all[source.link].joinTable
    else { return nil }
    let old = stored.joinTables[number]
    let isSame =
      old.name == table.name && old.first.column == table.first.column && old.partnerColumn == table.partnerColumn
      && old.first.orderColumn == table.first.orderColumn && old.second?.orderColumn == table.second?.orderColumn
      && refersToSame(move.link.first.entity, migration.storedLinks.all[source.link].first.entity)
      && refersToSame(move.link.first.destination, migration.storedLinks.all[source.link].first.destination)
    return isSame ? number : nil
  }

  /// Whether the foreign key to the stored entity's table is one to the current entity's table after the renames.
  private func refersToSame(_ entity: Int, _ origin: Int) -> Bool {
    migration.match.successors[stored.entities[origin].root] == current.entities[entity].root
  }

  /// The stored join table whose pairs become those of a current one as they are.
  func copiedOrigin(of table: JoinTable) -> (table: Int, isReversed: Bool)? {
    guard let (_, source) = copiedLink(of: table), let number = migration.storedLinks.all[source.link].joinTable else {
      return nil
    }
    return (number, source.isReversed)
  }

  private func copiedLink(of table: JoinTable) -> (LinkMove, LinkMove.Source)? {
    for move in migration.links where move.link.joinTable == table.index && move.way == .copied {
      return move.sources.first.map { (move, $0) }
    }
    return nil
  }

  private func fill(_ table: JoinTable) -> MigrationStatement? {
    guard let number = migration.links.firstIndex(where: { $0.link.joinTable == table.index }) else { return nil }
    let move = migration.links[number]
    var names = [SQLName.quoted(table.first.column), SQLName.quoted(table.partnerColumn)]
    let source: (columns: [String?], table: String)
    var copied: String?
    switch move.way {
    case .new: return nil
    case .collected:
      let columns = ["owner", "partner", "place", move.link.isSymmetric ? nil : "inverse"]
      if let (pairs, isReversed, table) = passedOn(move) {
        source = (isReversed ? ["partner", "owner", "inverse", "place"] : columns, "(\(pairs))")
        copied = table
      } else {
        source = (columns, Self.pairs(number))
      }
    case .copied:
      guard let (_, from) = copiedLink(of: table), let number = migration.storedLinks.all[from.link].joinTable else {
        return nil
      }
      let old = stored.joinTables[number]
      let ends = [old.first.column, old.partnerColumn].map(SQLName.quoted)
      let places = [old.first.orderColumn, old.second?.orderColumn].map { $0.map(SQLName.quoted) }
      let columns =
        (from.isReversed ? Array(ends.reversed()) : ends).map(Optional.some)
        + (from.isReversed ? Array(places.reversed()) : places)
      source = (columns, SQLName.quoted(Self.asidePairs(number)))
      copied = old.name
    }
    var columns = source.columns.prefix(2).map { $0 ?? "NULL" }
    for (order, column) in zip([table.first.orderColumn, table.second?.orderColumn], source.columns.dropFirst(2)) {
      guard let order else { continue }
      names.append(SQLName.quoted(order))
      columns.append(column ?? "NULL")
    }
    return MigrationStatement(
      "INSERT INTO \(SQLName.quoted(table.name)) (\(names.joined(separator: ", "))) SELECT "
        + "\(columns.joined(separator: ", ")) FROM \(source.table)", copying: copied)
  }
}

/// The stored pairs of a link: owner, partner, place of the partner, place of the owner (`inverse`).
enum StoredPairs {
  /// - Parameter table: the name of the table that has the pairs, if it is another one than in the stored model.
  static func selection(of link: LinkList.Link, in stored: Model, table name: String? = nil) -> String {
    switch link.first.home {
    case .joinTable(let number, _):
      let table = stored.joinTables[number]
      if link.isSymmetric { return symmetricSelection(table) }
      return selection(
        SQLName.quoted(table.first.column), SQLName.quoted(table.partnerColumn), table.first.orderColumn,
        table.second?.orderColumn, name ?? table.name)
    case .column(let column, let order):
      let entity = stored.entities[link.first.entity]
      let reference = SQLName.quoted(entity.columns[column].name)
      return selection(
        SQLName.id, reference, nil, order.map { entity.columns[$0].name }, name ?? stored.entities[entity.root].name)
        + " WHERE \(reference) IS NOT NULL"
    case .inverseColumn, .transient:
      return "SELECT NULL AS owner, NULL AS partner, NULL AS place, NULL AS inverse WHERE 0"
    }
  }

  /// The place of the owner among the members of the partner is with the pair in the other direction.
  private static func symmetricSelection(_ table: JoinTable) -> String {
    let name = SQLName.quoted(table.name)
    let (owner, partner) = (SQLName.quoted(table.first.column), SQLName.quoted(table.partnerColumn))
    let pairs = "SELECT p.\(owner) AS owner, p.\(partner) AS partner"
    guard let place = table.first.orderColumn.map(SQLName.quoted) else {
      return "\(pairs), NULL AS place, NULL AS inverse FROM main.\(name) AS p"
    }
    return "\(pairs), p.\(place) AS place, (SELECT r.\(place) FROM main.\(name) AS r WHERE r.\(owner) = p.\(partner) "
      + "AND r.\(partner) = p.\(owner)) AS inverse FROM main.\(name) AS p"
  }

  private static func selection(
    _ owner: String, _ partner: String, _ place: String?, _ inverse: String?, _ table: String
  ) -> String {
    "SELECT \(owner) AS owner, \(partner) AS partner, \(place.map(SQLName.quoted) ?? "NULL") AS place, "
      + "\(inverse.map(SQLName.quoted) ?? "NULL") AS inverse FROM main.\(SQLName.quoted(table))"
  }
}

extension MigrationPlan {
  /// The statements that change a SQLite file, or the tables on a server, in their order, without the counts and checks
  /// around them. Values are parameters. Rows of tables that are written anew on a server come from memory, after the
  /// last `CREATE TABLE`, and have no statement here.
  ///
  /// - Complexity: linear in the size of both models.
  public var sql: [String] { statements ?? MigrationStatements(migration, now: 0).all.map(\.text) }
}

/// The values that a statement binds.
struct BoundValues {
  let now: Int64
  private(set) var all: [StoredValue] = []

  init(now: Int64) { self.now = now }

  mutating func expression(_ filling: Filling) -> String {
    switch filling {
    case .null, .unanswered: "NULL"
    case .value(.null): "NULL"
    case .value(let value): parameter(value)
    case .now: parameter(.integer(now))
    case .newUUID: "trellis_uuid()"
    case .expression(let number):
      "(SELECT v.value FROM \(MigrationStatements.values(number)) AS v WHERE v.key = o.\(SQLName.id))"
    }
  }

  private mutating func parameter(_ value: StoredValue) -> String {
    all.append(value)
    return "?\(all.count)"
  }
}
