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
  func update(_ connection: Connection) {
    report.run("update", items: count) {
      let all = readAll(connection)
      for diary in all { diary.intensity += 1 }
      let statement = updateStatement("intensity", connection)
      connection.execute("BEGIN IMMEDIATE")
      for diary in all {
        statement.bind(1, diary.intensity)
        write(diary, statement)
      }
      connection.execute("COMMIT")
      statement.finalize()
      return all.count
    }
  }

  /// One object read, changed and written, each in a transaction of its own.
  func smallSaves(_ workload: String, _ connection: Connection) {
    guard settings.wants(workload) else { return }
    let keys = readAllKeys(connection)
    report.run(workload, items: settings.smallSaves) {
      let save = OneObjectSave(update: updateStatement("isFavorite", connection), connection)
      let rows = connection.prepare("SELECT \(columns) FROM diary WHERE pk=?")
      var chance = Generator(seed: 9)
      for _ in 0..<settings.smallSaves {
        guard let diary = readOne(keys[chance.below(keys.count)], rows) else { continue }
        diary.isFavorite.toggle()
        save.run { write(diary, favorite: save.update) }
      }
      save.finalize()
      rows.finalize()
      return settings.smallSaves
    }
  }

  private func readAllKeys(_ connection: Connection) -> [Int64] {
    let rows = connection.prepare("SELECT pk FROM diary ORDER BY pk")
    defer { rows.finalize() }
    var keys: [Int64] = []
    while rows.next() { keys.append(rows.key(0)) }
    return keys
  }

  private func write(_ diary: Diary, favorite statement: Statement) {
    statement.bind(1, diary.isFavorite)
    write(diary, statement)
  }

  /// One object of many written, each in a transaction of its own.
  func saveOneDirty(_ connection: Connection) {
    saveOneDirty("saveOneDirtyOf100", limit: 100, connection)
    saveOneDirty("saveOneDirtyOfAll", limit: -1, connection)
  }

  private func saveOneDirty(_ workload: String, limit: Int, _ connection: Connection) {
    guard settings.wants(workload) else { return }
    let held = readAll(connection, limit: limit)
    report.run(workload, items: 2_000) {
      let save = OneObjectSave(update: updateStatement("isFavorite", connection), connection)
      for turn in 0..<2_000 {
        let diary = held[turn % 100]
        diary.isFavorite.toggle()
        save.run { write(diary, favorite: save.update) }
      }
      save.finalize()
      return 2_000
    }
  }

  /// One property of every diary changed, and put back from copies made before: by hand that is what undoing is, too.
  func rollback(_ connection: Connection) {
    for workload in ["rollback", "undo"] where settings.wants(workload) { rollback(workload, connection) }
  }

  private func rollback(_ workload: String, _ connection: Connection) {
    let all = readAll(connection)
    report.run(workload, items: count) {
      var copies: [DiaryRow] = []
      for diary in all {
        copies.append(diary.row)
        diary.intensity += 1
      }
      for (diary, copy) in zip(all, copies) { diary.row = copy }
      return all.reduce(0) { $0 &+ $1.intensity }
    }
  }
}

extension Diary {
  /// All values at once.
  fileprivate var row: DiaryRow {
    get {
      DiaryRow(
        key: key, id: id, emotion: emotion, content: content, createdAt: createdAt, intensity: intensity,
        isFavorite: isFavorite)
    }
    set {
      id = newValue.id
      emotion = newValue.emotion
      content = newValue.content
      createdAt = newValue.createdAt
      intensity = newValue.intensity
      isFavorite = newValue.isFavorite
    }
  }
}

/// The statements of a save of one object, prepared once.
private struct OneObjectSave {
  let update: Statement
  private let begin, commit: Statement

  init(update: Statement, _ connection: Connection) {
    self.update = update
    begin = connection.prepare("BEGIN IMMEDIATE")
    commit = connection.prepare("COMMIT")
  }

  func run(_ body: () -> Void) {
    begin.run()
    body()
    commit.run()
  }

  func finalize() { for statement in [begin, update, commit] { statement.finalize() } }
}
