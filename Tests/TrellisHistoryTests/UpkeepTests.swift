import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

/// How a history begins, is limited, and ends.
@Suite("Upkeep of a history") struct UpkeepTests {
  private func model(_ history: String, _ more: String = "") -> String {
    """
    { "model": "Shop", \(history) "entities": { "Item": {
      "attributes": { "name": "string", "price": "int64?"\(more) } } } }
    """
  }

  @Test("Old transactions are deleted by call, and their tokens expire", arguments: StoreKind.withHistory)
  func deletion(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let start = try notebook.container.historyToken()
    var tokens: [HistoryToken] = []
    let label = try notebook.save { Label(in: $0, name: "0").objectID }
    tokens.append(try notebook.container.historyToken())
    for number in 1..<6 {
      try notebook.save { context in try #require(try context.object(with: label)).name = "\(number)" }
      tokens.append(try notebook.container.historyToken())
    }
    #expect(try notebook.container.deleteHistory(before: tokens[2]) == 2)
    #expect(try notebook.container.deleteHistory(before: tokens[1]) == 0)
    #expect(try notebook.container.history().count == 4)
    expect(.historyExpired) { _ = try notebook.news(since: start) }
    expect(.historyExpired) { _ = try notebook.news(since: tokens[1]) }
    expect(.historyExpired) { _ = try notebook.container.newContext(asOf: tokens[1]) }
    expect(.historyExpired) { _ = try notebook.container.historyToken(at: .distantPast) }
    #expect(try notebook.news(since: tokens[2]).count == 3)
    let past = try notebook.container.newContext(asOf: tokens[2])
    #expect(try past.fetch(Label.all).map(\.name) == ["2"])
    #expect(try notebook.container.deleteHistory(before: Date.distantFuture) == 3)
    expect(.historyExpired) { _ = try past.count(Label.all) }
    #expect(try notebook.news(since: tokens[5]).isEmpty)
    let former = "SELECT count(*) FROM \"_past.Label\" WHERE \"name\" IS NOT NULL OR \"_version\" IS NOT NULL"
    if kind == .postgres {
      #expect(try notebook.container.formerRows("Label") == 0)
    } else {
      #expect(try notebook.other.texts(former) == ["0"])
    }
    let last = try notebook.container.newContext(asOf: tokens[5])
    try notebook.save { context in try #require(try context.object(with: label)).name = "6" }
    #expect(try notebook.news(since: tokens[5]).map(\.token) == [notebook.container.historyToken()])
    #expect(try last.fetch(Label.all).map(\.name) == ["5"])
  }

  @Test(
    "On a server, old transactions are deleted by limits, and tokens of other stores are told apart",
    .enabled(if: TestServer.isThere))
  func server() throws {
    let notebook = try Notebook(.notebook, .postgres)
    try notebook.save { _ = Label(in: $0, name: "red") }
    let token = try notebook.container.historyToken()
    let other = try Notebook(.notebook, .postgres)
    expect(.otherHistory) { _ = try other.news(since: token) }

    let shop = try DynamicShop(
      model("\"history\": \"values\", \"keepHistory\": { \"transactions\": 20 },"), kind: .postgres)
    let item = try shop.insert(name: "0")
    for number in 1...200 { try shop.rename(item, "\(number)") }
    let end = ContinuousClock.now + .seconds(30)
    while try shop.container.history().count > 100, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
    let kept = try shop.container.history().count
    #expect(kept >= 20 && kept <= 100, "\(kept)")
    while try shop.container.formerRows("Item") > 100, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
    #expect(try shop.container.formerRows("Item") <= 100)
  }

  @Test("Saves delete what is beyond the limit of the model") func limit() throws {
    let shop = try DynamicShop(model("\"history\": \"values\", \"keepHistory\": { \"transactions\": 20 },"))
    let item = try shop.insert(name: "0")
    for number in 1...200 { try shop.rename(item, "\(number)") }
    let kept = try shop.container.history()
    #expect(kept.count >= 20 && kept.count <= 40, "\(kept.count)")
    let program = try OtherProgram(shop.url)
    let former = try #require(Int(try program.texts("SELECT count(*) FROM \"_past.Item\"")[0]))
    #expect(former <= 60, "\(former)")
    let past = try shop.container.newContext(asOf: kept[0].token)
    let last = kept.last?.token.transaction ?? 0
    #expect(try shop.names(past) == ["\(200 - (last - kept[0].token.transaction))"])
  }

  @Test("Transactions that are older than the limit are deleted") func age() throws {
    let shop = try DynamicShop(model("\"history\": true, \"keepHistory\": { \"days\": 2 },"))
    for number in 0..<20 { _ = try shop.insert(name: "\(number)") }
    try OtherProgram(shop.url).run("UPDATE \"_history\" SET \"time\" = \"time\" - 259200000000 WHERE \"number\" <= 10")
    for number in 0..<20 { _ = try shop.insert(name: "\(number)") }
    #expect(try shop.container.history().first?.token.transaction == 11)
  }

  @Test("A history begins with the model that has it, and ends with the model that has it no more") func beginning()
    throws
  {
    let folder = try TestFolder()
    do {
      let shop = try DynamicShop(model(""), folder)
      _ = try shop.insert(name: "before")
      expect(.unsupported) { _ = try shop.container.historyToken() }
      shop.container.close()
    }
    let first: HistoryToken
    do {
      let shop = try DynamicShop(model("\"history\": true,"), folder)
      first = try shop.container.historyToken()
      #expect(first.transaction == 0)
      _ = try shop.insert(name: "after")
      #expect(try shop.container.history(since: first).count == 1)
      expect(.unsupported) { _ = try shop.container.newContext(asOf: first) }
      shop.container.close()
    }
    do {
      let shop = try DynamicShop(model("\"history\": \"values\","), folder)
      #expect(try shop.container.history(since: first).count == 1)
      expect(.historyExpired) { _ = try shop.container.newContext(asOf: first) }
      let now = try shop.container.historyToken()
      _ = try shop.insert(name: "later")
      #expect(try shop.names(shop.container.newContext(asOf: now)) == ["after", "before"])
      shop.container.close()
    }
    do {
      let shop = try DynamicShop(model("\"doc\": \"No history.\","), folder)
      expect(.unsupported) { _ = try shop.container.historyToken() }
      #expect(try OtherProgram(shop.url).texts("SELECT name FROM sqlite_schema WHERE name LIKE '%istory%'").isEmpty)
      shop.container.close()
    }
    let shop = try DynamicShop(model("\"version\": \"9\", \"history\": true,"), folder)
    expect(.otherHistory) { _ = try shop.container.history(since: first) }
    #expect(try shop.container.history().isEmpty)
  }

  @Test("A program with a former model has its writes marked as unknown, with the values kept") func former() throws {
    let folder = try TestFolder()
    try DynamicShop(model(""), folder).container.close()
    let start: HistoryToken
    do {
      let shop = try DynamicShop(model("\"history\": \"values\","), folder)
      _ = try shop.insert(name: "new")
      start = try shop.container.historyToken()
      shop.container.close()
    }
    do {
      let shop = try DynamicShop(model(""), folder)
      _ = try shop.insert(name: "old")
      _ = try shop.insert(name: "older")
      expect(.unsupported) { _ = try shop.container.historyToken() }
      shop.container.close()
    }
    let shop = try DynamicShop(model("\"history\": \"values\","), folder)
    #expect(try shop.container.history(since: start).map(\.hasUnknownChanges) == [true])
    #expect(try shop.names(shop.container.newContext(asOf: start)) == ["new"])
  }

  @Test("A program that has the file open notices that a history begins") func noticing() throws {
    let folder = try TestFolder()
    let old = try DynamicShop(model(""), folder)
    _ = try old.insert(name: "first")
    let new = try DynamicShop(model("\"history\": true,"), folder)
    let start = try new.container.historyToken()
    expect(.migratedByOthers) { _ = try old.insert(name: "second") }
    #expect(try new.names(new.container.newContext()) == ["first"])
    #expect(try new.container.history(since: start).isEmpty)
  }

  @Test("A program that knows no histories may not write") func feature() throws {
    let notebook = try Notebook()
    let words = try notebook.other.texts("SELECT \"value\" FROM \"_trellis\" WHERE \"key\" = 'readOnlyCompatible'")
    #expect(words == ["history"])
    let folder = try TestFolder()
    let plain = try DynamicShop(model(""), folder)
    #expect(
      try OtherProgram(plain.url).texts("SELECT \"value\" FROM \"_trellis\" WHERE \"key\" = 'readOnlyCompatible'") == [
        ""
      ])
  }

  @Test("A file that is only read shows its history") func readOnly() throws {
    let notebook = try Notebook()
    let label = try notebook.save { Label(in: $0, name: "red").objectID }
    let then = try notebook.container.historyToken()
    try notebook.save { context in try #require(try context.object(with: label)).name = "blue" }
    notebook.container.close()
    let reader = try PersistentContainer(model: .notebook, store: .sqlite(at: notebook.url, readOnly: true))
    #expect(try reader.history(since: then).count == 1)
    #expect(try reader.newContext(asOf: then).fetch(Label.all).map(\.name) == ["red"])
    expect(.readOnly) { _ = try reader.deleteHistory(before: then) }
  }

  @Test("A check of a store finds what is missing of its history") func check() throws {
    let notebook = try Notebook()
    #expect(try notebook.container.check().isEmpty)
    try notebook.other.run("DROP TRIGGER \"_history.Label.update\"")
    #expect(try notebook.container.check().map(\.message).contains { $0.contains("_history.Label.update") })
    notebook.container.close()
    let again = try Notebook(folder: notebook.folder)
    #expect(try again.container.check().isEmpty)
  }

  @Test("Files of external data stay as long as former values refer to them") func externalFiles() throws {
    let folder = try TestFolder()
    func open() throws -> PersistentContainer {
      try PersistentContainer(model: .album, store: .sqlite(at: folder.file("store.sqlite"), filesAbove: 100))
    }
    func files() throws -> Int {
      let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path("store.sqlite.external"))
      return names.count { !$0.hasPrefix(".") && $0.count > 30 }
    }
    var container = try open()
    let context = container.newContext()
    let picture = Picture(in: context, data: Data(repeating: 1, count: 1_000))
    try context.save()
    let then = try container.historyToken()
    picture.data = Data(repeating: 2, count: 1_000)
    try context.save()
    try context.delete(picture)
    try context.save()
    container.close()
    container = try open()
    #expect(try container.collectExternalFiles() == 0)
    #expect(try files() == 2)
    let past = try container.newContext(asOf: then)
    #expect(try past.fetch(Picture.all).map(\.data) == [Data(repeating: 1, count: 1_000)])
    _ = try container.deleteHistory(before: Date.distantFuture)
    container.close()
    container = try open()
    _ = try container.collectExternalFiles()
    #expect(try files() == 0)
  }

  @Test("A damaged record is an error that names its transaction") func damage() throws {
    let notebook = try Notebook()
    try notebook.save { _ = Label(in: $0, name: "red") }
    let start = try notebook.container.historyToken()
    try notebook.save { _ = Label(in: $0, name: "blue") }
    for damage in ["x'0100FF'", "x'00'", "x''", "x'010000FFFFFFFFFFFFFFFFFF7F'", "x'0100F8FFFF0301'", "x'01000005'"] {
      try notebook.other.run("UPDATE \"_history\" SET \"changes\" = \(damage) WHERE \"number\" = 2")
      expect(.damaged) { _ = try notebook.news(since: start) }
    }
    try notebook.other.run("UPDATE \"_history\" SET \"changes\" = x'0200' WHERE \"number\" = 2")
    expect(.newerFormat) { _ = try notebook.news(since: start) }
    try notebook.other.run("UPDATE \"_history\" SET \"model\" = 77 WHERE \"number\" = 2")
    expect(.damaged) { _ = try notebook.news(since: start) }
  }
}
