import Workload

extension Floor {
  var columns: String { "pk,\(isBare ? "0" : "version"),id,emotion,content,createdAt,intensity,isFavorite" }

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
    connection.with("SELECT \(columns) FROM diary ORDER BY pk LIMIT \(limit)") { rows in
      var all: [Diary] = []
      while rows.next() { all.append(readDiary(rows)) }
      return all
    }
  }

  /// Every diary at the place of its key: keys leave few gaps.
  func readAllByKey(_ connection: Connection) -> [Diary?] {
    let greatest = connection.integer("SELECT max(pk) FROM diary")
    var byKey: [Diary?] = Array(repeating: nil, count: greatest + 1)
    connection.with("SELECT \(columns) FROM diary") { rows in
      while rows.next() {
        let diary = readDiary(rows)
        byKey[Int(diary.key)] = diary
      }
    }
    return byKey
  }

  func fetchAll(_ store: FloorStore) -> Work {
    { readAll(store.connection).reduce(0) { $0 &+ $1.sum } }
  }

  /// Objects that are there already: only the keys are read, and the objects looked up.
  func fetchAllAgain(_ store: FloorStore) -> Work {
    let known = dictionary(store)
    return { fetchKnown(known, store.connection).reduce(0) { $0 &+ $1.sum } }
  }

  private func dictionary(_ store: FloorStore) -> [Int64: Diary] {
    Dictionary(uniqueKeysWithValues: readAll(store.connection).map { ($0.key, $0) })
  }

  private func fetchKnown(_ known: [Int64: Diary], _ connection: Connection) -> [Diary] {
    connection.with("SELECT \(columns) FROM diary ORDER BY pk") { rows in
      var all: [Diary] = []
      while rows.next() { all.append(known[rows.key(0)] ?? readDiary(rows)) }
      return all
    }
  }

  func snapshots(_ store: FloorStore) -> Work {
    { readSnapshots(store.connection).reduce(0) { $0 &+ $1.sum } }
  }

  private func readSnapshots(_ connection: Connection) -> [DiaryRow] {
    connection.with("SELECT \(columns) FROM diary ORDER BY pk") { row in
      var all: [DiaryRow] = []
      while row.next() {
        all.append(
          DiaryRow(
            key: row.key(0), id: row.uuid(2), emotion: row.text(3), content: row.text(4), createdAt: row.double(5),
            intensity: row.integer(6), isFavorite: row.bool(7)))
      }
      return all
    }
  }

  private var shuffledKeys: [Int64] {
    var chance = Generator(seed: 7)
    return chance.shuffled(below: count).map { Int64($0 + 1) }
  }

  func byID(_ store: FloorStore) -> Work {
    let keys = shuffledKeys, connection = store.connection
    return {
      connection.reading {
        connection.with("SELECT \(columns) FROM diary WHERE pk=?") { rows in
          keys.reduce(0) { $0 &+ (readOne($1, rows)?.intensity ?? 0) }
        }
      }
    }
  }

  func readOne(_ key: Int64, _ rows: Statement) -> Diary? {
    rows.bind(1, key)
    defer { rows.reset() }
    return rows.next() ? readDiary(rows) : nil
  }

  func byIDInDictionary(_ store: FloorStore) -> Work {
    let keys = shuffledKeys, known = dictionary(store)
    return { keys.reduce(0) { $0 &+ (known[$1]?.intensity ?? 0) } }
  }

  func latestByEmotion(_ store: FloorStore) -> Work {
    let connection = store.connection, queries = settings.items(.latestByEmotion)
    return {
      connection.with("SELECT \(columns) FROM diary WHERE emotion=? ORDER BY createdAt DESC LIMIT 1") { rows in
        var chance = Generator(seed: 8)
        return (0..<queries).reduce(0) { sum, _ in
          rows.bind(1, emotions[chance.below(emotions.count)])
          defer { rows.reset() }
          return rows.next() ? sum &+ Int(readDiary(rows).createdAt) : sum
        }
      }
    }
  }

  func searchText(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("SELECT \(columns) FROM diary WHERE instr(content,?) OR instr(content,?) ORDER BY pk") { rows in
        rows.bind(1, searchedTexts[0])
        rows.bind(2, searchedTexts[1])
        var sum = 0
        while rows.next() { sum &+= readDiary(rows).intensity &+ 1 }
        return sum
      }
    }
  }

  func filterSort(_ store: FloorStore) -> Work {
    let connection = store.connection
    let text = "SELECT \(columns) FROM diary WHERE intensity>? AND isFavorite=? ORDER BY createdAt DESC, pk DESC"
    return {
      connection.with(text) { rows in
        rows.bind(1, leastIntensity)
        rows.bind(2, true)
        var all: [Diary] = []
        while rows.next() { all.append(readDiary(rows)) }
        return orderedSum(all.map { Int($0.createdAt) })
      }
    }
  }

  /// As ``access(_:_:)``, for accesses that write a value made of the number of the turn.
  @inline(__always)
  func writes(_ store: FloorStore, _ body: @escaping (Diary, Int) -> Void) -> Work {
    access(store) { object, turn in
      body(object, turn)
      return turn
    }
  }

  /// The access to a property of few objects, again and again.
  @inline(__always)
  func access(_ store: FloorStore, _ body: @escaping (Diary, Int) -> Int) -> Work {
    let objects = readAll(store.connection, limit: accessedObjects)
    return {
      // The objects are not retained from turn to turn: that costs more than the access, and the same on all sides.
      let unretained = objects.map(Unmanaged.passUnretained)
      var sum = 0
      for round in 0..<accessRounds {
        for object in unretained { sum &+= object._withUnsafeGuaranteedRef { body($0, round) } }
      }
      withExtendedLifetime(objects) {}
      return sum
    }
  }

  /// The objects are held in an array and, by key, in a dictionary: an identity map.
  func bytesPerObject(_ store: FloorStore) -> Work {
    // Fills the caches of SQLite.
    let connection = store.connection
    _ = readSnapshots(connection)
    return {
      let before = bytesInUse()
      let all = readAll(connection)
      let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
      let bytes = bytesInUse() - before
      return withExtendedLifetime((all, byKey)) { bytes / all.count }
    }
  }

  func peakOfFetch(_ store: FloorStore) -> Work {
    {
      let known = dictionary(store)
      return withExtendedLifetime(known) { peakMegabytes() }
    }
  }
}
