import Testing
import TrellisModel
import TrellisStorage

@Suite("The store in memory") struct MemoryStoreTests {
  final class Note: StoredRecord {
    let storedKey: Int64
    var storedVersion: Int64 = 0
    var text: String

    init(_ key: Int64, _ text: String) {
      storedKey = key
      self.text = text
    }

    func writeRow(to row: RowWriter) {
      row.text(text)
      row.integer(storedKey % 100)
    }

    func writeColumns(of properties: ColumnMask, to row: RowWriter) {
      if properties.contains(0) { row.text(text) }
      if properties.contains(1) { row.integer(storedKey % 100) }
    }
  }

  static func model(_ name: String = "Notes") throws -> Model {
    try Model(
      ModelDescription(
        name: name,
        entities: [
          EntityDescription(
            "Note", attributes: [AttributeDescription("text", .string), AttributeDescription("group", .int64)],
            uniqueKeys: [["text"]])
        ]))
  }

  func filled(_ count: Int64) throws -> MemoryStore {
    let store = MemoryStore(try Self.model())
    let request = SaveRequest()
    request.inserts = [SaveRequest.Inserts(entity: 0, records: (1...count).map { Note($0, "n\($0)") })]
    try store.connect().save(request)
    return store
  }

  @Test("a reader goes on with what it began with, while another saves")
  func snapshots() throws {
    let store = try filled(1_000)
    let writer = store.connect()
    var seen = 0
    try store.connect().fetch(StoreRequest(entity: 0)) { row in
      if seen == 0 {
        let request = SaveRequest()
        request.deletes = [
          SaveRequest.Deletes(
            entity: 0, keys: Array(1...1_000), versions: Array(repeating: 1, count: 1_000))
        ]
        try writer.save(request)
      }
      seen += 1
    }
    #expect(seen == 1_000)
    #expect(try writer.count(StoreRequest(entity: 0)) == 0)
  }

  @Test("each container of .memory has rows of its own, those of one name share them")
  func configurations() throws {
    let model = try Self.model()
    #expect(try StoreConfiguration.memory.open(model) !== StoreConfiguration.memory.open(model))
    let shared = try StoreConfiguration.memory(named: "shared").open(model)
    let keys = try shared.reserveKeys(3)
    #expect(try StoreConfiguration.memory(named: "shared").open(model).reserveKeys(1).lowerBound == keys.upperBound)
    let other = try Self.model("Other")
    #expect(throws: StoreError.self) { try StoreConfiguration.memory(named: "shared").open(other) }
  }

  @Test(
    "a named store is shared by models that differ in docs and rules, and not by those that number properties otherwise"
  )
  func sharing() throws {
    let model = try Self.model()
    let shared = try StoreConfiguration.memory(named: "docs").open(model)
    var documented = model.description
    documented.doc = "Short texts."
    documented.entities[0].attributes[0].rules.maximumLength = 10
    let keys = try shared.reserveKeys(3)
    let same = try StoreConfiguration.memory(named: "docs").open(Model(documented))
    #expect(try same.reserveKeys(1).lowerBound == keys.upperBound)
    var reordered = model.description
    reordered.entities[0].attributes.swapAt(0, 1)
    let error = #expect(throws: StoreError.self) { try StoreConfiguration.memory(named: "docs").open(Model(reordered)) }
    #expect(error?.code == .otherModel)
  }

  @Test("a reader of what does not fit reports it and returns a placeholder")
  func mismatch() throws {
    let store = try filled(1)
    try store.connect().fetch(StoreRequest(entity: 0)) { row in
      #expect(row.integer(0) == 0 && row.problem?.column == 0)
      #expect(row.isNull(9))
      #expect(String(decoding: row.bytes(0), as: UTF8.self) == "n1")
    }
  }

  @Test("100,000 rows are fetched, found and saved in reasonable time")
  func speed() throws {
    let clock = ContinuousClock()
    let count: Int64 = 100_000
    var made: MemoryStore?
    let insert = try clock.measure { made = try filled(count) }
    let connection = try #require(made).connect()
    var total = 0
    let fetch = try clock.measure {
      try connection.fetch(StoreRequest(entity: 0)) { total += $0.text(0).utf8.count + Int($0.integer(1)) }
    }
    let text = PropertyPath(variable: 0).appending(0)
    let predicate = QueryPredicate.comparison(Comparison(.path(text), .hasSuffix, .value(.text("77")), kind: .text))
    var matches = 0
    let filter = try clock.measure { matches = try connection.count(StoreRequest(entity: 0, predicate: predicate)) }
    #expect(matches == 1_000)
    let sorted = StoreRequest(entity: 0, sort: [SortKey(text, descending: true, kind: .text)], limit: 10)
    let sort = try clock.measure { try connection.fetch(sorted) { _ in } }
    let byKey = QueryPredicate.comparison(Comparison(.path(text), .equal, .value(.text("n500")), kind: .text))
    let lookup = try clock.measure {
      for _ in 0..<1_000 { matches += try connection.count(StoreRequest(entity: 0, predicate: byKey)) }
    }
    #expect(matches == 2_000)
    let note = Note(77, "changed")
    note.storedVersion = 1
    let save = try clock.measure {
      for _ in 0..<1_000 {
        let request = SaveRequest()
        request.updates = [SaveRequest.Updates(entity: 0, records: [note], masks: [ColumnMask(bits: 1)])]
        try connection.save(request)
        note.storedVersion += 1
      }
    }
    print("100,000 rows: insert \(insert), fetch \(fetch), filter \(filter), sort \(sort)")
    print("1,000 times: look-up \(lookup), save of one row \(save)")
    #expect(total > 0 && fetch < .seconds(5))
  }
}
