import TrellisModel
import TrellisStorage

extension PostgresConnection {
  /// Compares the kept values of derived attributes with their expressions, at the moment that the connection is pinned to.
  func checkDerivedValues() throws -> [StoreFinding] {
    if store.features.derived.tables.isEmpty { return [] }
    var present = PresentFeatures()
    try readAll(PresentFeatures.question(setup), doing: "check the store") { present.add($0, $1) }
    var findings: [StoreFinding] = []
    for table in store.features.derived.tables {
      let count = DerivedStatements(setup).triggerCount(table)
      if !present.tables.contains(where: { $0.digest == table.digest && $0.triggers == count }) {
        findings.append(finding("The triggers that keep the derived values of the entity differ.", table, key: nil))
      }
      let key = "\(table.root).\(SQLName.id)"
      for column in table.columns {
        let text =
          "SELECT \(key) FROM \(table.source) LEFT JOIN \(table.name) AS x ON x.\(SQLName.id) = \(key) "
          + "WHERE (x.\(SQLName.id) IS NULL OR x.\(column.name) IS DISTINCT FROM (\(column.expression)))\(table.condition)"
        try readAll(ServerStatement(text, table.parameters), doing: "check the store") { result, row in
          findings.append(
            finding(
              "The store keeps another value of the derived attribute than its expression has.", table,
              key: result.integer(row, 0), [column.attribute]))
        }
      }
      let objects = layout.tables[table.entity].name
      let text =
        "SELECT x.\(SQLName.id) FROM \(table.name) AS x WHERE NOT EXISTS (SELECT 1 FROM \(objects) AS o WHERE "
        + "o.\(SQLName.id) = x.\(SQLName.id))"
      try readAll(ServerStatement(text), doing: "check the store") { result, row in
        findings.append(
          finding("The store keeps derived values of an object that is deleted.", table, key: result.integer(row, 0)))
      }
    }
    return findings
  }

  private func finding(
    _ message: String, _ table: DerivedTables.Table, key: Int64?, _ properties: [String] = []
  ) -> StoreFinding {
    StoreFinding(
      .indexDiffers, message,
      repair:
        "Run COMMENT ON TABLE \(table.name) IS NULL; the next opening as the owner then computes all values anew.",
      entity: setup.model.entities[table.entity].name, key: key, properties: properties)
  }
}
