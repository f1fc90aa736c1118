/// The objects that one variable stands for, and what is joined to them.
struct TranslationScope {
  let variable: Int
  let table: EntityTable
  let alias: String
  /// The key of the object, which for a member of a join table needs no row.
  let key: String
  /// The column with the object's place among the members of an ordered to-many.
  var place: String?
  private var tables: [String]
  /// The row's table where it is joined only when a column is asked for.
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

  /// The members of a join table, whose keys are known without their rows.
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

  /// A column of the object's row will be used.
  mutating func useRow() {
    guard let table = pendingTable else { return }
    tables.append(table)
    pendingTable = nil
  }

  /// The alias of the row that is joined already on this way.
  func joined(_ way: String) -> String? { aliases[way] }

  /// Joins a row, once for each way.
  mutating func join(_ way: String, _ alias: String, _ text: String) {
    if aliases.updateValue(alias, forKey: way) == nil { tables.append(" LEFT JOIN \(text)") }
  }
}
