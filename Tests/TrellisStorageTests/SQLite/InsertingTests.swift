import Foundation
import Testing
import TrellisModel
@testable import TrellisStorage
import TrellisTestSupport

@Suite("Inserting many rows into SQLite") struct InsertingTests {
  let store: TestStore

  init() throws { store = try TestStore(TestModels.diary) }

  private func id(_ number: Int) -> StoredValue {
    .blob([UInt8](repeating: 7, count: 14) + [UInt8(number / 256), UInt8(number % 256)])
  }

  private func diaries(_ keys: ClosedRange<Int>, _ values: [String: StoredValue] = [:]) throws -> [TestRecord] {
    try keys.map { key in
      let basic: [String: StoredValue] = [
        "id": id(key), "emotion": .text("happy"),
        "content": .text("c\(key) " + String(repeating: "커피", count: key % 50)),
        "createdAt": .integer(Int64(key)), "weight": .real(Double(key) / 4),
        "mood": key % 3 == 0 ? .null : .text("m\(key)"),
      ]
      return try store.record("EmotionDiary", Int64(key), basic.merging(values) { $1 })
    }
  }

  @Test("Many rows and pairs take few statements, and every value comes back", arguments: [63, 64, 96, 1_000])
  func rows(_ count: Int) throws {
    let diaries = try diaries(1...count)
    let images = try (1...count).map {
      try store.record(
        "DiaryImage", Int64(count + $0),
        ["imagePath": .text("\($0).png"), "data": .blob([1, 2]), "diary": .integer(Int64($0))])
    }
    let tags = try (1...3).map { try store.record("Tag", Int64(2 * count + $0), ["name": .text("t\($0)")]) }
    let pairs = (1...count).map {
      SaveRequest.Pairs.Pair(first: Int64($0), partner: Int64(2 * count + 1 + $0 % 3))
    }
    let before = store.connection.statistics.run
    try store.save { request in
      request.inserts = [
        .init(entity: try store.entity("DiaryImage").index, records: images),
        .init(entity: try store.entity("EmotionDiary").index, records: diaries),
        .init(entity: try store.entity("Tag").index, records: tags),
      ]
      request.pairs = [.init(table: 0)]
      request.pairs[0].added = pairs
    }
    let statements = store.connection.statistics.run - before
    #expect(count < 64 ? statements > 3 * count : statements < 3 * (count / 32 + 32) + 10)
    #expect(try store.rows("EmotionDiary").map(\.values) == diaries.map(\.values))
    #expect(try store.rows("DiaryImage").map(\.values) == images.map(\.values))
    let linked = try OtherProgram(store.url).texts("SELECT count(*) FROM \"\(store.model.joinTables[0].name)\"")
    #expect(linked == ["\(count)"])
  }

  @Test(
    "A unique key that is there twice is named at any place, and nothing is saved",
    arguments: [2, 31, 32, 33, 64, 65, 96, 97, 100], [false, true])
  func uniqueness(_ place: Int, _ isStored: Bool) throws {
    if isStored { try store.insert("EmotionDiary", try diaries(500...500, ["id": id(place)])) }
    let records = try diaries(1...100)
    if !isStored { records[place - 1].values[0] = id(1) }
    let error = try #require(throws: StoreError.self) { try store.insert("EmotionDiary", records) }
    #expect(error.code == .notUnique && error.entity == "EmotionDiary" && error.properties == ["id"])
    #expect(try store.keys("EmotionDiary") == (isStored ? [500] : []))
    try store.insert(
      "EmotionDiary", try diaries(1...100, isStored ? ["id": .null] : [:]).filter { $0.values[0] != .null })
    #expect(try store.keys("EmotionDiary").count == (isStored ? 1 : 100))
  }

  @Test("A value that cannot be stored is reported as in a save of one row", arguments: [1, 32, 40, 100])
  func unstorable(_ place: Int) throws {
    for (column, value) in [("weight", StoredValue.real(.nan)), ("content", .null), ("createdAt", .text("late"))] {
      let wrong = try diaries(place...place, [column: value])
      let alone = try #require(throws: StoreError.self) { try store.insert("EmotionDiary", wrong) }
      var records = try diaries(1...100)
      records[place - 1] = wrong[0]
      let error = try #require(throws: StoreError.self) { try store.insert("EmotionDiary", records) }
      #expect(error.code == alone.code && error.message == alone.message && error.properties == alone.properties)
      #expect(try store.keys("EmotionDiary").isEmpty)
    }
    try store.insert("EmotionDiary", try diaries(1...100))
    #expect(try store.keys("EmotionDiary").count == 100)
  }

  @Test("A reference to a row that comes later in the same save is kept; one to no row is refused")
  func references() throws {
    let covers = try (1...100).map {
      try store.record("Cover", Int64(1_000 + $0), ["title": .text("\($0)"), "diary": .integer(Int64($0))])
    }
    let error = try #require(throws: StoreError.self) { try store.insert("Cover", covers) }
    #expect(error.code == .danglingReference)
    try store.save { request in
      request.inserts = [
        .init(entity: try store.entity("Cover").index, records: covers),
        .init(entity: try store.entity("EmotionDiary").index, records: try diaries(1...100)),
      ]
    }
    #expect(try store.keys("Cover").count == 100)
  }

  @Test("Pairs that another writer has inserted already are no conflict")
  func pairs() throws {
    try store.insert("EmotionDiary", try diaries(1...100))
    try store.insert("Tag", [try store.record("Tag", 200, ["name": .text("t")])])
    func link(_ keys: some Sequence<Int>) throws {
      try store.save { request in
        request.pairs = [.init(table: 0)]
        request.pairs[0].added = keys.map { .init(first: Int64($0), partner: 200) }
      }
    }
    try link(stride(from: 1, through: 100, by: 3))
    try link(1...100)
    let linked = try OtherProgram(store.url).texts("SELECT count(*) FROM \"\(store.model.joinTables[0].name)\"")
    #expect(linked == ["100"])
  }

  @Test("Rows of several kinds in one table keep their kind")
  func hierarchy() throws {
    let zoo = try TestStore(TestModels.zoo)
    let dogs = try (1...80).map { number in
      try zoo.record(
        "Dog", Int64(number), ["name": .text("d\(number)"), "breed": .text("b"), "chip": .integer(Int64(number))])
    }
    let cats = try (101...180).map { number in
      try zoo.record("Cat", Int64(number), ["name": .text("c\(number)"), "lives": .integer(9)])
    }
    try zoo.save { request in
      request.inserts = [
        .init(entity: try zoo.entity("Dog").index, records: dogs),
        .init(entity: try zoo.entity("Cat").index, records: cats),
      ]
    }
    #expect(try zoo.rows("Dog").map(\.values) == dogs.map(\.values))
    #expect(try zoo.rows("Cat").map(\.values) == cats.map(\.values))
    #expect(try zoo.keys("Animal").count == 160)
  }

  @Test("Many searchable rows are indexed, even if another program has marked some of their keys")
  func searchable() throws {
    let home = try TestFolder()
    let model = try Model(
      ModelDescription(
        name: "Notes",
        entities: [EntityDescription("Note", attributes: [AttributeDescription("text", .string, searchable: true)])]))
    let url = home.file("notes.db")
    var options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 500, isReadOnly: false)
    options.usesSearchIndex = true
    let store = try SQLiteStore(url: url, model: model, options: options)
    _ = try store.reserveKeys(1_000)
    try OtherProgram(url).run("INSERT INTO _searchMarks VALUES ('Note', 5), ('Note', 50), ('Note', 99)")
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: 0,
        records: (1...100).map {
          TestRecord(model.entities[0], key: $0, ["text": .text($0 % 2 == 0 ? "coffee \($0)" : "tea \($0)")])
        })
    ]
    try store.connect().save(request)
    var found: [Int64] = []
    let predicate = QueryPredicate.comparison(
      Comparison(
        .path(PropertyPath(variable: 0).appending(0)), .matching, .value(.text("coffee")), kind: .text))
    try store.connect().fetchKeys(StoreRequest(entity: 0, predicate: predicate)) { key, _ in found.append(key) }
    #expect(found.sorted() == Array(stride(from: 2, through: 100, by: 2)))
  }
}
