import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

// The samples of Docs/Derived.md, as they stand there.

@Suite("The guide to derived attributes") struct DerivedGuideTests {
  private let guide = GuideText("Derived.md")

  private func objectModel(_ text: String) throws -> ObjectModel {
    let result = ModelFile.parse(Array(text.utf8), path: "M.model.json")
    return ObjectModel(dynamic: try #require(result.description, "\(result.rendered())"))
  }

  private func pageModels() throws -> [String] { try guide.blocks("json").filter { $0.hasPrefix("{\n  \"model\"") } }

  // MARK: Values

  @Test("a value counts unsaved changes, and is none itself", arguments: StoreKind.allCases)
  func values(kind: StoreKind) throws {
    let shelf = try TestContainer(.till, kind)
    let context = shelf.container.newContext()
    let lunch = Receipt(in: context, price: Money(amount: 30), title: "Lunch", codes: [])
    let soup = Line(in: context, cost: Money(amount: 9), count: 2, receipt: lunch)
    let fish = Line(in: context, cost: Money(amount: 12), receipt: lunch)
    let before = lunch.lineTotal  // 30
    soup.count = 3
    let after = lunch.lineTotal  // 39
    #expect(before == 30 && after == 39)
    #expect(lunch.cents == 3_000 && lunch.heading == "LUNCH" && lunch.lineCount == 2 && lunch.level == "high")
    #expect(soup.total == 27 && fish.total == 12 && fish.owner == "LUNCH")
    try context.save()

    soup.count = 4
    #expect(soup.changedProperties == ["count"])
    #expect(!lunch.hasChanges && lunch.lineTotal == 48)
    context.rollback()
    #expect(lunch.lineTotal == 39)
    fish.receipt = nil
    #expect(lunch.lineCount == 1 && lunch.lineTotal == 27 && fish.owner == nil)
    try context.delete(soup)
    #expect(lunch.lineCount == 0 && lunch.lineTotal == 0 && lunch.level == "low")
    context.rollback()

    let other = shelf.container.newContext()
    let same = try #require(try other.fetch(Receipt.all).first)
    #expect(same.lineTotal == 39 && same.level == "high")
    let line = try #require(same.lines.first { $0.count == 3 })
    line.count = 1
    try other.save()
    context.mergeChanges()
    #expect(lunch.lineTotal == 21)
    #expect(shelf.errors.messages == [])
  }

  // MARK: Requests

  @Test("requests ask, sort, group and lead through relationships, saved or not", arguments: StoreKind.allCases)
  func requests(kind: StoreKind) throws {
    let shelf = try TestContainer(.till, kind)
    let context = shelf.container.newContext()
    let lunch = Receipt(in: context, price: Money(amount: 30), title: "Lunch", codes: [])
    let soup = Line(in: context, cost: Money(amount: 9), count: 3, receipt: lunch)
    let fish = Line(in: context, cost: Money(amount: 12), receipt: lunch)
    let supper = Receipt(in: context, price: Money(amount: 50), title: "Supper", codes: [])
    let roast = Line(in: context, cost: Money(amount: 25), receipt: supper)
    let tea = Receipt(in: context, price: Money(amount: 3), title: "Tea", codes: [])
    let stray = Line(in: context, cost: Money(amount: 1))
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let large = Receipt.where { $0.lineTotal > 30 }
      let high = Receipt.where { $0.lineCount >= 2 && $0.level == "high" }
      let text = Receipt.where("lineTotal > 30 AND heading BEGINSWITH 'L'")
      let largest = try context.fetch(Receipt.all.sorted { $0.lineTotal.descending }.limit(10))
      let totals = try context.values(of: Receipt.all.sorted { $0.title }) { ($0.heading, $0.lineTotal) }
      let levels = try context.grouped(Receipt.all, by: { $0.level }) { ($0.count, $0.cents.sum) }
      let live = try context.live(Receipt.all.sorted { $0.title }, sectionedBy: { $0.level })
      for request in [large, high, text] { #expect(try context.fetch(request) == [lunch]) }
      #expect(largest == [lunch, supper, tea])
      #expect(try context.fetch(Receipt.all.sorted(by: "-lineTotal")) == largest)
      #expect(totals.map(\.0) == ["LUNCH", "SUPPER", "TEA"])
      #expect(totals.map(\.1) == [39, 25, 0])
      #expect(levels.map(\.key) == ["high", "low"])
      #expect(levels.map(\.value.0) == [2, 1])
      #expect(levels.map(\.value.1) == [8_000, 300])
      // Live results follow the store.
      #expect(live.sections.map(\.value) == (isSaved ? ["high", "low"] : []))

      let parts = Line.where { $0.receipt.level == "high" && $0.total < 20 }
      let some = Receipt.where { $0.lines.any { $0.total > 20 } }
      let every = Receipt.where("lines.@count > 0 AND ALL lines.total > 20")
      let own = Line.where { $0.owner == "LUNCH" }
      #expect(try context.fetch(parts) == [fish])
      #expect(try context.fetch(some) == [lunch, supper])
      #expect(try context.fetch(every) == [supper])
      #expect(try context.fetch(own) == [soup, fish])

      #expect(try context.fetch(Line.where { $0.owner == nil }) == [stray])
      #expect(try context.fetch(Line.where("receipt.lineCount == 0 AND receipt.level == 'low'")) == [stray])
      #expect(try context.fetch(Line.where { $0.receipt.lineCount == 0 && $0.receipt.level == "low" }) == [stray])
      #expect(try context.fetch(Line.all.sorted { $0.total.descending }) == [soup, roast, fish, stray])
    }
  }

  // MARK: Models

  @Test("names and levels follow from each other, and are not set")
  func people() throws {
    let model = try objectModel(#require(pageModels().last))
    let context = try TestContainer(model).container.newContext()
    try context.insert("Person", ["firstName": .text("Ada"), "lastName": .text("Lovelace"), "age": .integer(36)])
    try context.insert(
      "Person",
      ["firstName": .text("Kim"), "lastName": .text("Min"), "nickname": .text("Minnie"), "age": .integer(9)])
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let people = try context.objects("Person", sortedBy: ["fullName"])
      #expect(people.map { $0["fullName"] } == [.text("Ada Lovelace"), .text("Kim Min")])
      #expect(people.map { $0["shownName"] } == [.text("Ada Lovelace"), .text("Minnie")])
      #expect(people.map { $0["isAdult"] } == [.integer(1), .integer(0)])
      #expect(try context.count("Person", where: "isAdult == YES AND fullName BEGINSWITH 'Ada'") == 1)
      #expect(try context.count("Person", where: "shownName CONTAINS 'nn'") == 1)
    }
    let ada = try #require(try context.objects("Person", where: "isAdult == YES").first)
    #expect(throws: DynamicError.self) { try ada.set("fullName", .text("A")) }
    #expect(throws: DynamicError.self) { try context.insert("Person", ["fullName": .text("A")]) }
  }

  @Test("a derived attribute comes, changes and goes without a word, and becomes a stored one by a backfill")
  func changes() throws {
    let text = try #require(pageModels().last)
    let expression = #""derived": "firstName + ' ' + lastName""#
    let other = text.replacingOccurrences(of: expression, with: #""derived": "lastName + ', ' + firstName""#)
    let stored = text.replacingOccurrences(of: expression, with: #""backfill": "firstName + ' ' + lastName""#)
    let without = """
      { "model": "People", "entities": { "Person": { "attributes": {
          "firstName": "string", "lastName": "string", "nickname": "string?", "age": "int16" } } } }
      """
    let again = """
      { "model": "People", "entities": { "Person": { "removed": ["fullName"], "attributes": {
          "firstName": "string", "lastName": "string", "nickname": "string?", "age": "int16",
          "fullName": { "type": "string", "derived": "uppercase(lastName)" } } } } }
      """
    #expect(Set([text, other, stored]).count == 3)
    let folder = try TestFolder()
    let store = StoreConfiguration.sqlite(at: folder.file("people.sqlite"), durability: .relaxed)
    func open<Result>(_ text: String, _ body: (ManagedObjectContext) throws -> Result) throws -> Result {
      let container = try PersistentContainer(model: objectModel(text), store: store)
      defer { container.close() }
      return try body(container.newContext())
    }
    func name(_ context: ManagedObjectContext) throws -> StoredValue? {
      try context.objects("Person").first?["fullName"]
    }
    try open(without) { context in
      try context.insert("Person", ["firstName": .text("Ada"), "lastName": .text("Lovelace"), "age": .integer(36)])
      try context.save()
    }
    #expect(try open(text, name) == .text("Ada Lovelace"))
    #expect(try open(other, name) == .text("Lovelace, Ada"))
    try open(stored) { context in
      let ada = try #require(try context.objects("Person").first)
      #expect(ada["fullName"] == .text("Ada Lovelace"))
      try ada.set("firstName", .text("A."))
      #expect(ada["fullName"] == .text("Ada Lovelace") && ada["shownName"] == .text("Ada Lovelace"))
    }
    #expect(try open(again, name) == .text("LOVELACE"))
  }

  // MARK: The page

  @Test("every sample of the page is compiled here") func page() throws {
    #expect(try guide.samples(missingFrom: #filePath) == [])
  }

  @Test("the models of the page pass the check") func checks() throws {
    let models = try pageModels()
    #expect(models.count == 2)
    for model in models { #expect(ModelFile.parse(Array(model.utf8), path: "M.model.json").rendered() == "") }
  }

  @Test("the derived attributes of the page are those of the test's model") func expressions() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Till.model.json")
    func derived(_ text: [UInt8]) throws -> [String: String] {
      let description = try #require(ModelFile.parse(text, path: "M.model.json").description)
      let all = description.entities.flatMap { entity -> [(String, String)] in
        entity.attributes.compactMap { attribute -> (String, String)? in
          let name = "\(entity.name).\(attribute.name) \(attribute.typeSpelling) \(attribute.isOptional)"
          return attribute.derivation.map { (name, $0) }
        }
      }
      return Dictionary(uniqueKeysWithValues: all)
    }
    let shown = try derived(Array(try #require(pageModels().first).utf8))
    #expect(try shown == derived(Array(Data(contentsOf: file))))
    #expect(shown.count == 7)
  }
}
