import Workload

extension Floor {
  var columns: String { "pk,\(isBare ? "0" : "version"),id,emotion,content,createdAt,intensity,isFavorite" }

  func fetch(_ connection: Connection) {
    fetchAll(connection)
    snapshots(connection)
    byID(connection)
    latestByEmotion(connection)
    searchText(connection)
  }

  func readDiary(_ row: Statement) -> Diary {
    let diary = Diary()
    diary.key = row.key(0)
    diary.version = row.key(1)
    diary.id = row.uuid(2)
    diary.emotion = row.text(3)
    diary.content = row.text(4)
    diary.createdAt = row.double(5)
    diary.intensity = row.integer(6)
    diary.isFavorite = row.bool(7)
    return diary
  }

  /// Every diary as an object.
  func readAll(_ connection: Connection, limit: Int = -1) -> [Diary] {
    let rows = connection.prepare("SELECT \(columns) FROM diary ORDER BY pk LIMIT \(limit)")
    defer { rows.finalize() }
    var all: [Diary] = []
    while rows.next() { all.append(readDiary(rows)) }
    return all
  }

  /// Every diary by its key.
  func readAllByKey(_ connection: Connection) -> [Int64: Diary] {
    var byKey: [Int64: Diary] = [:]
    byKey.reserveCapacity(count)
    let rows = connection.prepare("SELECT \(columns) FROM diary")
    defer { rows.finalize() }
    while rows.next() {
      let diary = readDiary(rows)
      byKey[diary.key] = diary
    }
    return byKey
  }

  private func fetchAll(_ connection: Connection) {
    report.run("fetchAll", items: count) {
      readAll(connection).reduce(0) { $0 &+ $1.sum }
    }
    guard settings.wants("fetchAllAgain") else { return }
    let known = readAllByKey(connection)
    report.run("fetchAllAgain", items: count) { fetchKnown(known, connection).reduce(0) { $0 &+ $1.sum } }
  }

  /// Objects that are there already: only the keys are read, and the objects looked up.
  private func fetchKnown(_ known: [Int64: Diary], _ connection: Connection) -> [Diary] {
    let rows = connection.prepare("SELECT \(columns) FROM diary ORDER BY pk")
    defer { rows.finalize() }
    var all: [Diary] = []
    while rows.next() { all.append(known[rows.key(0)] ?? readDiary(rows)) }
    return all
  }

  private func snapshots(_ connection: Connection) {
    report.run("snapshots", items: count) { readSnapshots(connection).reduce(0) { $0 &+ $1.sum } }
  }

  func readSnapshots(_ connection: Connection) -> [DiaryRow] {
    let row = connection.prepare("SELECT \(columns) FROM diary ORDER BY pk")
    defer { row.finalize() }
    var all: [DiaryRow] = []
    while row.next() {
      all.append(
        DiaryRow(
          key: row.key(0), id: row.uuid(2), emotion: row.text(3), content: row.text(4), createdAt: row.double(5),
          intensity: row.integer(6), isFavorite: row.bool(7)))
    }
    return all
  }

  private func byID(_ connection: Connection) {
    var chance = Generator(seed: 7)
    let order = chance.shuffled(below: count)
    func readEach() -> Int {
      let rows = connection.prepare("SELECT \(columns) FROM diary WHERE pk=?")
      defer { rows.finalize() }
      return order.reduce(0) { $0 &+ (readOne(Int64($1 + 1), rows)?.intensity ?? 0) }
    }
    report.run("byID", items: count, readEach)
    // Who keeps no objects reads the row again; who keeps them in a dictionary is measured beside that.
    report.run("byIDRegistered", items: count, readEach)
    guard settings.wants("byIDInDictionary") else { return }
    let known = readAllByKey(connection)
    report.run("byIDInDictionary", items: count) {
      order.reduce(0) { $0 &+ (known[Int64($1 + 1)]?.intensity ?? 0) }
    }
  }

  func readOne(_ key: Int64, _ rows: Statement) -> Diary? {
    rows.bind(1, key)
    defer { rows.reset() }
    return rows.next() ? readDiary(rows) : nil
  }

  private func latestByEmotion(_ connection: Connection) {
    report.run("latestByEmotion", items: settings.latestQueries) {
      let rows = connection.prepare("SELECT \(columns) FROM diary WHERE emotion=? ORDER BY createdAt DESC LIMIT 1")
      defer { rows.finalize() }
      var chance = Generator(seed: 8)
      return (0..<settings.latestQueries).reduce(0) { sum, _ in
        rows.bind(1, emotions[chance.below(emotions.count)])
        defer { rows.reset() }
        return rows.next() ? sum &+ Int(readDiary(rows).createdAt) : sum
      }
    }
  }

  private func searchText(_ connection: Connection) {
    report.run("searchText", items: count) {
      let rows = connection.prepare(
        "SELECT \(columns) FROM diary WHERE instr(content,?) OR instr(content,?) ORDER BY pk")
      defer { rows.finalize() }
      rows.bind(1, searchedTexts[0])
      rows.bind(2, searchedTexts[1])
      var sum = 0
      while rows.next() { sum &+= readDiary(rows).intensity &+ 1 }
      return sum
    }
  }
}
