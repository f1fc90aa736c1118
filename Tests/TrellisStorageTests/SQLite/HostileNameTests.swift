import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Hostile names in a model are names in SQLite, or refused") struct HostileNameTests {
  /// How many models; more by the environment variable TRELLIS_HOSTILE_STRINGS.
  private static let count = TestSettings.number("TRELLIS_HOSTILE_STRINGS", or: 60)

  @Test("of entities, attributes and relationships") func names() throws {
    let seed = TestSettings.seed()
    var texts = HostileText(seed: seed)
    var kept = 0
    for _ in 0..<Self.count {
      let names = (0..<4).map { _ in texts.next() }
      do {
        try keep(names)
        kept += 1
      } catch is SchemaError {
      } catch let error as StoreError {
        #expect(error.code == .limit, "seed \(seed), \(names): \(error)")
      }
    }
    print("hostile names: seed \(seed), \(kept) of \(Self.count) models kept objects")
    #expect(kept > 0)
  }

  private func keep(_ names: [String]) throws {
    let (entity, other, attribute, relationship) = (names[0], names[1], names[2], names[3])
    let store = try TestStore(
      ModelDescription(
        name: "Hostile",
        entities: [
          EntityDescription(
            entity, attributes: [AttributeDescription(attribute, .string, searchable: true)],
            relationships: [RelationshipDescription(relationship, to: other, inverse: "back", optional: true)],
            uniqueKeys: [[attribute]], indexes: [IndexDescription([.init(attribute)])]),
          EntityDescription(
            other, attributes: [AttributeDescription("plain", .string)],
            relationships: [RelationshipDescription("back", to: entity, inverse: relationship, toMany: true)]),
        ]))
    try store.insert(other, [store.record(other, 1, ["plain": .text("p")])])
    let key: Int64 = 2
    try store.insert(
      entity, [store.record(entity, key, [attribute: .text(names[0]), relationship: .integer(1)])])
    let path = try Operand.path(store.path(entity, attribute))
    let condition = QueryPredicate.comparison(Comparison(path, .equal, .value(.text(names[0])), kind: .text))
    #expect(try store.keys(entity, condition) == [key])
    let through = try Operand.path(store.path(entity, relationship, "plain"))
    #expect(
      try store.keys(
        entity, .comparison(Comparison(through, .equal, .value(.text("p")), kind: .text)),
        sort: [SortKey(store.path(entity, attribute), kind: .text)]) == [key])
    #expect(try store.keys(other) == [1])
  }
}
