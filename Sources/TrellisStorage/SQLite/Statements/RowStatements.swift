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
