/// The objects that one variable stands for, and the tables joined to them.
struct TranslationScope {
  let variable: Int
  let table: EntityTable
  let alias: String
  /// The object's key. For a member in a join table, the key needs no row.
  let key: String
  /// The column with the object's position in an ordered to-many.
  var place: String?
  private var tables: [String]
  /// The row's table, if it is joined only when a column is needed.
  private var pendingTable: String?
  private var aliases: [String: String] = [:]

  /// The objects of a table.
  init(variable: Int, table: EntityTable, alias: String) {
    self.variable = variable
    self.table = table
    self.alias = alias
    key = "\(alias).\(SQLName.id)"
    tables = ["\(table.name) AS \(alias)"]
  }

  /// The members in a join table, where the keys are known without the rows.
  init(variable: Int, table: EntityTable, alias: String, pairs: String, key: String, needsRow: Bool) {
    self.variable = variable
    self.table = table
    self.alias = alias
    self.key = key
    tables = [pairs]
    pendingTable = " JOIN \(table.name) AS \(alias) ON \(alias).\(SQLName.id) = \(key)"
    if needsRow { useRow() }
  }

  var source: String { tables.joined() }

  /// Joins the row's table, because a column of it is needed.
  mutating func useRow() {
    guard let table = pendingTable else { return }
    tables.append(table)
    pendingTable = nil
  }

  /// The alias of the row that is already joined for this path.
  func joined(_ way: String) -> String? { aliases[way] }

  /// Joins a row, once for each path.
  mutating func join(_ way: String, _ alias: String, _ text: String) {
    if aliases.updateValue(alias, forKey: way) == nil { tables.append(" LEFT JOIN \(text)") }
  }
}
