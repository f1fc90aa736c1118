import Foundation
import Testing
public import Trellis
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

// The samples of Docs/Values.md, as they stand there; those of ISBN, TillID and Grams are in OwnTypes.swift.

public struct AppVersion: ScalarAttribute, OrderedAttributeValue {
  public let major: Int64
  public let minor: Int64
  public static let placeholder = AppVersion(stored: 0)

  public init(stored: Int64) {
    major = stored / 1_000
    minor = stored % 1_000
  }

  public var stored: Int64 { major * 1_000 + minor }
}

private enum Samples {
  static func receipt(_ id: TillID, in context: ManagedObjectContext) throws -> Receipt? {
    try context.first(Receipt.where { $0.id == id })
  }
}

@Suite("The guide to composites and own types") struct ValuesGuideTests {
  private let guide = GuideText("Values.md")

  // MARK: Composites

  @Test("money is changed, asked for, sorted and summed by its fields", arguments: StoreKind.inPlace)
  func money(kind: StoreKind) throws {
    let shelf = try TestContainer(.till, kind)
    let context = shelf.container.newContext()
    let lunch = Receipt(in: context, price: Money(amount: 12_000), title: "Lunch", codes: [])
    lunch.tip = Money(amount: 2, currency: .eur)
    try context.save()

    lunch.price.amount += 500
    let changed = lunch.changedProperties  // ["price.amount"]
    #expect(changed == ["price.amount"])

    lunch.discount = Money(amount: 1_000)
    lunch.discount?.currency = .eur
    let reduction = lunch.discount?.amount ?? 0
    lunch.discount = nil
    #expect(reduction == 1_000 && lunch.discount == nil)

    lunch.shop = Place(at: Position(latitude: 37.57, longitude: 126.98), opened: .now)
    lunch.shop?.at.latitude = 37.58
    lunch.shop?.second = Position(latitude: 35.18, longitude: 129.08)
    #expect(lunch.snapshot.shop?.at == Position(latitude: 37.58, longitude: 126.98))

    let tea = Receipt(in: context, price: Money(amount: 300), title: "Tea", discount: Money(amount: 600), codes: [])
    let supper = Receipt(in: context, price: Money(amount: 40_000, currency: .eur), title: "Supper", codes: [])
    #expect(supper.tip == Money(amount: 1))
    let dear = Receipt.where { $0.price.amount >= 10_000 && $0.price.currency == .krw }
    let exact = Receipt.where { $0.price == Money(amount: 12_500) }
    let reduced = Receipt.where { $0.discount != nil }
    let much = Receipt.where { $0.discount.amount > 500 }
    let north = Receipt.where { $0.shop.at.latitude > 37 }
    let text = Receipt.where("discount == nil AND price.amount < 20000")
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      for request in [dear, exact, north, text] { #expect(try context.fetch(request) == [lunch]) }
      for request in [reduced, much] { #expect(try context.fetch(request) == [tea]) }
    }

    let cheapest = try context.fetch(Receipt.all.sorted { $0.price.amount }.limit(10))
    let sums = try context.grouped(Receipt.all, by: { $0.price.currency }) { $0.price.amount.sum }
    let discounts = try context.values(of: Receipt.all) { $0.discount.amount }
    try context.updateAll(Receipt.all) { $0.tip.amount.set(0) }
    #expect(cheapest == [tea, lunch, supper])
    #expect(Dictionary(uniqueKeysWithValues: sums.map { ($0.key, $0.value) }) == [.krw: 12_800, .eur: 40_000])
    #expect(discounts.count == 3 && discounts.compactMap(\.self) == [600])
    #expect(try context.values(of: Receipt.all) { $0.tip.amount } == [0, 0, 0])
    #expect(throws: (any Error).self) { try context.updateAll(Receipt.all) { $0.discount.amount.set(0) } }
  }

  @Test("two contexts that change different fields keep both, and have a conflict if the composite may be nil")
  func writers() throws {
    let shelf = try TestContainer(.till)
    let (here, there) = (shelf.container.newContext(), shelf.container.newContext())
    let one = Receipt(in: here, price: Money(amount: 1), title: "a", discount: Money(amount: 3), codes: [])
    try here.save()
    let same = try #require(try there.fetch(Receipt.all).first)
    one.price.amount = 5
    try here.save()
    same.price.currency = .eur
    try there.save()
    #expect(same.price == Money(amount: 5, currency: .eur))
    one.discount?.amount = 4
    try here.save()
    same.discount?.currency = .eur
    #expect(throws: SaveConflict.self) { try there.save() }
  }

  @Test("the rules of a composite hold for each attribute that has it")
  func rules() throws {
    let context = try TestContainer(.till).container.newContext()
    let receipt = Receipt(in: context, price: Money(amount: -2), title: "a", discount: Money(amount: -1), codes: [])
    let error = #expect(throws: ValidationError.self) { try context.save() }
    let told = try #require(try guide.blocks("text").first)
    #expect(error?.failures.map { "\($0.property) \($0.message)" }.joined(separator: "\n") == told)
    #expect(receipt.isInserted)
  }

  @Test("a composite is an object in JSON")
  func json() throws {
    let shelf = try TestContainer(.till)
    let context = shelf.container.newContext()
    let document = try #require(try guide.blocks("json").first { $0.hasPrefix("[") })
    let data = Data(document.utf8)
    try context.importJSON(Bill.self, from: data)
    let bill = try context.first(Bill.where { $0.number == 1 })
    #expect(bill?.total == Money(amount: 12.5, currency: .eur))
    #expect(bill?.reducedBy == Money(amount: 1, currency: .krw))

    try context.importJSON(Bill.self, from: Data(#"{ "number": 1, "reduced_by": { "amount": 5 } }"#.utf8))
    #expect(try context.values(of: Bill.all) { $0.reducedBy.amount } == [5])
    try context.importJSON(Bill.self, from: Data(#"{ "number": 1, "reduced_by": null }"#.utf8))
    #expect(try context.count(Bill.where { $0.reducedBy == nil }) == 1)
    let report = try context.importJSON(
      Bill.self, from: Data(#"{ "number": 2, "total": { "amount": 1 }, "reduced_by": { "amount": 1 } }"#.utf8))
    #expect(report.rejected.count == 1 && report.inserted.count == 0)
  }

  // MARK: Migration

  @Test("attributes become the fields of composites, and fields become attributes")
  func migration() throws {
    let texts = try guide.blocks("json").suffix(3)
    let models = try texts.map { text in
      let result = ModelFile.parse(Array(text.utf8), path: "Shop.model.json")
      return ObjectModel(dynamic: try #require(result.description, "\(result.rendered())"))
    }
    let folder = try TestFolder()
    let store = StoreConfiguration.sqlite(at: folder.file("shop.sqlite"), durability: .relaxed)
    func open(_ model: ObjectModel, _ body: (ManagedObjectContext) throws -> Void) throws {
      let container = try PersistentContainer(model: model, store: store)
      defer { container.close() }
      try body(container.newContext())
    }
    try open(models[0]) { context in
      try context.insert("Sale", ["price": .text("12.5"), "currency": .text("EUR"), "off": .text("2")])
      try context.insert("Sale", ["price": .text("3"), "currency": .text("KRW")])
      try context.save()
    }
    try open(models[1]) { context in
      let sales = try context.objects("Sale")
      #expect(sales.map { $0["price.amount"] } == [.text("12.5"), .text("3")])
      #expect(sales.map { $0["price.currency"] } == [.text("EUR"), .text("KRW")])
      #expect(sales.map { $0["discount"] } == [.integer(1), .null])
      #expect(sales.map { $0["discount.amount"] } == [.text("2"), .null])
      #expect(sales.map { $0["discount.currency"] } == [.text("KRW"), .null])
    }
    try open(models[2]) { context in
      let sales = try context.objects("Sale")
      #expect(sales.map { $0["price"] } == [.text("12.5"), .text("3")])
      #expect(sales.map { $0["currency"] } == [.text("EUR"), .text("KRW")])
    }
  }

  // MARK: Own types

  @Test("own types are asked for as themselves, and by what is stored", arguments: StoreKind.inPlace)
  func ownTypes(kind: StoreKind) throws {
    let shelf = try TestContainer(.till, kind)
    let context = shelf.container.newContext()
    let isbn = ISBN(rawValue: "9783161484100")
    let novel = Receipt(
      in: context, price: Money(), title: "Novel", isbn: isbn, codes: [], weight: Grams(stored: 600))
    let pen = Receipt(in: context, price: Money(), title: "Pen", codes: [], weight: Grams(stored: 8))
    try context.save()

    let book = Receipt.where { $0.isbn == ISBN(rawValue: "9783161484100") }
    let books = Receipt.where { $0.isbn.stored.hasPrefix("978") }
    let heavy = Receipt.where { $0.weight > Grams(stored: 500) }
    let early = Receipt.where { $0.day.stored < Date.now }
    let prefixed = Receipt.where("isbn BEGINSWITH '978'")
    let isbns = try context.values(of: Receipt.all, distinct: true) { $0.isbn }
    for request in [book, books, heavy, prefixed] { #expect(try context.fetch(request) == [novel]) }
    #expect(try context.fetch(early) == [novel, pen])
    #expect(Set(isbns) == [isbn, nil])
    #expect(try context.aggregate(Receipt.all) { $0.weight.stored.sum } == 608)
    #expect(try Samples.receipt(novel.id, in: context) === novel)
  }

  @Test("a text that is no ISBN makes none, and a version is one number")
  func values() throws {
    #expect(ISBN(rawValue: "12") == nil)
    let version = AppVersion(stored: 2_003)
    #expect(version.major == 2 && version.minor == 3 && version.stored == 2_003)
    #expect(try String(decoding: JSONEncoder().encode([version]), as: UTF8.self) == "[2003]")
    #expect(try JSONDecoder().decode([AppVersion].self, from: Data("[2003]".utf8)) == [version])
  }

  @Test("a value that the type refuses is reported, stays, and can be corrected")
  func refused() throws {
    let folder = try TestFolder()
    let file = folder.file("till.json")
    do {
      let container = try PersistentContainer(model: .till, store: .json(at: file))
      let context = container.newContext()
      _ = Receipt(in: context, price: Money(), title: "a", isbn: ISBN(rawValue: "9783161484100"), codes: [])
      try context.save()
      container.close()
    }
    let stored = try String(contentsOf: file, encoding: .utf8)
    try stored.replacingOccurrences(of: "9783161484100", with: "refused").write(
      to: file, atomically: true, encoding: .utf8)

    let container = try PersistentContainer(model: .till, store: .json(at: file))
    defer { container.close() }
    let context = container.newContext()
    do {
      for receipt in try context.fetch(Receipt.all) { print(receipt.title) }
    } catch let error as StoreError where error.code == .unreadableValue {
      print(error.message, error.remedy)
    }
    let other = container.newContext()
    #expect(throws: StoreError.self) { try other.fetch(Receipt.all) }
    #expect(try context.count(Receipt.all) == 1)
    #expect(try context.values(of: Receipt.all) { $0.title } == ["a"])

    try context.updateAll(Receipt.where("isbn == 'refused'")) { $0.isbn.set(nil) }
    let receipts = try container.newContext().snapshots(of: Receipt.all)
    #expect(receipts.map(\.isbn) == [nil])
  }

  // MARK: The page

  @Test("every sample of the page is compiled here") func page() throws {
    let types = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "OwnTypes.swift").path
    #expect(try guide.samples(missingFrom: #filePath, types) == [])
  }

  @Test("the models of the page pass the check") func models() throws {
    let models = try guide.blocks("json").filter { $0.hasPrefix("{\n  \"model\"") }
    #expect(models.count == 4)
    for model in models { #expect(ModelFile.parse(Array(model.utf8), path: "M.model.json").rendered() == "") }
  }
}
