import TrellisSchema

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

  private func subtreeTail(_ entity: Int) -> String {
    tables[entity].subtreeTerm.map { " AND \($0("t"))" } ?? ""
  }
}
