import Foundation
import Testing
import TrellisModel
import TrellisStorage

@Suite("Saving to SQLite") struct SavingTests {
  let store: TestStore

  init() throws { store = try TestStore(TestModels.diary) }

  func diary(_ key: Int64, version: Int64 = 0, _ values: [String: StoredValue] = [:]) throws -> TestRecord {
    let basic: [String: StoredValue] = [
      "id": .blob([UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 16)), "emotion": .text("happy"),
      "content": .text("c\(key)"), "createdAt": .integer(key),
    ]
    return try store.record("EmotionDiary", key, version: version, basic.merging(values) { $1 })
  }

  func mask(_ names: String...) throws -> ColumnMask {
    let entity = try store.entity("EmotionDiary")
    return ColumnMask(bits: names.reduce(0) { $0 | ColumnMask.bit(of: entity.property(named: $1)?.index ?? 63) })
  }

  func update(_ records: [TestRecord], _ mask: ColumnMask) throws {
    try store.save { request in
      request.updates = [.init(entity: 0, records: records, masks: records.map { _ in mask })]
    }
  }

  @Test("an inserted row comes back with version 1")
  func insert() throws {
    let record = try diary(7, ["mood": .text("fine"), "weight": .real(1.5), "price": .text("12.50")])
    try store.insert("EmotionDiary", [record])
    let rows = try store.rows("EmotionDiary")
    #expect(rows.count == 1)
    #expect(rows.first?.key == 7 && rows.first?.version == 1)
    #expect(rows.first?.values == record.values)
  }

  @Test("an update writes the marked columns only and raises the version")
  func update() throws {
    let record = try diary(1, ["mood": .text("old")])
    try store.insert("EmotionDiary", [record])
    let changed = try diary(1, version: 1, ["mood": .text("new"), "content": .text("not written")])
    try update([changed], mask("mood"))
    let row = try #require(try store.rows("EmotionDiary").first)
    #expect(row.version == 2 && row.values[4] == .text("new") && row.values[2] == .text("c1"))
  }

  @Test("rows that somebody else changed or deleted are all named, and nothing is written")
  func conflicts() throws {
    try store.insert("EmotionDiary", try (1...4).map { try diary($0) })
    try update([try diary(2, version: 1, ["mood": .text("theirs")])], mask("mood"))
    try store.save { $0.deletes = [.init(entity: 0, keys: [3], versions: [1])] }
    let conflict = try #require(throws: SaveConflict.self) {
      try store.save { request in
        request.updates = [
          .init(
            entity: 0, records: try (1...3).map { try diary($0, version: 1, ["mood": .text("mine")]) },
            masks: try (1...3).map { _ in try mask("mood") })
        ]
        request.deletes = [.init(entity: 0, keys: [4], versions: [9])]
      }
    }
    #expect(Set(conflict.rows.map(\.key)) == [2, 3, 4])
    #expect(try store.rows("EmotionDiary").map { $0.values[4] } == [.null, .text("theirs"), .null])
    try store.insert("EmotionDiary", [try diary(9)])
  }

  @Test("two objects with the same unique key are refused with the key's name")
  func uniqueness() throws {
    try store.insert("EmotionDiary", [try diary(1)])
    let twin = try diary(2, ["id": .blob([UInt8](repeating: 1, count: 16))])
    let error = try #require(throws: StoreError.self) { try store.insert("EmotionDiary", [twin]) }
    #expect(error.code == .notUnique && error.entity == "EmotionDiary" && error.properties == ["id"])
    #expect(try store.keys("EmotionDiary") == [1])
  }

  @Test("unique keys may be swapped, passed on, and taken over from a deleted object in one save")
  func swap() throws {
    let id = { (value: UInt8) in ["id": StoredValue.blob([UInt8](repeating: value, count: 16))] }
    try store.insert("EmotionDiary", try (1...5).map { try diary($0, ["mood": .text("m\($0)")]) })
    try store.save { request in
      request.updates = [
        .init(
          entity: 0,
          records: [
            try diary(1, version: 1, id(2)), try diary(2, version: 1, id(1)), try diary(3, version: 1, id(4)),
            try diary(4, version: 1, id(40)),
          ],
          masks: try (0..<4).map { _ in try mask("id") })
      ]
      request.deletes = [.init(entity: 0, keys: [5], versions: [1])]
      request.inserts = [.init(entity: 0, records: [try diary(6, id(5))])]
    }
    let rows = try store.rows("EmotionDiary")
    #expect(rows.map(\.key) == [1, 2, 3, 4, 6])
    #expect(rows.map { $0.values[0] } == [2, 1, 4, 40, 5].map { .blob([UInt8](repeating: $0, count: 16)) })
    #expect(rows.map(\.version) == [2, 2, 2, 2, 1])
    #expect(rows.map { $0.values[4] }.prefix(4) == [.text("m1"), .text("m2"), .text("m3"), .text("m4")])
  }

  @Test("a thousand objects may each take over the next one's key, in either order", arguments: [1, -1])
  func shift(_ step: Int) throws {
    func id(_ number: Int) -> [String: StoredValue] {
      ["id": .blob([UInt8(number / 256), UInt8(number % 256)])]
    }
    try store.insert("EmotionDiary", try (1...1_000).map { try diary(Int64($0), id($0)) })
    try store.save { request in
      request.updates = [
        .init(
          entity: 0, records: try (1...1_000).map { try diary(Int64($0), version: 1, id($0 + step)) },
          masks: try (1...1_000).map { _ in try mask("id") })
      ]
    }
    #expect(
      try store.rows("EmotionDiary").allSatisfy { $0.version == 2 && $0.values[0] == id(Int($0.key) + step)["id"] })
  }

  @Test("a reference that leads nowhere at the end is refused with its name")
  func danglingReference() throws {
    let image = try store.record("DiaryImage", 5, ["imagePath": .text("a"), "diary": .integer(99)])
    let error = try #require(throws: StoreError.self) { try store.insert("DiaryImage", [image]) }
    #expect(error.code == .danglingReference && error.entity == "DiaryImage" && error.properties == ["diary"])
    #expect(try store.keys("DiaryImage").isEmpty)
  }

  @Test("rows may refer to rows that are inserted later in the same save")
  func order() throws {
    try store.save { request in
      let image = try store.record("DiaryImage", 1, ["imagePath": .text("a"), "diary": .integer(2)])
      request.inserts = [
        .init(entity: 1, records: [image]), .init(entity: 0, records: [try diary(2)]),
      ]
    }
    #expect(try store.keys("DiaryImage") == [1])
  }

  @Test("deleting an object takes its pairs along")
  func pairs() throws {
    try store.insert("EmotionDiary", [try diary(1), try diary(2)])
    try store.insert("Tag", [try store.record("Tag", 3, ["name": .text("a")])])
    try store.save { request in
      request.pairs = [.init(table: 0)]
      request.pairs[0].added = [.init(first: 1, partner: 3), .init(first: 2, partner: 3), .init(first: 1, partner: 3)]
    }
    var found: [Int64] = []
    try store.connection.memberKeys(of: store.number("Tag", "diaries"), owners: [3]) { _, key, _ in found.append(key) }
    #expect(found == [1, 2])
    try store.save { $0.deletes = [.init(entity: 0, keys: [1], versions: [1])] }
    found = []
    try store.connection.members(of: store.number("Tag", "diaries"), owners: [3]) { _, row in found.append(row.key) }
    #expect(found == [2])
  }

  @Test("a number that is none cannot be stored")
  func notANumber() throws {
    let error = try #require(throws: StoreError.self) {
      try store.insert("EmotionDiary", [try diary(1, ["weight": .real(.nan)])])
    }
    #expect(error.code == .unstorableValue)
    #expect(try store.keys("EmotionDiary").isEmpty)
  }

  @Test("values come back exactly, to the edges of their kinds")
  func roundTrip() throws {
    let long = String(repeating: "커피 ", count: 10_000)
    let texts = ["", "a\u{0}b", "\u{0}", "커피", "커피".decomposedStringWithCanonicalMapping, "😀'\";--", long]
    let blobs: [[UInt8]] = [[], [0], [UInt8](0...255), [UInt8](repeating: 7, count: 100_000)]
    let integers: [Int64] = [.min, -1, 0, 1, .max, 1 << 53 + 1]
    let reals: [Double] = [0, 1.5, -.infinity, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e15, 3]
    var expected: [Int64: [StoredValue]] = [:]
    for key in 1...8 {
      let values: [String: StoredValue] = [
        "content": .text(texts[key % texts.count]), "createdAt": .integer(integers[key % integers.count]),
        "weight": .real(reals[key % reals.count]), "id": .blob([UInt8(key)] + blobs[key % blobs.count]),
      ]
      let record = try diary(Int64(key), values)
      try store.insert("EmotionDiary", [record])
      expected[Int64(key)] = record.values
    }
    for row in try store.rows("EmotionDiary") { #expect(row.values == expected[row.key]) }
    for (key, blob) in blobs.enumerated() {
      try store.insert(
        "DiaryImage",
        [try store.record("DiaryImage", Int64(100 + key), ["imagePath": .text(""), "data": .blob(blob)])])
    }
    #expect(try store.rows("DiaryImage").map { $0.values[1] } == blobs.map { .blob($0) })
  }
}
