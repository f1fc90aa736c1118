import Workload

extension Floor {
  /// Sets one column of a row, if the row is as it was read.
  private func updateStatement(_ column: String, _ connection: Connection) -> Statement {
    connection.prepare(
      isBare
        ? "UPDATE diary SET \(column)=? WHERE pk=?"
        : "UPDATE diary SET \(column)=?,version=version+1 WHERE pk=? AND version=?")
  }

  private func write(_ diary: Diary, _ statement: Statement) {
    statement.bind(2, diary.key)
    if !isBare { statement.bind(3, diary.version) }
    statement.runOnOneRow()
    diary.version += 1
  }

  /// One property of every diary, read as objects, written in one transaction.
  func update(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      let all = readAll(connection)
      for diary in all { diary.intensity += 1 }
      let statement = updateStatement("intensity", connection)
      connection.transaction {
        for diary in all {
          statement.bind(1, diary.intensity)
          write(diary, statement)
        }
      }
      statement.finalize()
      return all.count
    }
  }

  /// One object read, changed and written, each in a transaction of its own: a statement alone is one.
  func smallSaves(_ workload: Workload, _ store: FloorStore) -> Work {
    let connection = store.connection
    let keys = connection.with("SELECT pk FROM diary ORDER BY pk") { rows in
      var keys: [Int64] = []
      while rows.next() { keys.append(rows.key(0)) }
      return keys
    }
    return {
      let update = updateStatement("isFavorite", connection)
      let rows = connection.prepare("SELECT \(columns) FROM diary WHERE pk=?")
      var chance = Generator(seed: 9)
      for _ in 0..<settings.items(workload) {
        guard let diary = readOne(keys[chance.below(keys.count)], rows) else { continue }
        toggle(diary, update)
      }
      update.finalize()
      rows.finalize()
      return settings.items(workload)
    }
  }

  private func toggle(_ diary: Diary, _ statement: Statement) {
    diary.isFavorite.toggle()
    statement.bind(1, diary.isFavorite)
    write(diary, statement)
  }

  /// One object of many written, each in a transaction of its own.
  func saveOneDirty(limit: Int, _ store: FloorStore) -> Work {
    let connection = store.connection
    let held = readAll(connection, limit: limit)
    return {
      let update = updateStatement("isFavorite", connection)
      for turn in 0..<2_000 { toggle(held[turn % 100], update) }
      update.finalize()
      return 2_000
    }
  }

  /// One property of every diary changed, and put back to what it was: by hand that is what undoing is, too.
  func rollback(_ store: FloorStore) -> Work {
    let all = readAll(store.connection)
    return {
      var former: [(diary: Diary, intensity: Int)] = []
      former.reserveCapacity(all.count)
      for diary in all {
        former.append((diary, diary.intensity))
        diary.intensity += 1
      }
      for change in former { change.diary.intensity = change.intensity }
      return all.reduce(0) { $0 &+ $1.intensity }
    }
  }
}
