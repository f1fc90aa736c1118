package import TrellisModel

/// The statements that write rows.
extension TableLayout {
  /// Parameters: the key, then the entity's columns in order, for each row. In hierarchies the entity's name is part of
  /// the text.
  ///
  /// - Parameter rows: the number of rows that the statement inserts. Several rows are inserted up to the first that is
  ///   refused, without a journal to take the others back: the transaction that is rolled back does that.
  package func insertStatement(_ entity: Int, rows: Int = 1) -> String {
    insertStatement(entity, version: "1", rows: rows)
  }

  /// Parameters: the key, the version, then the entity's columns in order.
  package func restoreStatement(_ entity: Int) -> String { insertStatement(entity, version: "?") }

  private func insertStatement(_ entity: Int, version: String, rows: Int = 1) -> String {
    let table = tables[entity]
    var names = [SQLName.id, SQLName.version]
    var values = ["?", version]
    if table.isInHierarchy {
      names.append(SQLName.entity)
      values.append(SQLName.literal(model.entities[entity].name))
    }
    names += table.columns
    values += table.columns.map { _ in "?" }
    return "\(SQLName.insertion(of: rows)) \(table.name) (\(names.joined(separator: ", "))) VALUES "
      + SQLName.rows(of: values, count: rows)
  }

  /// The numbers of the columns for a mask's properties, in order. A reference's position column is included.
  package func columns(of entity: Int, _ mask: ColumnMask) -> [Int] {
    model.entities[entity].columns.indices.filter { number in
      switch model.entities[entity].columns[number].content {
      case .attribute(let property), .order(let property): mask.contains(property)
      case .reference(let property, _): mask.contains(property)
      }
    }
  }

  /// Parameters: the columns of the mask's properties in order, then the key and the row version.
  package func updateStatement(_ entity: Int, _ mask: ColumnMask) -> String {
    let table = tables[entity]
    let assignments = columns(of: entity, mask).map { "\(table.columns[$0]) = ?" }
    let all = assignments + ["\(SQLName.version) = \(SQLName.version) + 1"]
    return "UPDATE \(table.name) SET \(all.joined(separator: ", ")) WHERE \(SQLName.id) = ? AND \(SQLName.version) = ?"
  }

  /// Parameters: the key and the row version.
  package func deleteStatement(_ entity: Int) -> String {
    "DELETE FROM \(tables[entity].name) WHERE \(SQLName.id) = ? AND \(SQLName.version) = ?"
  }

  /// Selects the keys of rows that are gone or have another version. Parameters: the list of keys, and the list of their
  /// versions.
  package func staleRowsStatement(_ entity: Int) -> String {
    "SELECT k.value FROM trellis_values(?1) AS k CROSS JOIN trellis_values(?2) AS v ON v.rowid = k.rowid "
      + "LEFT JOIN \(tables[entity].name) AS t ON t.\(SQLName.id) = k.value WHERE t.\(SQLName.version) IS NOT v.value"
  }

  /// Parameter: the list of keys.
  package func deleteListStatement(_ entity: Int) -> String {
    "DELETE FROM \(tables[entity].name) WHERE \(SQLName.id) IN \(ListParameter.values)"
  }

  /// Parameters: the position and the key. Nil if the entity has no such column. A row that another writer has removed
  /// from the list in the meantime gets no position.
  package func placeStatement(_ entity: Int, column: Int) -> String? {
    guard let place = self.column(column, of: entity) else { return nil }
    let reference = model.entities[entity].reference(placedBy: column).flatMap { self.column($0, of: entity) }
    let isMember = reference.map { " AND \($0) IS NOT NULL" } ?? ""
    return "UPDATE \(tables[entity].name) SET \(place) = ? WHERE \(SQLName.id) = ?\(isMember)"
  }

  /// Parameter: the list of deleted keys. Nil if the relationship has no column.
  package func clearStatement(_ relationship: RelationshipNumber) -> String? {
    guard case .column(let number, let order)? = self.relationship(relationship.entity, relationship.property)?.home,
      let column = column(number, of: relationship.entity)
    else { return nil }
    let place = order.flatMap { self.column($0, of: relationship.entity) }.map { ", \($0) = NULL" } ?? ""
    return "UPDATE \(tables[relationship.entity].name) SET \(column) = NULL\(place) "
      + "WHERE \(column) IN \(ListParameter.values)"
  }
}

/// A list of values in one parameter.
package enum ListParameter {
  static let values = "(SELECT value FROM trellis_values(?))"
  static func values(_ marker: String) -> String { "(SELECT value FROM trellis_values(\(marker)))" }
}

// MARK: - Keyed statements

/// The statements that read rows by key.
extension TableLayout {
  /// Parameter: the key.
  package func rowStatement(_ entity: Int) -> String {
    "SELECT \(tables[entity].selection("t")) FROM \(tables[entity].name) AS t WHERE t.\(SQLName.id) = ?"
      + subtreeTail(entity)
  }

  /// Parameters: the least and the greatest key.
  package func rowRangeStatement(_ entity: Int) -> String {
    "SELECT \(tables[entity].selection("t")) FROM \(tables[entity].name) AS t WHERE t.\(SQLName.id) BETWEEN ? AND ?"
      + subtreeTail(entity)
  }

  /// Parameter: the list of keys.
  package func rowListStatement(_ entity: Int) -> String {
    // CROSS JOIN fixes the order of the loops: keys outside, rows inside.
    "SELECT \(tables[entity].selection("t")) FROM trellis_values(?) AS k CROSS JOIN \(tables[entity].name) AS t "
      + "ON t.\(SQLName.id) = k.value" + (tables[entity].subtreeTerm.map { " WHERE \($0("t"))" } ?? "")
  }

  /// Selects the number of the values in the lists, from 1, and the row that has them. Parameters: a list of values for
  /// each property of the key. Nil if a property has no column.
  package func holdersStatement(_ key: UniqueKey) -> String? {
    let table = tables[key.entity]
    var sources: [String] = []
    var terms: [String] = []
    for (place, property) in key.properties.enumerated() {
      guard let number = model.entities[key.entity].properties[property].column,
        let column = column(number, of: key.entity)
      else { return nil }
      let list = "trellis_values(?\(place + 1)) AS k\(place)"
      // CROSS JOIN fixes the order of the loops: values outside, rows inside.
      sources.append(place == 0 ? list : "CROSS JOIN \(list) ON k\(place).rowid = k0.rowid")
      terms.append("t.\(column) = k\(place).value")
    }
    return "SELECT k0.rowid, \(table.selection("t")) FROM \(sources.joined(separator: " ")) "
      + "CROSS JOIN \(table.name) AS t ON \(terms.joined(separator: " AND "))"
      + (table.subtreeTerm.map { " WHERE \($0("t"))" } ?? "")
  }

  /// Selects the key and, in hierarchies, the entity of the rows with references to deleted rows. Parameter: the list of
  /// deleted keys. Nil if the relationship has no column.
  package func referringRowsStatement(_ relationship: RelationshipNumber) -> String? {
    guard let number = self.relationship(relationship.entity, relationship.property)?.column,
      let column = column(number, of: relationship.entity)
    else { return nil }
    let table = tables[relationship.entity]
    return "SELECT \(SQLName.id)\(table.isInHierarchy ? ", \(SQLName.entity)" : "") FROM \(table.name) "
      + "WHERE \(column) IN \(ListParameter.values)"
  }

  private func subtreeTail(_ entity: Int) -> String {
    tables[entity].subtreeTerm.map { " AND \($0("t"))" } ?? ""
  }
}

// MARK: - Member statements

/// The statements that read the members of a relationship for many owners.
///
/// Each statement has one parameter, the list of owners, and returns rows in the order of the list, then by position,
/// then by key. CROSS JOIN fixes the loops and INDEXED BY names the index, so that this order needs no sorting.
package struct MemberStatements {
  private let layout: TableLayout
  private let relationship: Relationship
  /// The entity at the other end.
  package let destination: Int
  private let source: Source

  private enum Source {
    /// The reference in the owner's row.
    case reference(owner: Int, column: String)
    /// The references in the members' rows, with the position column. The index contains both.
    case members(column: String, order: String?, index: String)
    case pairs(JoinTable, isFirst: Bool)
  }

  /// Creates the statements. Nil for a transient relationship.
  package init?(_ layout: TableLayout, entity: Int, property: Int) {
    guard let relationship = layout.relationship(entity, property) else { return nil }
    self.layout = layout
    self.relationship = relationship
    destination = relationship.destination
    switch relationship.home {
    case .column(let number, _):
      guard let column = layout.column(number, of: entity) else { return nil }
      if relationship.isOwnInverse {
        // Both partners have the reference, so the partner is found like the other end of any one-to-one.
        let declaring = layout.model.entities[relationship.entity]
        let index = SQLName.quoted(IndexPlan.referenceName(declaring, relationship.index))
        source = .members(column: column, order: nil, index: index)
      } else {
        source = .reference(owner: entity, column: column)
      }
    case .inverseColumn:
      guard let inverse = layout.model.inverse(of: relationship), case .column(let number, let order) = inverse.home,
        let column = layout.column(number, of: relationship.destination)
      else { return nil }
      let declaring = layout.model.entities[inverse.entity]
      source = .members(
        column: column, order: order.flatMap { layout.column($0, of: relationship.destination) },
        index: SQLName.quoted(IndexPlan.referenceName(declaring, inverse.index)))
    case .joinTable(let number, let isFirst):
      source = .pairs(layout.model.joinTables[number], isFirst: isFirst)
    case .transient: return nil
    }
  }

  /// Selects the owner, then the member's row.
  package var rows: String {
    let table = layout.tables[destination]
    let selection = "SELECT k.value, \(table.selection("t")) FROM trellis_values(?) AS k "
    switch source {
    case .reference(let owner, let column):
      return selection + "CROSS JOIN \(layout.tables[owner].name) AS o ON o.\(SQLName.id) = k.value "
        + "CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = o.\(column)"
    case .members(let column, let order, let index):
      return selection + "CROSS JOIN \(table.name) AS t\(hint(index)) ON t.\(column) = k.value" + memberOrder(order)
    case .pairs(let join, let isFirst):
      return selection + pairs(join, isFirst)
        + "CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = j.\(memberColumn(join, isFirst))"
        + pairOrder(join, isFirst)
    }
  }

  /// Selects the owner, then the member's row, of the owners in a range of keys, in the order of the members' keys: one
  /// pass over the whole table. Parameters: the least and the greatest owner. Nil if the members do not hold the reference,
  /// or have positions.
  package var scan: String? {
    guard case .members(let column, nil, _) = source else { return nil }
    let table = layout.tables[destination]
    return "SELECT t.\(column), \(table.selection("t")) FROM \(table.name) AS t NOT INDEXED "
      + "WHERE t.\(column) BETWEEN ? AND ?"
  }

  /// Selects a row if the members of the owners in a range of keys are more than a part of the rows of their table, and
  /// counts them no further. Parameters: the least and the greatest owner, and the number of such parts in the whole
  /// table. Nil where ``scan`` is.
  package var share: String? {
    guard case .members(let column, nil, let index) = source else { return nil }
    let table = layout.tables[destination].name
    return "SELECT 1 FROM \(table) AS t\(hint(index)) WHERE t.\(column) BETWEEN ?1 AND ?2 "
      + "LIMIT 1 OFFSET (SELECT count(*) FROM \(table)) / ?3"
  }

  /// Selects the level, then the row, of the objects that owners lead to. Parameters: the list of owners, and the
  /// number of rows at which it stops. Nil unless the relationship leads from one table to the same, by a reference in
  /// its rows.
  ///
  /// The order by level makes the search go through all rows of a level before the next.
  package var levels: String? {
    let table = layout.tables[destination]
    guard table.name == layout.tables[relationship.entity].name else { return nil }
    let step: (_ owner: String) -> String
    switch source {
    case .reference(_, let column):
      step = { owner in
        "CROSS JOIN \(table.name) AS o ON o.\(SQLName.id) = \(owner) "
          + "CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = o.\(column)"
      }
    case .members(let column, _, let index):
      step = { owner in "CROSS JOIN \(table.name) AS t\(hint(index)) ON t.\(column) = \(owner)" }
    case .pairs: return nil
    }
    return "WITH RECURSIVE w(level, node) AS ("
      + "SELECT 1, t.\(SQLName.id) FROM trellis_values(?1) AS k \(step("k.value")) "
      + "UNION ALL SELECT w.level + 1, t.\(SQLName.id) FROM w \(step("w.node")) ORDER BY 1 LIMIT ?2) "
      + "SELECT w.level, \(table.selection("t")) FROM w CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = w.node"
  }

  /// Whether the members have positions.
  package var hasPlaces: Bool {
    switch source {
    case .reference: false
    case .members(_, let order, _): order != nil
    case .pairs(let join, let isFirst): orderColumn(join, isFirst) != nil
    }
  }

  /// Whether the members are in a join table without positions.
  package var hasUnorderedPairs: Bool {
    if case .pairs = source { !hasPlaces } else { false }
  }

  /// Selects the owner, the member's key and its position, which is 0 if the members have none.
  package var keys: String {
    switch source {
    case .reference(let owner, let column):
      return "SELECT k.value, t.\(SQLName.id), 0 FROM trellis_values(?) AS k "
        + "CROSS JOIN \(layout.tables[owner].name) AS o ON o.\(SQLName.id) = k.value "
        + "CROSS JOIN \(layout.tables[destination].name) AS t ON t.\(SQLName.id) = o.\(column)"
    case .members(let column, let order, let index):
      return "SELECT k.value, t.\(SQLName.id), \(order.map { "ifnull(t.\($0), 0)" } ?? "0") "
        + "FROM trellis_values(?) AS k CROSS JOIN \(layout.tables[destination].name) AS t\(hint(index)) "
        + "ON t.\(column) = k.value" + memberOrder(order)
    case .pairs(let join, let isFirst):
      let member = memberColumn(join, isFirst)
      return "SELECT k.value, j.\(member), \(orderColumn(join, isFirst).map { "ifnull(j.\($0), 0)" } ?? "0") "
        + "FROM trellis_values(?) AS k " + pairs(join, isFirst) + pairOrder(join, isFirst)
    }
  }

  /// Selects the owner and the member's key, of all owners from a key on, in the order of both. Parameter: the least
  /// owner. Nil unless the relationship is unordered and has a join table.
  package var keysFrom: String? {
    guard case .pairs(let join, let isFirst) = source, !hasPlaces else { return nil }
    let (owner, member) = (ownerColumn(join, isFirst), memberColumn(join, isFirst))
    return "SELECT j.\(owner), j.\(member) FROM \(pairTable(join, isFirst)) WHERE j.\(owner) >= ? "
      + "ORDER BY j.\(owner), j.\(member)"
  }

  /// Selects the owner and its greatest position. Nil if the relationship is not ordered.
  package var lastPlaces: String? {
    switch source {
    case .reference: return nil
    case .members(let column, let order, let index):
      guard let order else { return nil }
      return "SELECT k.value, max(t.\(order)) FROM trellis_values(?) AS k "
        + "CROSS JOIN \(layout.tables[destination].name) AS t\(hint(index)) ON t.\(column) = k.value GROUP BY k.value"
    case .pairs(let join, let isFirst):
      guard let order = orderColumn(join, isFirst) else { return nil }
      return "SELECT k.value, max(j.\(order)) FROM trellis_values(?) AS k " + pairs(join, isFirst) + "GROUP BY k.value"
    }
  }

  /// Selects some members and their positions. Parameters: the list of members, and the owner. Nil if the relationship is
  /// not ordered.
  package var places: String? {
    switch source {
    case .reference: return nil
    case .members(let column, let order, _):
      guard let order else { return nil }
      return
        "SELECT k.value, t.\(order) FROM trellis_values(?1) AS k CROSS JOIN \(layout.tables[destination].name) AS t "
        + "ON t.\(SQLName.id) = k.value AND t.\(column) = ?2"
    case .pairs(let join, let isFirst):
      guard let order = orderColumn(join, isFirst) else { return nil }
      return "SELECT k.value, j.\(order) FROM trellis_values(?1) AS k CROSS JOIN \(SQLName.quoted(join.name)) AS j "
        + "ON j.\(memberColumn(join, isFirst)) = k.value AND j.\(ownerColumn(join, isFirst)) = ?2"
    }
  }

  /// Selects the owner and the number of members, for owners that exist. Parameters: the list of owners, and the number
  /// at which counting stops. Nil if the reference is in the owner's own row.
  package var counts: String? {
    let members: String
    switch source {
    case .reference: return nil
    case .members(let column, _, let index):
      members = "FROM \(layout.tables[destination].name) AS t\(hint(index)) WHERE t.\(column) = k.value"
    case .pairs(let join, let isFirst):
      members = "FROM \(pairTable(join, isFirst)) WHERE j.\(ownerColumn(join, isFirst)) = k.value"
    }
    return "SELECT k.value, (SELECT count(*) FROM (SELECT 1 \(members) LIMIT ?2)) FROM trellis_values(?1) AS k "
      + "CROSS JOIN \(layout.tables[relationship.entity].name) AS o ON o.\(SQLName.id) = k.value"
  }

  /// Selects the owners of some members. Nil if the relationship has no join table.
  package var owners: String? {
    guard case .pairs(let join, let isFirst) = source else { return nil }
    let index = isFirst ? hint(SQLName.quoted(JoinNames.reversedIndex(join))) : ""
    return "SELECT j.\(ownerColumn(join, isFirst)) FROM trellis_values(?) AS k CROSS JOIN \(SQLName.quoted(join.name)) "
      + "AS j\(index) ON j.\(memberColumn(join, isFirst)) = k.value"
  }

  /// Names an index; empty for a view, which has none.
  private func hint(_ index: String) -> String { layout.isPast ? "" : " INDEXED BY \(index)" }

  /// The order that the index has. The rows of a view have none.
  private func memberOrder(_ order: String?) -> String {
    guard layout.isPast else { return "" }
    return " ORDER BY k.value, \(order.map { "t.\($0), " } ?? "")t.\(SQLName.id)"
  }

  // MARK: Pairs

  private func ownerColumn(_ join: JoinTable, _ isFirst: Bool) -> String {
    SQLName.quoted(isFirst ? join.first.column : join.partnerColumn)
  }

  private func memberColumn(_ join: JoinTable, _ isFirst: Bool) -> String {
    SQLName.quoted(isFirst ? join.partnerColumn : join.first.column)
  }

  private func orderColumn(_ join: JoinTable, _ isFirst: Bool) -> String? {
    (isFirst ? join.first.orderColumn : join.second?.orderColumn).map(SQLName.quoted)
  }

  private func pairs(_ join: JoinTable, _ isFirst: Bool) -> String {
    "CROSS JOIN \(pairTable(join, isFirst)) ON j.\(ownerColumn(join, isFirst)) = k.value "
  }

  /// The join table, as it is searched by owner.
  private func pairTable(_ join: JoinTable, _ isFirst: Bool) -> String {
    "\(SQLName.quoted(join.name)) AS j" + (isFirst ? "" : hint(SQLName.quoted(JoinNames.reversedIndex(join))))
  }

  /// Neither key of a join table contains positions, so ordered members are sorted.
  private func pairOrder(_ join: JoinTable, _ isFirst: Bool) -> String {
    guard let order = orderColumn(join, isFirst) else {
      return layout.isPast ? " ORDER BY k.value, j.\(memberColumn(join, isFirst))" : ""
    }
    return " ORDER BY k.rowid, j.\(order), j.\(memberColumn(join, isFirst))"
  }
}

// MARK: - Pair statements

/// The statements that write the rows of a join table.
package struct PairStatements {
  private let table: JoinTable
  private let name: String
  private let first: String
  private let partner: String

  package init(_ table: JoinTable) {
    self.table = table
    name = SQLName.quoted(table.name)
    first = SQLName.quoted(table.first.column)
    partner = SQLName.quoted(table.partnerColumn)
  }

  /// Whether the table has a position column for each end.
  package var hasPlace: Bool { table.first.orderColumn != nil }
  package var hasInversePlace: Bool { table.second?.orderColumn != nil }

  private var orderColumns: [String] {
    [table.first.orderColumn, table.second?.orderColumn].compactMap(\.self).map(SQLName.quoted)
  }

  /// Parameters: both keys, then the positions that the table has.
  package var insert: String { insert(rows: 1) }

  /// Parameters: for each row both keys, then the positions that the table has.
  package func insert(rows: Int) -> String {
    let names = [first, partner] + orderColumns
    // A row that another writer has inserted in the meantime is equivalent.
    return "\(SQLName.insertion(of: rows)) \(name) (\(names.joined(separator: ", "))) VALUES "
      + SQLName.rows(of: names.map { _ in "?" }, count: rows) + " ON CONFLICT DO NOTHING"
  }

  /// All rows: both keys, then the positions that the table has.
  package var all: String {
    let names = ([first, partner] + orderColumns).joined(separator: ", ")
    return "SELECT \(names) FROM \(name) ORDER BY \(first), \(partner)"
  }

  /// Parameters: both keys.
  package var delete: String { "DELETE FROM \(name) WHERE \(first) = ? AND \(partner) = ?" }

  /// Parameters: the positions that the table has (null leaves one unchanged), then both keys. Nil if the table has
  /// none.
  package var move: String? {
    let columns = orderColumns
    guard !columns.isEmpty else { return nil }
    let assignments = columns.map { "\($0) = coalesce(?, \($0))" }.joined(separator: ", ")
    return "UPDATE \(name) SET \(assignments) WHERE \(first) = ? AND \(partner) = ?"
  }

  /// Parameter: the list of keys to delete the rows of.
  package func deleteAll(ofFirst isFirst: Bool) -> String {
    "DELETE FROM \(name) WHERE \(isFirst ? first : partner) IN \(ListParameter.values)"
  }
}

// MARK: - External statements

/// Statements about external storage.
package enum ExternalStatements {
  /// A statement that reads the texts of one column that refer to files, each with the key of a row that has it.
  package struct Column {
    package let entity: String
    package let property: String
    package let text: String
  }

  /// Statements that read the texts that refer to files, one for each column with external storage.
  package static func references(_ model: Model) -> [Column] {
    references(model) { SQLName.quoted(model.entities[$0].name) }
  }

  /// Statements that read the texts that refer to files in former rows.
  package static func formerReferences(_ model: Model) -> [Column] {
    let plan = HistoryPlan(model)
    return references(model) { root in plan.entities[root].flatMap { $0.hasValues ? $0.past : nil } }
  }

  private static func references(_ model: Model, _ table: (_ root: Int) -> String?) -> [Column] {
    var statements: [Column] = []
    for entity in model.entities {
      guard let table = table(entity.root) else { continue }
      for column in entity.columns[entity.firstOwnColumn...] where entity.isExternal(column) {
        let name = SQLName.quoted(column.name)
        let text = "SELECT \(name), min(\(SQLName.id)) FROM \(table) WHERE typeof(\(name)) = 'text' GROUP BY \(name)"
        statements.append(Column(entity: entity.name, property: column.name, text: text))
      }
    }
    return statements
  }
}

// MARK: - Several rows

extension SQLName {
  /// The beginning of a statement that inserts rows. SQLite copies each page that a statement of several rows changes,
  /// unless the statement stops at the first row that is refused.
  fileprivate static func insertion(of rows: Int) -> String { rows == 1 ? "INSERT INTO" : "INSERT OR FAIL INTO" }

  /// The values of rows.
  fileprivate static func rows(of values: [String], count: Int) -> String {
    let row = "(\(values.joined(separator: ", ")))"
    return Array(repeating: row, count: count).joined(separator: ", ")
  }
}
