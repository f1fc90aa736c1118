import Foundation
import Testing
import TrellisModel
@testable import TrellisStorage
import TrellisTestSupport

@Suite("Searches with an index") struct SearchTests {
  private static func model(searchable: Bool = true) throws -> Model {
    try Model(
      ModelDescription(
        name: "Notes",
        entities: [
          EntityDescription(
            "Note",
            attributes: [
              AttributeDescription("text", .string, optional: true, searchable: searchable),
              AttributeDescription("text_data", .string, searchable: searchable),
              AttributeDescription("size", .int64),
            ])
        ]))
  }

  private let home: TestFolder
  private var url: URL { home.file("notes.db") }

  init() throws { home = try TestFolder() }

  private func open(_ model: Model, usesIndex: Bool = true, readOnly: Bool = false) throws -> SQLiteStore {
    var options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 500, isReadOnly: readOnly)
    options.usesSearchIndex = usesIndex
    return try SQLiteStore(url: url, model: model, options: options)
  }

  private func record(
    _ model: Model, _ key: Int64, version: Int64 = 1, _ text: String?, _ other: String = ""
  ) -> TestRecord {
    TestRecord(
      model.entities[0], key: key, version: version,
      ["text": text.map { .text($0) } ?? .null, "text_data": .text(other), "size": .integer(0)])
  }

  private func insert(_ records: [TestRecord], _ store: SQLiteStore) throws {
    _ = try store.reserveKeys(1_000)
    let request = SaveRequest()
    request.inserts = [.init(entity: 0, records: records)]
    try store.connect().save(request)
  }

  private static func matching(_ query: String, property: Int = 0) -> QueryPredicate {
    .comparison(
      Comparison(
        .path(PropertyPath(variable: 0).appending(property)), .matching, .value(.text(query)), kind: .text))
  }

  private func found(_ query: String, _ store: SQLiteStore) throws -> [Int64] {
    var keys: [Int64] = []
    try store.connect().fetchKeys(StoreRequest(entity: 0, predicate: Self.matching(query))) { key, _ in
      keys.append(key)
    }
    return keys
  }

  private func findings(_ store: SQLiteStore) throws -> [String] {
    var findings: [String] = []
    try store.connect().check { findings.append("\($0.code.rawValue) \($0.key ?? 0)") }
    return findings
  }

  @Test("full-text tables that are damaged are findings, and the check goes on", arguments: ["data", "config"])
  func damagedTables(part: String) throws {
    let model = try Self.model()
    do {
      let store = try open(model)
      try insert([record(model, 1, "one two"), record(model, 2, "three")], store)
      store.close()
    }
    try OtherProgram(url).run("DROP TABLE \"_search.Note.text.fts_\(part)\"")
    let store = try open(model)
    defer { store.close() }
    let found = try findings(store)
    #expect(found.contains { $0.hasPrefix("damaged") }, "\(found)")
  }

  private func marks() throws -> [String] { try OtherProgram(url).texts("SELECT key FROM _searchMarks") }

  // MARK: How it is answered

  @Test("a searchable text is found by the index, also beside an order and a limit")
  func plan() throws {
    let store = try open(try Self.model())
    let request = StoreRequest(
      entity: 0, predicate: .and([Self.matching("커피"), Self.matching("cof", property: 1)]),
      sort: [SortKey(PropertyPath(variable: 0).appending(0), rankFor: "커피")], limit: 3)
    let text = try RequestStatement(request, for: .rows, in: store.setup.layout).text
    let plan = try LeasingConnection(store).leased { try $0.database.plan(of: text) }
    #expect(plan.contains("SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"), "\(plan)")
    #expect(plan.contains("SCAN _search.Note.text.fts VIRTUAL TABLE INDEX 0:M1"), "\(plan)")
  }

  @Test("a store without anything searchable has no tables, triggers or statements for it")
  func nothing() throws {
    let model = try Self.model(searchable: false)
    let store = try open(model)
    let connection = try #require(try store.connect() as? LeasingConnection)
    try insert([record(model, 1, "커피")], store)
    #expect(try OtherProgram(url).texts("SELECT name FROM sqlite_schema WHERE name LIKE '_search%'") == [])
    #expect(try connection.leased { try $0.database.text("SELECT name FROM sqlite_temp_schema LIMIT 1") } == nil)
    #expect(try found("커피", store) == [1])
  }

  // MARK: Who writes

  @Test("a save leaves no marks, and one that fails leaves the index as it was")
  func saves() throws {
    let model = try Self.model()
    let store = try open(model)
    try insert([record(model, 1, "커피"), record(model, 2, nil)], store)
    #expect(try marks() == [])
    let request = SaveRequest()
    request.inserts = [.init(entity: 0, records: [record(model, 3, "커피")])]
    request.deletes = [.init(entity: 0, keys: [1], versions: [9])]
    #expect(throws: SaveConflict.self) { try store.connect().save(request) }
    #expect(try found("커피", store) == [1])
    #expect(try findings(store) == [])
  }

  @Test("what another program writes is found at once, and indexed by the next save")
  func externalChanges() throws {
    let model = try Self.model()
    let store = try open(model)
    try insert((1...5).map { record(model, $0, "커피 \($0)") }, store)
    let other = try OtherProgram(url)
    try other.run("UPDATE Note SET text = '홍차' WHERE _id = 1")
    try other.run("DELETE FROM Note WHERE _id = 2")
    try other.run("INSERT INTO Note (_id, _version, text, text_data, size) VALUES (6, 1, '커피 새로', '', 0)")
    try other.run("UPDATE Note SET size = 7 WHERE _id = 4")
    #expect(try marks() == ["1", "2", "6"])
    #expect(try found("커피", store) == [3, 4, 5, 6])
    #expect(try found("홍차", store) == [1])
    #expect(try findings(store) == [])
    try insert([record(model, 9, "물")], store)
    #expect(try marks() == [])
    #expect(try found("커피", store) == [3, 4, 5, 6])
    #expect(try findings(store) == [])
    #expect(try other.texts("SELECT rowid FROM \"_search.Note.text.fts\"") == ["1", "3", "4", "5", "6", "9"])
  }

  @Test("a connection without full-text tables answers alike, and tells those that have them what it changed")
  func withoutLibrary() throws {
    let model = try Self.model()
    try insert([record(model, 1, "커피"), record(model, 2, "홍차")], try open(model))
    let plain = try open(model, usesIndex: false)
    try insert([record(model, 3, "아이스커피")], plain)
    #expect(try found("커피", plain) == [1, 3])
    #expect(try marks() == ["3"])
    #expect(try found("커피", try open(model)) == [1, 3])
  }

  @Test("a file that was made without full-text tables gets them where there are some")
  func madeWithoutLibrary() throws {
    let model = try Self.model()
    let plain = try open(model, usesIndex: false)
    try insert([record(model, 1, "커피")], plain)
    plain.close()
    let store = try open(model)
    #expect(!store.setup.layout.search.isEmpty)
    #expect(try found("커피", store) == [1])
    #expect(try findings(store) == [])
  }

  // MARK: How it comes and goes

  @Test("texts that were there before the model made them searchable are indexed when the file is opened")
  func gained() throws {
    let (before, after) = (try Self.model(searchable: false), try Self.model())
    let old = try open(before)
    try insert((1...300).map { record(before, $0, $0 % 3 == 0 ? "아이스커피 \($0)" : nil, "cof\($0)") }, old)
    old.close()
    // For reading only nothing is made, and the answer is the same.
    #expect(try found("커피 30", try open(after, readOnly: true)) == [30, 300])
    let new = try open(after)
    #expect(try OtherProgram(url).texts("SELECT rowid FROM \"_search.Note.text.fts\"").count == 100)
    #expect(try found("커피 30", new) == [30, 300])
    #expect(try findings(new) == [])
    new.close()
    let readOnly = try open(after, readOnly: true)
    #expect(!readOnly.setup.layout.search.isEmpty)
    #expect(try found("커피 30", readOnly) == [30, 300])
  }

  @Test("what the model no longer searches goes when the file is opened, and texts can be saved as before")
  func lost() throws {
    let (before, after) = (try Self.model(), try Self.model(searchable: false))
    try insert([record(before, 1, "커피")], try open(before))
    let store = try open(after)
    #expect(try OtherProgram(url).texts("SELECT name FROM sqlite_schema WHERE name LIKE '_search%'") == [])
    try insert([record(after, 2, "커피")], store)
    store.close()
    let again = try open(before)
    #expect(try found("커피", again) == [1, 2])
    #expect(try findings(again) == [])
  }

  @Test(
    "an index whose parts were tampered with is made anew",
    arguments: [
      "DROP TRIGGER \"_search.Note.insert\"", "DROP TABLE \"_search.Note.text.fts\"", "DROP TABLE _searchMarks",
      "CREATE TRIGGER \"_search.Note.more\" AFTER INSERT ON Note BEGIN DELETE FROM Note; END",
    ])
  func tampered(_ sql: String) throws {
    let model = try Self.model()
    try insert([record(model, 1, "커피")], try open(model))
    try OtherProgram(url).run(sql)
    let store = try open(model)
    #expect(try OtherProgram(url).texts("SELECT name FROM sqlite_schema WHERE type = 'trigger'").count == 3)
    #expect(try found("커피", store) == [1])
    #expect(try findings(store) == [])
  }

  @Test("a check finds texts that the index does not know, and parts that are gone")
  func check() throws {
    let model = try Self.model()
    let store = try open(model)
    try insert([record(model, 1, "커피"), record(model, 2, "홍차")], store)
    let other = try OtherProgram(url)
    try other.run("UPDATE \"_search.Note.text.fts\" SET words = 'x' WHERE rowid = 2")
    #expect(try findings(store) == ["index-differs 2"])
    try other.run("DROP TRIGGER \"_search.Note.delete\"")
    #expect(try findings(store) == ["index-differs 0", "index-differs 2"])
    try other.run("DROP TABLE _searchMarks")
    #expect(try findings(try open(model)) == [])
  }

  @Test("a copy of the store is searched like the store")
  func copy() throws {
    let model = try Self.model()
    let store = try open(model)
    try insert([record(model, 1, "커피"), record(model, 2, "홍차")], store)
    try store.backUp(to: home.path("copy.db"), replacing: false)
    let copy = try SQLiteStore(
      url: home.file("copy.db"), model: model,
      options: OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 500, isReadOnly: true))
    #expect(!copy.setup.layout.search.isEmpty)
    #expect(try found("커피", copy) == [1])
    #expect(try findings(copy) == [])
  }

  // MARK: Agreement

  private static let words = ["커피", "아이스커피", "커", "피커", "산책", "하다", "coffee", "Cof", "shop", "é", "☕", "2026"]

  /// How many changes each seed makes: `TRELLIS_SEARCHES`, or 150.
  private static let changes = TestSettings.number("TRELLIS_SEARCHES", or: 150)

  @Test(
    "after random changes by saves, by SQL and by another program the index answers like a look at each text",
    arguments: [UInt64](1...3) + [TestSettings.seed()])
  func agreement(_ seed: UInt64) throws {
    print("seed \(seed), \(Self.changes) changes")
    var numbers = SeededGenerator(seed: seed)
    let model = try Self.model()
    var store = try open(model)
    let other = try OtherProgram(url)
    try other.run("PRAGMA busy_timeout = 1000")
    var texts: [Int64: String?] = [:]
    var versions: [Int64: Int64] = [:]
    var next: Int64 = 1
    func text(_ numbers: inout SeededGenerator) -> String? {
      guard numbers.below(8) > 0 else { return nil }
      return (0..<numbers.below(5)).map { _ in Self.words[numbers.below(Self.words.count)] }
        .joined(separator: ["", " ", ", "][numbers.below(3)])
    }
    for _ in 0..<Self.changes {
      let known = texts.keys.sorted()
      let key = known.isEmpty ? 0 : known[numbers.below(known.count)]
      let value = text(&numbers)
      let literal = value.map { "'\($0)'" } ?? "NULL"
      switch numbers.below(7) {
      case 0, 1:
        try insert([record(model, next, value)], store)
        (texts[next], versions[next]) = (value, 1)
        next += 1
      case 2 where key > 0:
        let request = SaveRequest()
        request.updates = [
          .init(
            entity: 0, records: [record(model, key, version: versions[key] ?? 1, value)],
            masks: [ColumnMask(bits: 1)])
        ]
        try store.connect().save(request)
        texts[key] = value
        versions[key, default: 1] += 1
      case 3 where key > 0:
        _ = try store.connect().updateAll(
          BatchUpdate(
            request: StoreRequest(entity: 0, predicate: Self.matching("커")),
            assignments: [.init(property: 0, value: .value(value.map { .text($0) } ?? .null))]), in: model)
        for (key, old) in texts where old.map({ SearchQuery("커").matches($0) }) == true {
          texts[key] = value
          versions[key, default: 1] += 1
        }
      case 4 where key > 0:
        try other.run("UPDATE Note SET text = \(literal) WHERE _id = \(key)")
        texts[key] = value
      case 5 where key > 0:
        if numbers.below(2) == 0 {
          try other.run("DELETE FROM Note WHERE _id = \(key)")
        } else {
          let request = SaveRequest()
          request.deletes = [.init(entity: 0, keys: [key], versions: [versions[key] ?? 1])]
          try store.connect().save(request)
        }
        (texts[key], versions[key]) = (nil, nil)
      default:
        if numbers.below(4) == 0 {
          store.close()
          store = try open(model, usesIndex: numbers.below(3) > 0)
        }
      }
      let query = text(&numbers) ?? "커"
      let search = SearchQuery(query)
      let expected = texts.filter { $0.value.map { search.matches($0) } == true }.keys.sorted()
      #expect(try found(query, store) == expected, "\(query.debugDescription), seed \(seed)")
    }
    #expect(try findings(store) == [], "seed \(seed)")
  }
}
