import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

@Suite("Histories and migrations") struct HistoryMigrationTests {
  private let first = """
    { "model": "Shop", "history": "values", "entities": {
      "Item": { "attributes": { "name": { "type": "string", "keepInHistory": true }, "size": "int64?" },
        "relationships": {
          "tags": { "destination": "Tag", "inverse": "items", "toMany": true, "ordered": true },
          "box": { "destination": "Box", "inverse": "items", "optional": true } } },
      "Tag": { "attributes": { "name": "string" }, "relationships": {
        "items": { "destination": "Item", "inverse": "tags", "toMany": true } } },
      "Box": { "attributes": { "name": "string" }, "relationships": {
        "items": { "destination": "Item", "inverse": "box", "toMany": true } } } } }
    """

  private let renamed = """
    { "model": "Shop", "version": "2", "history": "values", "entities": {
      "Tag": { "attributes": { "name": "string" }, "relationships": {
        "items": { "destination": "Thing", "inverse": "marks", "toMany": true } } },
      "Thing": { "renamedFrom": "Item",
        "attributes": {
          "color": { "type": "string", "default": "white" },
          "title": { "type": "string", "renamedFrom": "name", "keepInHistory": true }, "size": "int64?" },
        "relationships": {
          "box": { "destination": "Box", "inverse": "items", "optional": true },
          "marks": {
            "destination": "Tag", "inverse": "items", "toMany": true, "ordered": true, "renamedFrom": "tags" } } },
      "Box": { "attributes": { "name": "string" }, "relationships": {
        "items": { "destination": "Thing", "inverse": "box", "toMany": true } } } } }
    """

  @Test(
    "Records and former values of before a migration are read with the names of the present model",
    arguments: StoreKind.withHistory)
  func renaming(_ kind: StoreKind) throws {
    let folder = try TestFolder()
    let (start, then): (HistoryToken, HistoryToken)
    let keys: [Int64]
    do {
      let shop = try DynamicShop(first, folder, kind: kind)
      start = try shop.container.historyToken()
      let context = shop.container.newContext()
      let item = try context.insert("Item", ["name": .text("cup")])
      let other = try context.insert("Item", ["name": .text("jug")])
      let tag = try context.insert("Tag", ["name": .text("new")])
      let box = try context.insert("Box", ["name": .text("crate")])
      try item.add(tag, to: "tags")
      try item.set("box", box)
      try context.save()
      try shop.container.settle()
      keys = [item, other, tag, box].map(\.objectID.key)
      then = try shop.container.historyToken()
      try item.set("name", .text("mug"))
      try item.set("size", .integer(3))
      try item.remove(tag, from: "tags")
      try context.save()
      try context.delete(other)
      try context.save()
      shop.container.close()
    }
    let shop = try DynamicShop(renamed, folder, kind: kind)
    let news = try shop.container.history(since: start)
    #expect(news.map(\.isComplete) == [true, true, true, false])
    #expect(news[3].hasUnknownChanges)
    #expect(
      Set(news[0].lines) == [
        "inserted Thing#\(keys[0])", "inserted Thing#\(keys[1])", "inserted Tag#\(keys[2])", "inserted Box#\(keys[3])",
      ])
    #expect(Set(news[1].lines) == ["updated Thing#\(keys[0]) [marks size title]", "updated Tag#\(keys[2]) [items]"])
    #expect(news[2].lines == ["deleted Thing#\(keys[1]) {title: jug}"])
    let past = try shop.container.newContext(asOf: then)
    #expect(try shop.names(past, "Thing", "title") == ["cup", "jug"])
    #expect(try shop.names(past, "Thing", "color") == ["white", "white"])
    let cup = try #require(try past.object("Thing", keys[0]))
    #expect(try cup.members("marks").map { try $0.value("name") } == [.text("new")])
    #expect(try cup.partner("box")?.value("name") == .text("crate"))
    #expect(try shop.names(shop.container.newContext(), "Thing", "title") == ["mug"])
    #expect(try shop.container.check().isEmpty)
    try shop.rename2(keys[0])
    #expect(try shop.container.history(since: news[3].token).map(\.lines) == [["updated Thing#\(keys[0]) [title]"]])
  }

  @Test("Where a table is made anew, former values end and records stay", arguments: StoreKind.withHistory)
  func rebuilding(_ kind: StoreKind) throws {
    let folder = try TestFolder()
    let then: HistoryToken
    do {
      let shop = try DynamicShop(first, folder, kind: kind)
      try shop.insert(name: "cup")
      then = try shop.container.historyToken()
      try shop.insert(name: "jug")
      shop.container.close()
    }
    let required = first.replacingOccurrences(
      of: "\"size\": \"int64?\"", with: "\"size\": { \"type\": \"string?\" }")
    let shop = try DynamicShop(required, folder, kind: kind)
    #expect(try shop.container.history(since: then).map(\.isComplete) == [true, false])
    expect(.historyExpired) { _ = try shop.container.newContext(asOf: then) }
    let now = try shop.container.historyToken()
    try shop.insert(name: "pan")
    #expect(try shop.names(shop.container.newContext(asOf: now)) == ["cup", "jug"])
    #expect(try shop.container.check().isEmpty)
  }

  @Test("A history may begin and end with a migration", arguments: StoreKind.withHistory)
  func beginning(_ kind: StoreKind) throws {
    let folder = try TestFolder()
    let plain = first.replacingOccurrences(of: "\"history\": \"values\", ", with: "")
      .replacingOccurrences(of: ", \"keepInHistory\": true", with: "")
    do {
      let shop = try DynamicShop(plain, folder, kind: kind)
      try shop.insert(name: "cup")
      shop.container.close()
    }
    do {
      let shop = try DynamicShop(renamed, folder, kind: kind)
      let now = try shop.container.historyToken()
      let key = try #require(try shop.container.newContext().objects("Thing").first).objectID.key
      try shop.rename2(key)
      #expect(try shop.names(shop.container.newContext(asOf: now), "Thing", "title") == ["cup"])
      shop.container.close()
    }
    let third = renamed.replacingOccurrences(of: "\"history\": \"values\", ", with: "")
      .replacingOccurrences(of: ", \"keepInHistory\": true", with: "")
      .replacingOccurrences(of: "\"size\": \"int64?\"", with: "\"size\": \"int64?\", \"weight\": \"double?\"")
    let shop = try DynamicShop(third, folder, kind: kind)
    expect(.unsupported) { _ = try shop.container.historyToken() }
    if kind == .postgres {
      #expect(try shop.container.formerNames().isEmpty)
    } else {
      #expect(try OtherProgram(shop.url).texts("SELECT name FROM sqlite_schema WHERE name GLOB '*ast*'").isEmpty)
    }
    #expect(try shop.container.check().isEmpty)
  }
}

extension DynamicShop {
  fileprivate func rename2(_ key: Int64) throws {
    let context = container.newContext()
    try #require(try context.object("Thing", key)).set("title", .text("pot"))
    try context.save()
    try container.settle()
  }
}
