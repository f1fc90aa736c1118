import Workload

extension Floor {
  /// A tenth of the diaries with their images and pairs, in one transaction; nothing is read. Three statements get all keys at once.
  func deleteCascade(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let keys = "[" + (1...count / 10).map(String.init).joined(separator: ",") + "]"
      connection.transaction {
        for place in ["diary_tag WHERE diary", "image WHERE diary", "diary WHERE pk"] {
          connection.with("DELETE FROM \(place) IN (SELECT value FROM json_each(?))") { statement in
            statement.bind(1, keys)
            statement.run()
          }
        }
      }
      return count / 10
    }
  }
}
