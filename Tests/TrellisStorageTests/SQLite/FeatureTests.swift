import Foundation
import Testing
import TrellisModel
@testable import TrellisStorage
import TrellisTestSupport

@Suite("What a file says it uses, and which models it had") struct FeatureTests {
  private let home: TestFolder
  private let url: URL

  init() throws {
    home = try TestFolder()
    url = home.file("shop.db")
  }

  private func model(_ doc: String? = nil, version: String? = nil) throws -> Model {
    try Model(
      ModelDescription(
        name: "Shop", version: version, doc: doc,
        entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])]))
  }

  /// With keys for whatever a test inserts.
  private func open(_ model: Model) throws -> SQLiteStore {
    let store = try #require(try TestStore.open(url, model) as? SQLiteStore)
    _ = try store.reserveKeys(100)
    return store
  }

  private func insert(_ key: Int64, _ store: SQLiteStore, _ model: Model) throws {
    let request = SaveRequest()
    request.inserts = [
      .init(entity: 0, records: [TestRecord(model.entities[0], key: key, ["name": .text("\(key)")])])
    ]
    try store.connect().save(request)
  }

  private func count(_ store: SQLiteStore) throws -> Int { try store.connect().count(StoreRequest(entity: 0)) }

  private func run(_ sql: String) throws { try OtherProgram(url).run(sql) }

  private func set(_ list: String, _ words: String) throws {
    try run("INSERT OR REPLACE INTO _trellis VALUES ('\(list)', '\(words)')")
  }

  private func words(_ list: String) throws -> [String] {
    try OtherProgram(url).texts("SELECT value FROM _trellis WHERE key = '\(list)'")
  }

  @Test("a new file says which features it uses, and has its model")
  func created() throws {
    let model = try model(version: "1.0")
    let store = try open(model)
    #expect(try words("compatible") == ["models"])
    #expect(try words("readOnlyCompatible") == [""] && words("incompatible") == [""])
    let models = try store.models()
    #expect(models.map(\.checksum) == [model.checksum] && models.map(\.version) == ["1.0"])
    #expect(models.map(\.json) == [model.description.canonicalJSON()])
    #expect(models[0].since.map { $0 > 1_700_000_000_000_000 } == true)
  }

  @Test("a file from before opens, and gets its features and its model with the first save")
  func fromBefore() throws {
    let (first, second) = (try model(), try model("Another text."))
    do { try insert(1, try open(first), first) }
    try run(
      "DELETE FROM _trellis WHERE key IN ('compatible', 'readOnlyCompatible', 'incompatible'); DROP TABLE _models")
    for (number, model) in [first, second].enumerated() {
      let store = try open(model)
      #expect(try count(store) == 1 + number)
      #expect(try words("compatible") == (number == 0 ? [] : ["models"]))
      var findings: [StoreFinding] = []
      try store.connect().check { findings.append($0) }
      #expect(findings.isEmpty, "\(findings)")
      try insert(Int64(2 + number), store, model)
      #expect(try words("compatible") == ["models"])
      #expect(try store.models().map(\.checksum) == [first, second].prefix(number + 1).map(\.checksum))
      try store.connect().check { findings.append($0) }
      #expect(findings.isEmpty, "\(findings)")
    }
    #expect(try open(second).models().map { $0.since == nil } == [true, false])
  }

  @Test("a program with a model that the file had before does not take it back")
  func former() throws {
    let models = try [model("One."), model("Two."), model("Three.")]
    for (number, place) in [0, 1, 0, 2, 1, 0].enumerated() {
      let store = try open(models[place])
      try insert(Int64(number + 1), store, models[place])
    }
    let store = try open(models[0])
    #expect(try store.models().map(\.checksum) == models.map(\.checksum))
    #expect(try words("checksum") == [models[2].checksum])
    #expect(try count(store) == 6)
    var findings: [StoreFinding] = []
    try store.connect().check { findings.append($0) }
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test("a word that is not known is ignored, lets the file be read only, or closes it, as its list says")
  func unknown() throws {
    let model = try model()
    do { try insert(1, try open(model), model) }

    try set("compatible", "models sparkle")
    do {
      let store = try open(model)
      try insert(2, store, model)
      #expect(try words("compatible") == ["models sparkle"])
    }

    try set("readOnlyCompatible", "branches time-travel")
    do {
      let before = try Data(contentsOf: url)
      let store = try open(model)
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path) == ["shop.db"])
      #expect(try count(store) == 2)
      _ = try store.reserveKeys(1)
      let error = try #require(throws: StoreError.self) { try insert(3, store, model) }
      #expect(error.code == .readOnly)
      #expect(error.message.contains("branches, time-travel"))
      store.close()
      #expect(try Data(contentsOf: url) == before)
    }

    try set("incompatible", "packed")
    let before = try Data(contentsOf: url)
    let error = try #require(throws: StoreError.self) { try open(model) }
    #expect(error.code == .newerFormat)
    #expect(error.message.contains("packed"))
    #expect(try Data(contentsOf: url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path) == ["shop.db"])
  }

  @Test(
    "lists that are none are damage",
    arguments: [
      "x'00'", "17", "'Models'", "'a_b'", "'\(String(repeating: "a ", count: 300))'",
      "'\(String(repeating: "a", count: 65))'",
    ])
  func damaged(value: String) throws {
    let model = try model()
    do { try insert(1, try open(model), model) }
    for list in ["compatible", "readOnlyCompatible", "incompatible"] {
      try run("UPDATE _trellis SET value = \(value) WHERE key = '\(list)'")
      let error = try #require(throws: StoreError.self) { try open(model) }
      #expect(error.code == .damaged, "\(error)")
      #expect(error.message.contains("list of features"))
      try run("UPDATE _trellis SET value = '' WHERE key = '\(list)'")
    }
  }

  @Test("a missing table of models is a finding, and is told when it is asked for")
  func missingTable() throws {
    let model = try model()
    let store = try open(model)
    try insert(1, store, model)
    try run("DROP TABLE _models")
    var findings: [StoreFinding] = []
    try store.connect().check { findings.append($0) }
    #expect(findings.map(\.code) == [.tableDiffers])
    let error = try #require(throws: StoreError.self) { try store.models() }
    #expect(error.code == .damaged)
  }
}
