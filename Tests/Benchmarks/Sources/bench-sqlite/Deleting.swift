import Workload

extension Floor {
  /// A tenth of the diaries with their images and pairs, in one transaction; nothing is read.
  func deleteCascade(_ connection: Connection) {
    report.run("deleteCascade", items: count / 10) {
      let statements = [
        "DELETE FROM diary_tag WHERE diary=?", "DELETE FROM image WHERE diary=?", "DELETE FROM diary WHERE pk=?",
      ].map(connection.prepare)
      connection.execute("BEGIN IMMEDIATE")
      for key in 1...count / 10 {
        for statement in statements {
          statement.bind(1, key)
          statement.run()
        }
      }
      connection.execute("COMMIT")
      for statement in statements { statement.finalize() }
      return count / 10
    }
  }
}
