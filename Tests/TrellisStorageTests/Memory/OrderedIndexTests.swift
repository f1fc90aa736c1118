import Testing
import TrellisModel
import TrellisStorage

@Suite("Declared indexes are kept in order") struct OrderedIndexTests {
  final class Entry: StoredRecord {
    let storedKey: Int64
    var storedVersion: Int64 = 0
    var values: [StoredValue]

    init(_ key: Int64, _ values: [StoredValue]) {
      storedKey = key
      self.values = values
    }

    func writeRow(to row: RowWriter) {
      for value in values {
        switch value {
        case .integer(let number): row.integer(number)
        case .text(let text): row.text(text)
        default: row.null()
        }
      }
    }

    func writeColumns(of properties: ColumnMask, to row: RowWriter) { writeRow(to: row) }
  }

  private static func model(indexes: [IndexDescription]) throws -> Model {
    try Model(
      ModelDescription(
        name: "Entries",
        entities: [
          EntityDescription(
            "Entry",
            attributes: [
              AttributeDescription("mood", .string), AttributeDescription("day", .int64, optional: true),
              AttributeDescription("price", .decimal, optional: true),
            ], indexes: indexes)
        ]))
  }

  private static let indexes = [
    IndexDescription([.init("mood"), .init("day")]),
    IndexDescription([.init("mood"), .init("price", descending: true), .init("day")]),
    IndexDescription([.init("price", descending: true)]),
  ]

  private func keys(_ store: MemoryStore, _ request: StoreRequest) throws -> [Int64] {
    var keys: [Int64] = []
    try store.connect().fetchKeys(request) { key, _ in keys.append(key) }
    return keys
  }

  private static func path(_ property: Int) -> PropertyPath { PropertyPath(variable: 0).appending(property) }

  private static func randomValues() -> [StoredValue] {
    [
      .text(["a", "b", "커피"].randomElement() ?? ""), [.null, .integer(.random(in: 0...4))].randomElement() ?? .null,
      [.null, .text("-2.5"), .text("10"), .text("9")].randomElement() ?? .null,
    ]
  }

  private static func randomRequest() -> StoreRequest {
    let sort = (0..<Int.random(in: 0...3)).map { _ in
      let property = Int.random(in: 0...2)
      return SortKey(
        path(property), descending: .random(), kind: [ValueKind.text, .integer, .decimal][property])
    }
    var terms: [QueryPredicate] = []
    if .random() { terms.append(.comparison(Comparison(.path(path(0)), .equal, .value(.text("a")), kind: .text))) }
    if Int.random(in: 0...3) == 0 {
      terms.append(.isIn(.path(path(0)), [.text("b"), .text("커피")], .text))
    }
    if .random() { terms.append(.comparison(Comparison(.path(path(1)), .equal, .value(.integer(2)), kind: .integer))) }
    return StoreRequest(
      entity: 0, predicate: terms.isEmpty ? nil : .and(terms), sort: sort,
      limit: [nil, 0, 1, 5].randomElement() ?? nil, offset: .random(in: 0...3))
  }

  @Test("a store with indexes answers as one without, whatever is asked, inserted, changed and deleted")
  func sameAnswers() throws {
    let indexed = MemoryStore(try Self.model(indexes: Self.indexes))
    let plain = MemoryStore(try Self.model(indexes: []))
    var held: [Int64: Entry] = [:]
    var next: Int64 = 1
    for _ in 0..<30 {
      let request = SaveRequest()
      let new = (0..<20).map { Entry(next + Int64($0), Self.randomValues()) }
      next += 20
      let changed = held.values.shuffled().prefix(5)
      let gone = held.values.filter { entry in !changed.contains { $0 === entry } }.shuffled().prefix(3)
      for entry in changed { entry.values = Self.randomValues() }
      request.inserts = [SaveRequest.Inserts(entity: 0, records: new)]
      request.updates = [
        SaveRequest.Updates(entity: 0, records: Array(changed), masks: changed.map { _ in .all })
      ]
      request.deletes = [
        SaveRequest.Deletes(entity: 0, keys: gone.map(\.storedKey), versions: gone.map(\.storedVersion))
      ]
      try indexed.connect().save(request)
      try plain.connect().save(request)
      for entry in new + changed { entry.storedVersion += 1 }
      for entry in new { held[entry.storedKey] = entry }
      for entry in gone { held[entry.storedKey] = nil }
      for _ in 0..<40 {
        let request = Self.randomRequest()
        #expect(try keys(indexed, request) == keys(plain, request), "\(request)")
      }
    }
  }

  @Test("an equality, a sort by the columns behind it, and a limit are answered along the index")
  func plans() throws {
    let store = MemoryStore(try Self.model(indexes: Self.indexes))
    let mood = QueryPredicate.comparison(Comparison(.path(Self.path(0)), .equal, .value(.text("a")), kind: .text))
    func plan(_ predicate: QueryPredicate?, _ sort: [SortKey]) throws -> String {
      try store.connect().plan(of: StoreRequest(entity: 0, predicate: predicate, sort: sort, limit: 1)).description
    }
    let day = SortKey(Self.path(1), descending: true, kind: .integer)
    let price = SortKey(Self.path(2), descending: false, kind: .decimal)
    #expect(try plan(mood, [day]).contains("goes along the index mood, day in order"))
    #expect(try plan(mood, [price, day]).contains("goes along the index mood, price, day in order"))
    #expect(try plan(nil, [price]).contains("goes along the index price in order"))
    // The other direction of one column alone is another order.
    let up = SortKey(Self.path(1), kind: .integer)
    #expect(try plan(mood, [price, up]).contains("sorts the matches"))
  }
}
