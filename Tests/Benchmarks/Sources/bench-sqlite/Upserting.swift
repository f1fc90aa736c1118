import Workload

extension Floor {
  /// Every diary once more under its unique key with another text, in one transaction.
  func upsert(_ connection: Connection) {
    // Without the key there is nothing to find.
    if isBare { return }
    report.run("upsert", items: count) {
      let statement = connection.prepare(
        """
        INSERT INTO diary(version,id,emotion,content,createdAt,intensity,isFavorite) VALUES(1,?,?,?,?,?,?)
        ON CONFLICT(id) DO UPDATE SET version=version+1,emotion=excluded.emotion,content=excluded.content,
        createdAt=excluded.createdAt,intensity=excluded.intensity,isFavorite=excluded.isFavorite
        """)
      connection.execute("BEGIN IMMEDIATE")
      makeDiaries(count) { values, _ in
        var values = values
        values.content += "!"
        insert(values, statement)
      }
      connection.execute("COMMIT")
      statement.finalize()
      return count
    }
  }
}
