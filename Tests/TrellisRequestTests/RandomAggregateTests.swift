import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Random sums, groups and distinct values", .serialized) struct RandomAggregateTests {
  /// More by the environment variable TRELLIS_GROUPS; a seed by TRELLIS_GROUPS_SEED.
  private let rounds = TestSettings.number("TRELLIS_GROUPS", or: 15)
  private let seed = TestSettings.seed("TRELLIS_GROUPS_SEED")

  @Test(
    "every store answers as plain Swift does on the objects, unsaved changes included", arguments: AnyStore.allCases)
  func agrees(_ store: AnyStore) throws {
    print("random aggregates in \(store): seed \(seed), \(rounds) rounds")
    for round in 0..<rounds {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      let world = try World(store)
      try world.fill(&random, items: 30)
      // The same letter in two spellings is two texts.
      for item in try world.context.fetch(Item.where { $0.name == "b" }) {
        item.name = ["\u{E9}", "e\u{301}"][random.below(2)]
      }
      try world.context.save()
      var conditions = RandomConditions(random: random)
      for step in 0..<10 {
        let request = conditions.request()
        let place: Comment = "seed \(seed), round \(round), step \(step)"
        try compare(request, world.container.newContext(), place)
        let edited = world.container.newContext()
        for item in try edited.fetch(Item.all) where conditions.random.below(3) == 0 {
          item.price = item.price.map { $0 + 1 } ?? 5
          item.label = conditions.random.below(2) == 0 ? nil : "new"
        }
        try compare(request, edited, place)
      }
    }
  }

  private func compare(
    _ request: FetchRequest<Item.Columns>, _ context: ManagedObjectContext, _ place: Comment
  ) throws {
    let items = try context.fetch(request)
    let (count, priced, different, sum, average) = try context.aggregate(request) {
      ($0.count, $0.price.count, $0.price.distinctCount, $0.price.sum, $0.price.average)
    }
    let prices = items.compactMap(\.price)
    #expect(count == items.count && priced == prices.count && different == Set(prices).count, place)
    #expect(sum == prices.reduce(0, +), place)
    // Foundation's division does not round.
    let rest = average.map { $0 * Decimal(prices.count) - prices.reduce(0, +) } ?? 0
    #expect(
      (average == nil) == prices.isEmpty && abs(rest) < Decimal(sign: .plus, exponent: -30, significand: 1), place)
    let (least, most, small, label) = try context.aggregate(request) {
      ($0.price.minimum, $0.weight.maximum, $0.small.sum, $0.label.minimum)
    }
    #expect(least == prices.min() && most == items.compactMap(\.weight).max(), place)
    #expect(small == items.compactMap(\.small).reduce(0) { $0 + Int64($1) }, place)
    let firstLabel = items.compactMap(\.label).map { Array($0.utf8) }.min { $0.lexicographicallyPrecedes($1) }
    #expect(label.map { Array($0.utf8) } == firstLabel, place)
    try compareGroups(request, items, context, place)
    try compareDistinct(context, place)
  }

  private func compareGroups(
    _ request: FetchRequest<Item.Columns>, _ items: [Item], _ context: ManagedObjectContext, _ place: Comment
  ) throws {
    let groups = try context.grouped(request, by: { ($0.label, $0.box.name.optional, $0.name) }) {
      ($0.count, $0.price.sum)
    }
    let expected = Dictionary(grouping: items) { TextKey([$0.label, $0.box?.name, $0.name]) }
    let order = expected.keys.sorted()
    #expect(groups.map { TextKey([$0.key.0, $0.key.1, $0.key.2]) } == order, place)
    #expect(groups.map(\.value.0) == order.map { expected[$0]?.count }, place)
    #expect(groups.map(\.value.1) == order.map { expected[$0]?.compactMap(\.price).reduce(0, +) }, place)
    // Having.
    let often = groups.filter { $0.value.0 > 1 }
    #expect(often.count == expected.values.count { $0.count > 1 }, place)
    let byTwo = try context.grouped(request, by: { ($0.small, $0.price) }, { $0.count })
    #expect(byTwo.map(\.value).reduce(0, +) == items.count, place)
    #expect(
      byTwo.count == Set(items.map { "\(String(describing: $0.small)) \(String(describing: $0.price))" }).count, place)
    let byOne = try context.grouped(request, by: { $0.box }) { $0.count }
    #expect(byOne.map(\.key?.key) == Set(items.map { $0.box?.objectID.key }).sorted { $0 ?? 0 < $1 ?? 0 }, place)
    let byLeft = try context.grouped(request, by: { $0.left }) { $0.count }
    #expect(byLeft.map(\.key?.key) == Set(items.map { $0.left?.objectID.key }).sorted { $0 ?? 0 < $1 ?? 0 }, place)
  }

  private func compareDistinct(_ context: ManagedObjectContext, _ place: Comment) throws {
    let request = Item.all.sorted { $0.count.descending }
    var seen: Set<TextKey> = []
    let expected = try context.fetch(request).map { TextKey([$0.label, $0.status.rawValue]) }.filter {
      seen.insert($0).inserted
    }
    let found = try context.values(of: request, distinct: true) { ($0.label, $0.status) }
    #expect(found.map { TextKey([$0.0, $0.1.rawValue]) } == expected, place)
    let window = try context.values(of: request.offset(1).limit(2), distinct: true) { ($0.label, $0.status) }
    #expect(window.map { TextKey([$0.0, $0.1.rawValue]) } == Array(expected.dropFirst().prefix(2)), place)
  }
}

/// Texts by their bytes, nil first.
private struct TextKey: Hashable, Comparable {
  let parts: [[UInt8]?]

  init(_ texts: [String?]) { parts = texts.map { $0.map { Array($0.utf8) } } }

  static func < (left: TextKey, right: TextKey) -> Bool {
    for (a, b) in zip(left.parts, right.parts) where a != b {
      guard let a, let b else { return a == nil }
      return a.lexicographicallyPrecedes(b)
    }
    return false
  }
}
