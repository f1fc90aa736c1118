import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Composite attributes in JSON") struct CompositeImportTests {
  private let container: TestContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try TestContainer(.till)
    context = container.container.newContext()
  }

  @discardableResult private func load(_ text: String) throws -> JSONImportReport {
    try context.importJSON(Bill.self, from: Data(text.utf8))
  }

  private func bill(_ number: Int64) throws -> Bill {
    try #require(try container.container.newContext().fetch(Bill.where { $0.number == number }).first)
  }

  @Test("a composite is an object, whose keys have the style of the entity") func nested() throws {
    try load(
      """
      [{ "number": 1, "total": { "amount": 12.5 }, "unit": "eur", "reduced_by": { "amount": 1, "currency": "krw" },
         "paid_at": { "street": null, "at": { "latitude": 1, "longitude": 2 }, "second": null, "opened": "2026-01-01T00:00:00Z" } },
       { "number": 2, "total": { "amount": 3 }, "unit": "krw", "reduced_by": null }]
      """)
    let one = try bill(1)
    #expect(one.total == Money(amount: 12.5, currency: .eur))
    #expect(one.reducedBy == Money(amount: 1, currency: .krw))
    #expect(one.paidAt?.at == Position(latitude: 1, longitude: 2) && one.paidAt?.second == nil)
    let two = try bill(2)
    #expect(two.reducedBy == nil && two.paidAt == nil)
  }

  @Test("an update sets the fields that are there, and null the whole to nil") func update() throws {
    try load(
      #"[{ "number": 1, "total": { "amount": 1 }, "unit": "eur", "reduced_by": { "amount": 1, "currency": "krw" } }]"#)
    try load(#"[{ "number": 1, "total": { "amount": 2 }, "reduced_by": { "amount": 5 } }]"#)
    #expect(try bill(1).total == Money(amount: 2, currency: .eur))
    #expect(try bill(1).reducedBy == Money(amount: 5, currency: .krw))
    try load(#"[{ "number": 1, "reduced_by": null }]"#)
    #expect(try bill(1).reducedBy == nil)
  }

  @Test("an object that lacks a field is reported, and nothing of it is stored") func incomplete() throws {
    let report = try load(#"[{ "number": 1, "total": { "amount": 1 }, "unit": "eur", "reduced_by": { "amount": 1 } }]"#)
    #expect(report.rejected.map(\.message) == ["must be set, because 'reducedBy' is set"])
    #expect(try container.container.newContext().count(Bill.all) == 0)
    let other = try load(#"[{ "number": 1, "total": { "amount": 1 }, "unit": "eur", "reduced_by": 3 }]"#)
    #expect(other.rejected.map(\.message).first?.contains("an object") == true, "\(other.rejected)")
  }

  @Test("what is exported is imported again as the same") func export() throws {
    let place = Place(
      street: "a", at: Position(latitude: 1, longitude: 2), second: Position(latitude: 3, longitude: 4),
      opened: Date(timeIntervalSince1970: 5))
    _ = Bill(
      in: context, number: 1, total: Money(amount: 2), reducedBy: Money(amount: 3, currency: .eur), paidAt: place)
    _ = Bill(in: context, number: 2, total: Money(amount: 4), isbn: ISBN(rawValue: "9783161484100"))
    try context.save()
    let data = try context.exportJSON(context.fetch(Bill.all.sorted { $0.number }))
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""reduced_by":null"#) || text.contains(#""reduced_by": null"#), "\(text)")
    let other = try TestContainer(.till)
    let copy = other.container.newContext()
    let report = try copy.importJSON(Bill.self, from: data)
    #expect(report.rejected.isEmpty, "\(report.rejected)")
    let one = try #require(try copy.fetch(Bill.where { $0.number == 1 }).first)
    #expect(one.total == Money(amount: 2) && one.reducedBy == Money(amount: 3, currency: .eur) && one.paidAt == place)
    let two = try #require(try copy.fetch(Bill.where { $0.number == 2 }).first)
    #expect(two.reducedBy == nil && two.paidAt == nil && two.isbn?.rawValue == "9783161484100")
  }

  /// A composite with a field elsewhere, one with defaults of its use, and lists whose elements a store spells otherwise.
  private static let places = ModelDescription(
    name: "Places",
    entities: [
      EntityDescription(
        "Place",
        attributes: [
          AttributeDescription("number", .int64), AttributeDescription("days", .array(.date), default: .list([])),
          AttributeDescription("sums", .array(.decimal), default: .list([])),
        ],
        uniqueKeys: [["number"]], json: EntityJSON(key: ["number"]),
        composites: [
          CompositeAttributeDescription(
            "price", "Price", optional: true,
            fields: [AttributeDescription("unit", .string, json: PropertyJSON("unit"))]),
          CompositeAttributeDescription(
            "cost", "Price",
            fields: [
              AttributeDescription("amount", .int64, default: .value(.integer(1))),
              AttributeDescription("unit", .string, default: .value(.text("u"))),
              AttributeDescription("note", .string, default: .value(.text("x"))),
            ]),
        ])
    ],
    composites: [
      CompositeDescription(
        "Price",
        attributes: [
          AttributeDescription("amount", .int64), AttributeDescription("unit", .string),
          AttributeDescription("note", .string, optional: true),
        ])
    ])

  @Test("null for a whole is null for its fields elsewhere, and a use has defaults for optional fields")
  func elsewhere()
    throws
  {
    let container = try TestContainer(ObjectModel(dynamic: Self.places))
    let context = container.container.newContext()
    func load(_ text: String) throws -> JSONImportReport { try context.importJSON(entity: 0, from: Data(text.utf8)) }
    #expect(try load(#"[{ "number": 1, "price": { "amount": 1 }, "unit": "kg" }]"#).rejected.isEmpty)
    let place = try #require(try container.container.newContext().objects("Place").first)
    #expect(place["price.unit"] == .text("kg") && place["cost.note"] == .text("x"))
    #expect(try load(#"[{ "number": 1, "price": null }]"#).rejected.isEmpty)
    let after = try #require(try container.container.newContext().objects("Place").first)
    #expect(after["price.unit"] == .null && after["price"] == .null)
    #expect(try load(#"[{ "number": 2, "price": null, "unit": "kg" }]"#).rejected.count == 1)
  }

  @Test("lists of dates and decimals are read and written as single ones are") func lists() throws {
    let container = try TestContainer(ObjectModel(dynamic: Self.places))
    let context = container.container.newContext()
    let text = #"[{ "number": 1, "days": ["2026-01-31", "2026-02-01T12:00:00Z"], "sums": ["1.50", 2] }]"#
    #expect(try context.importJSON(entity: 0, from: Data(text.utf8)).rejected.isEmpty)
    let place = try #require(try container.container.newContext().objects("Place").first)
    // Seconds since 2001, as Codable writes dates.
    #expect(place["days"] == .text("[791510400,791640000]"))
    #expect(place["sums"] == .text("[1.5,2]"))
    let wrong = try context.importJSON(entity: 0, from: Data(#"[{ "number": 2, "days": [5] }]"#.utf8))
    #expect(wrong.rejected.count == 1)
  }
}
