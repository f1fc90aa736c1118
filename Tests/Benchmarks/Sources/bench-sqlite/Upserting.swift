import Workload

extension Floor {
  /// Every diary once more under its unique key with another text, in one transaction.
  func upsert(_ connection: Connection) {
    report.run("upsert", items: count) {
      let statement = connection.prepare(isBare ? updateByNumber : upsertByKey)
      connection.execute("BEGIN IMMEDIATE")
      var number = 0
      makeDiaries(count) { values, _ in
        var values = values
        values.content += "!"
        number += 1
        if isBare { statement.bind(7, number) }
        insert(values, statement)
      }
      connection.execute("COMMIT")
      statement.finalize()
      return count
    }
  }

  private var upsertByKey: String {
    """
    INSERT INTO diary(version,id,emotion,content,createdAt,intensity,isFavorite) VALUES(1,?,?,?,?,?,?)
    ON CONFLICT(id) DO UPDATE SET version=version+1,emotion=excluded.emotion,content=excluded.content,
    createdAt=excluded.createdAt,intensity=excluded.intensity,isFavorite=excluded.isFavorite
    """
  }

  /// Without the unique key there is nothing to find the row by; its number is known because rows were made in this order.
  private var updateByNumber: String {
    "UPDATE diary SET id=?,emotion=?,content=?,createdAt=?,intensity=?,isFavorite=? WHERE pk=?"
  }
}
