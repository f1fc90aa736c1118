import Dispatch
import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Opening a SQLite file") struct OpeningTests {
  private let home: TestFolder
  var folder: URL { home.url }
  let url: URL

  init() throws {
    home = try TestFolder()
    url = home.url.appending(path: "store.db")
  }

  /// Every file of the folder, with what is in it.
  private func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      contents[name] = try Data(contentsOf: folder.appending(path: name))
    }
    return contents
  }

  private func open(_ description: ModelDescription = TestModels.diary, readOnly: Bool = false) throws -> any Store {
    try TestStore.open(url, try Model(description), readOnly: readOnly)
  }

  /// Opening fails with this code, and leaves every file as it was.
  private func expectRefusal(
    _ code: StoreError.Code, _ description: ModelDescription = TestModels.diary, readOnly: Bool = false,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let before = try contents()
    let error = try #require(throws: StoreError.self, sourceLocation: location) {
      try open(description, readOnly: readOnly)
    }
    #expect(error.code == code, "\(error)", sourceLocation: location)
    #expect(!error.remedy.isEmpty && !error.message.isEmpty, sourceLocation: location)
    #expect(try contents() == before, "\(error)", sourceLocation: location)
  }

  /// A closed store with some rows.
  private func makeStore() throws {
    let store = try open()
    let connection = try TestStore.connect(store)
    let request = SaveRequest()
    let tag = try Model(TestModels.diary).entities[2]
    let records = (1...500).map { TestRecord(tag, key: Int64($0), ["name": .text("tag number \($0)")]) }
    request.inserts = [.init(entity: 2, records: records)]
    try connection.save(request)
  }

  @Test(
    "a store has the file of its URL, whatever has to be decoded",
    arguments: ["plain.db", "a b.db", "100%.db", "%41.db", "ä.db", "a+b;c&d=e,f#g?.db"])
  func fileOfURL(name: String) throws {
    let path = folder.path + "/" + name
    for url in [URL(fileURLWithPath: path), URL(fileURLWithPath: name, relativeTo: folder)] {
      let store = try TestStore.open(url, try Model(TestModels.diary))
      #expect(store.name.hasSuffix("/" + name))
      store.close()
    }
    #expect(try Set(contents().keys) == [name])
  }

  @Test("a new file may be opened by many at once; nobody is refused") func openedAtOnce() throws {
    for round in 1...100 {
      let file = folder.appending(path: "\(round).db")
      let problems = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 12) { _ in
        do {
          let store = try StoreConfiguration.sqlite(at: file).open(Model(TestModels.diary))
          _ = try store.connect()
        } catch { problems.withLock { $0.append("\(error)") } }
      }
      try #require(problems.withLock { $0 } == [], "round \(round)")
    }
  }

  @Test("a missing or empty file becomes a store that only its owner may read")
  func create() throws {
    try makeStore()
    #if !os(Windows)
      let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    #endif
    #expect(try contents().keys.sorted() == ["store.db"])
    let header = try Data(contentsOf: url)
    #expect(header.dropFirst(68).prefix(4) == Data("Trls".utf8))
    try FileManager.default.removeItem(at: url)
    try Data().write(to: url)
    _ = try open()
  }

  @Test("a file whose making was cut off is made again", arguments: [0, 100, 4096, 20_000]) func halfMade(written: Int)
    throws
  {
    try makeStore()
    let whole = try Data(contentsOf: url)
    try FileManager.default.removeItem(at: url)
    try Data(whole.prefix(written)).write(to: url)
    // The first sector of the journal of a transaction that began with an empty file.
    let header: [UInt32] = [0xD9D5_05F9, 0x20A1_63D7, 0, 0x1234_5678, 0, 512, 4096]
    var journal = Data(header.flatMap { number in withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } })
    journal.append(Data(count: 512 - journal.count))
    try journal.write(to: URL(filePath: url.path + "-journal"))

    let connection = try TestStore.connect(open())
    let tag = try Model(TestModels.diary).entities[2]
    let request = SaveRequest()
    request.inserts = [.init(entity: 2, records: [TestRecord(tag, key: 1, ["name": .text("the only one")])])]
    try connection.save(request)
    #expect(!FileManager.default.fileExists(atPath: url.path + "-journal"))
  }

  @Test("a store opens again with the same model and holds what was saved")
  func reopen() throws {
    try makeStore()
    let connection = try TestStore.connect(try open())
    #expect(try connection.count(StoreRequest(entity: 2)) == 500)
  }

  @Test("another model is refused, and a change of this one is named")
  func otherModel() throws {
    try makeStore()
    try expectRefusal(.otherModel, TestModels.zoo)
    var changed = TestModels.diary
    changed.entities[2].attributes[0].type = .int64
    let error = try #require(throws: StoreError.self) { try open(changed) }
    #expect(error.message.contains("Tag"))
  }

  @Test("a model that is stored alike opens, and the first save brings the file up to it")
  func sameStorage() throws {
    try makeStore()
    var changed = TestModels.diary
    changed.entities[2].doc = "A word."
    changed.entities[0].indexes = [IndexDescription([.init("content")])]
    func indexes() throws -> Bool {
      let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
      return text.contains("_index.EmotionDiary.content")
    }
    do { _ = try open(changed) }
    #expect(try !indexes())
    do {
      let connection = try TestStore.connect(try open(changed))
      let request = SaveRequest()
      request.deletes = [.init(entity: 2, keys: [1], versions: [1])]
      try connection.save(request)
    }
    #expect(try indexes())
    #expect(try TestStore.connect(try open(changed)).count(StoreRequest(entity: 2)) == 499)
  }

  @Test("names that differ in case only are refused, and no file is left")
  func caseClash() throws {
    let model = ModelDescription(name: "M", entities: [EntityDescription("Tag"), EntityDescription("TAG")])
    let error = try #require(throws: StoreError.self) { try open(model) }
    #expect(error.code == .limit)
    #expect(try contents().isEmpty)
  }

  @Test("a file of a newer Trellis is refused")
  func newer() throws {
    try makeStore()
    var data = try Data(contentsOf: url)
    data[63] = 2
    try data.write(to: url)
    try expectRefusal(.newerFormat)
  }

  @Test("files of other programs are refused")
  func foreign() throws {
    for content in [Data("hello".utf8), Data(repeating: 0, count: 4096), Data("SQLite format 3\u{0}".utf8)] {
      try content.write(to: url)
      try expectRefusal(.foreignFile)
    }
    try FileManager.default.removeItem(at: url)
    try makeStore()
    var data = try Data(contentsOf: url)
    data[68] = 0
    try data.write(to: url)
    try expectRefusal(.foreignFile)
  }

  @Test("a missing folder, a folder instead of a file and a missing file to read are refused")
  func cannotOpen() throws {
    try expectRefusal(.cannotOpen, readOnly: true)
    let model = try Model(TestModels.diary)
    for place in [folder, folder.appending(path: "no/store.db")] {
      let error = try #require(throws: StoreError.self) { try TestStore.open(place, model) }
      #expect(error.code == .cannotOpen)
    }
    let error = try #require(throws: StoreError.self) {
      try TestStore.open(try #require(URL(string: "https://example.org/a.db")), model)
    }
    #expect(error.code == .cannotOpen)
  }

  @Test("a store that is only read refuses saves and writes no file")
  func readOnly() throws {
    try makeStore()
    let before = try contents()
    do {
      let store = try open(readOnly: true)
      let connection = try TestStore.connect(store)
      #expect(try connection.count(StoreRequest(entity: 2)) == 500)
      _ = try store.reserveKeys(1 << 32)
      let request = SaveRequest()
      request.deletes = [.init(entity: 2, keys: [1], versions: [1])]
      let error = try #require(throws: StoreError.self) { try connection.save(request) }
      #expect(error.code == .readOnly)
    }
    #expect(try contents() == before)
  }

  #if os(Linux)
    /// The locks that this process has on the file.
    private func locks() throws -> Int {
      let number = try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? UInt64
      return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").count { line in
        let words = line.split(separator: " ")
        return words.count > 5 && words[4] == "\(getpid())" && words[5].hasSuffix(":\(number ?? 0)")
      }
    }

    @Test("a process that opens a file again keeps its locks, without which others would remove the log")
    func locksStay() throws {
      try makeStore()
      let first = try open()
      let connection = try TestStore.connect(first)
      #expect(try connection.count(StoreRequest(entity: 2)) == 500)
      let before = try locks()
      #expect(before > 0)
      for _ in 0..<3 {
        let second = try open()
        #expect(try TestStore.connect(second).count(StoreRequest(entity: 2)) == 500)
        second.close()
        #expect(throws: StoreError.self) { try first.backUp(to: url.path, replacing: true) }
        #expect(try locks() >= before)
      }
      let own = "/proc/self/fd"
      func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: own).count { name in
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\(name)")) == url.path
        }
      }
      #expect(try descriptors() < 6)
      first.close()
    }
  #endif

  @Test("garbage and damaged files give errors, never a crash", arguments: 1...60 as ClosedRange<UInt64>)
  func garbage(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try makeStore()
    var data = try Data(contentsOf: url)
    switch seed % 3 {
    case 0: data = data.prefix(Int.random(in: 100..<data.count, using: &generator))
    case 1:
      for _ in 0..<200 {
        data[Int.random(in: 100..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
    default:
      let start = Int.random(in: 100..<data.count, using: &generator)
      for place in start..<min(data.count, start + 5_000) { data[place] = .random(in: 0...255, using: &generator) }
    }
    try data.write(to: url)
    print("damaged file of seed \(seed)")
    do {
      let model = try Model(TestModels.diary)
      let connection = try TestStore.connect(try open())
      for entity in model.entities {
        try connection.fetch(StoreRequest(entity: entity.index)) { _ = TestRow($0, model) }
      }
      try connection.members(of: .init(entity: 2, property: 1), owners: Array(1...50)) { _, row in
        _ = TestRow(row, model)
      }
      let request = SaveRequest()
      request.deletes = [.init(entity: 2, keys: Array(1...500), versions: Array(repeating: 1, count: 500))]
      try connection.save(request)
    } catch is SaveConflict {
    } catch let error as StoreError {
      #expect(error.code != .internalError, "seed \(seed): \(error)")
    }
  }

  @Test("keys are reserved once and come back when nobody has reserved since")
  func keys() throws {
    let store = try open()
    let first = try store.reserveKeys(1_000)
    #expect(first == 1..<1_001)
    store.returnKeys(11..<1_001)
    #expect(try store.reserveKeys(10) == 11..<21)
    let other = try open()
    #expect(try other.reserveKeys(5) == 21..<26)
    store.returnKeys(12..<21)
    #expect(try store.reserveKeys(1) == 26..<27)
    #expect(throws: StoreError.self) { try store.reserveKeys(.max) }
  }

  @Test("a model of two hundred entities opens with no more statements than a small one, and in far less than a second")
  func largeModel() throws {
    let entities = (0..<200).map { number in
      EntityDescription(
        "Entity\(number)", attributes: (0..<10).map { AttributeDescription("attribute\($0)", .string) },
        relationships: [RelationshipDescription("next", to: "Entity\((number + 1) % 200)", optional: true)])
    }
    let description = ModelDescription(name: "Large", entities: entities)
    _ = try open(description)
    let model = try Model(description)
    var statements = 0
    let times = try (0..<5).map { _ in
      try ContinuousClock().measure {
        let connection = try TestStore.connect(try TestStore.open(url, model))
        try connection.rows(of: 7, keys: [1]) { _ in }
        statements = connection.statistics.run + connection.statistics.prepared
      }
    }
    #expect(statements < 20)
    // The best of some, since the machine may be busy.
    let best = try #require(times.min())
    #expect(best < .milliseconds(500))
  }
}
