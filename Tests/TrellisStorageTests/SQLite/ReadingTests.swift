import Testing
import TrellisModel
import TrellisStorage

@Suite("Reading from SQLite") struct ReadingTests {
  let store: TestStore

  init() throws {
    store = try TestStore(TestModels.diary)
    let request = SaveRequest()
    request.inserts = [
      .init(entity: 0, records: try (1...40).map { try diary(Int64($0)) }),
      .init(entity: 1, records: try (0..<80).map { try image($0) }),
      .init(entity: 2, records: try (200..<205).map { try store.record("Tag", $0, ["name": .text("t\($0)")]) }),
      .init(
        entity: 3, records: [try store.record("Cover", 300, ["title": .text("cover"), "diary": .integer(4)])]),
    ]
    request.pairs = [.init(table: 0)]
    request.pairs[0].added = [
      .init(first: 1, partner: 204), .init(first: 1, partner: 200), .init(first: 2, partner: 200),
    ]
    try store.connection.save(request)
  }

  func image(_ number: Int64) throws -> TestRecord {
    var values: [String: StoredValue] = ["imagePath": .text("\(number).png")]
    if number < 60 { values["diary"] = .integer(number % 20 + 1) }
    if number % 3 != 0 { values["_diary_order"] = .integer(1_000 - number) }
    return try store.record("DiaryImage", 1_000 + number, values)
  }

  func diary(_ key: Int64) throws -> TestRecord {
    let emotion = key % 2 == 0 ? "happy" : "sad"
    return try store.record(
      "EmotionDiary", key,
      [
        "id": .blob([UInt8(truncatingIfNeeded: key)]), "emotion": .text(emotion), "content": .text("c\(key)"),
        "createdAt": .integer(key),
      ])
  }

  @Test(
    "rows of wanted keys come, whether few, dense or wide apart",
    arguments: [[7], [1, 2, 3, 5, 40], [40, 1, 99_999], []])
  func rows(_ keys: [Int64]) throws {
    var found: [Int64] = []
    try store.connection.rows(of: 0, keys: keys) { found.append($0.key) }
    #expect(Set(found) == Set(keys).intersection(Set(1...40)) && found.count == Set(found).count)
    var images: [Int64] = []
    try store.connection.rows(of: 1, keys: keys) { images.append($0.key) }
    #expect(images.isEmpty)
  }

  @Test("members come by owner, place and key")
  func members() throws {
    var found: [[Int64]] = []
    try store.connection.members(of: store.number("EmotionDiary", "images"), owners: [3, 1, 30, 3]) { owner, row in
      found.append([owner, row.integer(2), row.key])
    }
    var expected: [[Int64]] = []
    for owner: Int64 in [1, 3] {
      let numbers = (0..<60).filter { $0 % 20 + 1 == owner }
      let placed = numbers.map { (place: $0 % 3 == 0 ? -1 : 1_000 - $0, key: 1_000 + $0) }
      for member in placed.sorted(by: { ($0.place, $0.key) < ($1.place, $1.key) }) {
        expected.append([owner, owner, Int64(member.key)])
      }
    }
    #expect(found == expected)
    var keys: [[Int64]] = []
    try store.connection.memberKeys(of: store.number("EmotionDiary", "images"), owners: [1, 3]) { owner, key, _ in
      keys.append([owner, owner, key])
    }
    #expect(keys == expected)
  }

  @Test("members of a join table, a one-to-one from either side, and the last places")
  func otherMembers() throws {
    func keys(_ entity: String, _ property: String, _ owners: [Int64]) throws -> [[Int64]] {
      var found: [[Int64]] = [], rows: [[Int64]] = []
      try store.connection.memberKeys(of: store.number(entity, property), owners: owners) {
        found.append([$0, $1]); _ = $2
      }
      try store.connection.members(of: store.number(entity, property), owners: owners) { rows.append([$0, $1.key]) }
      #expect(found == rows)
      return found
    }
    #expect(try keys("EmotionDiary", "tags", [2, 1]) == [[1, 200], [1, 204], [2, 200]])
    #expect(try keys("Tag", "diaries", [200, 204]) == [[200, 1], [200, 2], [204, 1]])
    #expect(try keys("EmotionDiary", "cover", [4, 5]) == [[4, 300]])
    #expect(try keys("Cover", "diary", [300]) == [[300, 4]])
    var places: [Int64: Int64] = [:]
    try store.connection.lastPlaces(of: store.number("EmotionDiary", "images"), owners: [1, 2, 40]) { places[$0] = $1 }
    #expect(places == [1: 980, 2: 999])
  }

  @Test("requests of one shape share a statement, whatever their values")
  func statements() throws {
    let emotion = try store.path("EmotionDiary", "emotion"), created = try store.path("EmotionDiary", "createdAt")
    func fetch(_ value: String, limit: Int = 1) throws -> [Int64] {
      try store.rows(
        "EmotionDiary",
        .comparison(Comparison(.path(emotion), .equal, .value(.text(value)), kind: .text)),
        sort: [SortKey(created, descending: true, kind: .integer)], limit: limit
      ).map(\.key)
    }
    let before = store.connection.statistics
    #expect(try fetch("happy") == [40])
    #expect(try fetch("sad") == [39])
    #expect(try fetch("sad", limit: 2) == [39, 37])
    #expect(store.connection.statistics.prepared == before.prepared + 1)
    #expect(store.connection.statistics.run == before.run + 3)
  }

  @Test("a nesting that SQLite cannot parse is a limit; long lists are not")
  func depth() throws {
    let name = try store.path("Tag", "name")
    let term = QueryPredicate.comparison(Comparison(.path(name), .hasSuffix, .value(.text("200")), kind: .text))
    #expect(try store.keys("Tag", .or(Array(repeating: term, count: 3_000))) == [200])
    var deep = term
    for level in 0..<600 { deep = level % 2 == 0 ? .and([deep, term]) : .or([deep, term]) }
    let error = try #require(throws: StoreError.self) { try store.keys("Tag", deep) }
    #expect(error.code == .limit)
    for _ in 0..<600 { deep = .not(.and([deep, term])) }
    #expect(throws: StoreError.self) { try store.keys("Tag", deep) }
    #expect(try store.keys("Tag", term) == [200])
  }

  @Test("one connection sees what another has saved, and waits no longer than the time-out")
  func twoConnections() throws {
    let second = try store.secondConnection()
    try store.insert("Tag", [try store.record("Tag", 900, ["name": .text("new")])])
    #expect(try second.count(StoreRequest(entity: 2)) == 6)
    let request = SaveRequest()
    request.deletes = [.init(entity: 2, keys: [900], versions: [1])]
    var isBusy = false
    try store.connection.fetch(StoreRequest(entity: 2, limit: 1)) { _ in try second.save(request) }
    #expect(try store.connection.count(StoreRequest(entity: 2)) == 5)
    do {
      try store.connection.fetch(StoreRequest(entity: 2)) { _ in _ = try store.connection.count(StoreRequest(entity: 2))
      }
    } catch { isBusy = true }
    #expect(isBusy)
  }
}
