import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// The same change in both ways: for all at once, and for one object.
private struct BothWays: Sendable {
  let all: @Sendable (Item.Columns) -> [PropertyChange]
  /// Throws when there is no such value.
  let one: @Sendable (Item) throws -> Void

  struct TooLarge: Error {}

  static func random(_ random: inout SeededGenerator, _ boxes: [ObjectID<Box>]) -> BothWays {
    let number = Int64(random.below(9)) - 3
    switch random.below(9) {
    case 0: return BothWays(all: { [$0.count.set(number)] }, one: { $0.count = number })
    case 1: return BothWays(all: { [$0.count.increase(by: number)] }, one: { $0.count += number })
    case 2:
      let text = [nil, "ab", "abcdefg", "A"][random.below(4)]
      return BothWays(all: { [$0.label.set(text)] }, one: { $0.label = text })
    case 3:
      let amount = Decimal(number * 100)
      return BothWays(
        all: { [$0.price.increase(by: amount), $0.seen.set(true)] },
        one: {
          $0.price = $0.price.map { $0 + amount }
          $0.seen = true
        })
    case 4:
      let factor = Int16(number * 200)
      return BothWays(
        all: { [$0.small.multiply(by: factor)] },
        one: {
          guard let (result, isTooLarge) = $0.small.map({ $0.multipliedReportingOverflow(by: factor) }) else { return }
          if isTooLarge { throw TooLarge() }
          $0.small = result
        })
    case 5:
      return BothWays(all: { [$0.weight.multiply(by: 0.5)] }, one: { $0.weight = $0.weight.map { $0 * 0.5 } })
    case 6:
      return BothWays(
        all: { [$0.label.set($0.code), $0.name.set("n")] }, one: { ($0.label, $0.name) = ($0.code, "n") })
    case 7:
      let box = random.below(3) == 0 ? nil : boxes.randomElement(using: &random)
      return BothWays(
        all: { [box.map($0.box.set) ?? $0.box.set(nil)] },
        one: { item in item.box = try box.flatMap { try item.managedObjectContext?.object(with: $0) } })
    default: return BothWays(all: { [$0.status.set(.closed)] }, one: { $0.status = .closed })
    }
  }
}

@Suite("Random changes of many objects", .serialized) struct RandomBatchOperationTests {
  /// More by the environment variable TRELLIS_SETS; a seed by TRELLIS_SETS_SEED.
  private let rounds = TestSettings.number("TRELLIS_SETS", or: 30)
  private let seed = TestSettings.seed("TRELLIS_SETS_SEED")

  @Test("what is done to all at once is the same as done object by object", arguments: AnyStore.allCases)
  func agrees(_ store: AnyStore) throws {
    print("random set changes in \(store): seed \(seed), \(rounds) rounds")
    var (changed, refused) = (0, 0)
    for round in 0..<rounds {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      let (first, second) = (try World(store), try World(store))
      var copy = random
      try first.fill(&random, items: 14)
      try second.fill(&copy, items: 14)
      #expect(try first.picture() == second.picture(), "the worlds begin alike")
      let other = first.container.newContext()
      _ = try first.picture(in: other)
      for step in 0..<6 {
        let found = try change(&random, first, second, other, "seed \(seed), round \(round), step \(step)")
        if found < 0 { refused += 1 } else { changed += found }
      }
    }
    print("\(changed) objects were changed, \(refused) changes refused")
    #expect(changed > rounds && refused > rounds / 20)
  }

  /// - Returns: how many objects were changed; below zero when a rule forbade it.
  private func change(
    _ random: inout SeededGenerator, _ first: World, _ second: World, _ other: ManagedObjectContext, _ place: Comment
  ) throws -> Int {
    var conditions = RandomConditions(random: random)
    let request = conditions.request()
    random = conditions.random
    let boxes = try first.context.ids(of: Box.all)
    let (atOnce, oneByOne): (() throws -> Int, () throws -> Int)
    if random.below(3) > 0 {
      let change = BothWays.random(&random, boxes)
      atOnce = { try first.context.updateAll(request) { change.all($0) } }
      oneByOne = {
        let items = try second.context.fetch(request)
        for item in items { try change.one(item) }
        try second.context.save()
        return items.count
      }
    } else if random.below(3) == 0 {
      let text = ["", "a", "b", "ab", "É"][random.below(5)]
      atOnce = { try first.context.deleteAll(Crate.where { $0.name == text }) }
      oneByOne = { try Self.deleteEach(Crate.where { $0.name == text }, second.context) }
    } else if random.below(2) > 0 {
      atOnce = { try first.context.deleteAll(request) }
      oneByOne = { try Self.deleteEach(request, second.context) }
    } else {
      let size = Int64(random.below(10))
      atOnce = { try first.context.deleteAll(Box.where { $0.size == size }) }
      oneByOne = { try Self.deleteEach(Box.where { $0.size == size }, second.context) }
    }
    let (found, expected) = (outcome(atOnce), outcome(oneByOne))
    #expect(found == expected, place)
    second.context.rollback()
    let (left, right) = (try first.picture(), try second.picture())
    try #require(left == right, place)
    // What was in memory all the time, lists included, shows the same as what is read anew.
    let known = try first.picture(in: first.context)
    try #require(known == left, place)
    other.mergeChanges()
    let merged = try first.picture(in: other)
    try #require(merged == left, place)
    return found
  }

  private static func deleteEach<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ context: ManagedObjectContext
  ) throws -> Int {
    let objects = try context.fetch(request)
    for object in objects { try context.delete(object) }
    try context.save()
    return objects.count
  }

  /// The number of objects; below zero when a rule forbids it.
  private func outcome(_ body: () throws -> Int) -> Int {
    do {
      return try body()
    } catch is ValidationError {
      return -1
    } catch is BothWays.TooLarge {
      return -1
    } catch {
      Issue.record(error)
      return -2
    }
  }
}
