import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("A history of composites") struct CompositeHistoryTests {
  private static let model = ModelDescription(
    name: "Past",
    entities: [
      EntityDescription(
        "Receipt", attributes: [AttributeDescription("title", .string)],
        composites: [
          CompositeAttributeDescription("price", "Money"),
          CompositeAttributeDescription("discount", "Money", optional: true),
        ])
    ], history: .values,
    composites: [
      CompositeDescription(
        "Money", attributes: [AttributeDescription("amount", .decimal), AttributeDescription("currency", .string)])
    ])

  @Test("former values are those of the fields, and the fields of a change are named") func past() throws {
    let container = try TestContainer(ObjectModel(dynamic: Self.model), .sqlite)
    let context = container.container.newContext()
    let one = try context.insert(
      "Receipt",
      [
        "title": .text("a"), "price.amount": .text("3"), "price.currency": .text("krw"), "discount.amount": .text("1"),
        "discount.currency": .text("eur"),
      ])
    try context.save()
    let first = try container.container.historyToken()
    try one.set("price.amount", .text("4"))
    try one.set("discount", .null)
    try context.save()
    let past = try container.container.newContext(asOf: first)
    let former = try #require(try past.objects("Receipt").first)
    #expect(former["price.amount"] == .text("3") && former["discount.currency"] == .text("eur"))
    #expect(try past.objects("Receipt", where: "discount != nil AND price.amount == 3").count == 1)
    #expect(try context.objects("Receipt", where: "discount == nil AND price.amount == 4").count == 1)
  }
}
