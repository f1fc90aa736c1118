import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Random groups of extreme values", .serialized) struct RandomGroupTests {
  /// More by the environment variable TRELLIS_GROUPS; a seed by TRELLIS_GROUPS_SEED.
  private let rounds = TestSettings.number("TRELLIS_GROUPS", or: 15)
  private let seed = TestSettings.seed("TRELLIS_GROUPS_SEED")

  @Test(
    "conditions, orders, limits and exact sums of groups are those of schoolbook arithmetic, unsaved changes included",
    arguments: AnyStore.allCases)
  func agrees(_ store: AnyStore) throws {
    print("random groups in \(store): seed \(seed), \(rounds) rounds")
    for round in 0..<rounds {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      let world = try World(store)
      try world.fill(&random, items: 24)
      for item in try world.context.fetch(Item.all) { Extremes.set(item, &random) }
      try world.context.save()
      var conditions = RandomConditions(random: random)
      for step in 0..<8 {
        let request = step == 0 ? Item.all : conditions.request()
        let place: Comment = "seed \(seed), round \(round), step \(step)"
        let terms = RandomTerms(&conditions.random)
        try compare(request, terms, world.container.newContext(), place)
        let edited = world.container.newContext()
        for item in try edited.fetch(Item.all) where conditions.random.below(3) == 0 {
          if conditions.random.below(5) == 0 { try edited.delete(item) } else { Extremes.set(item, &conditions.random) }
        }
        Extremes.set(Item(in: edited), &conditions.random)
        try compare(request, terms, edited, place)
      }
    }
  }

  private func compare(
    _ request: FetchRequest<Item.Columns>, _ terms: RandomTerms, _ context: ManagedObjectContext, _ place: Comment
  ) throws {
    let items = try context.fetch(request)
    var places: [GroupKey: Int] = [:]
    var groups: [NaiveGroup] = []
    for item in items {
      let key = GroupKey(item)
      if places.updateValue(places[key] ?? groups.count, forKey: key) == nil { groups.append(NaiveGroup(key)) }
      groups[places[key] ?? 0].add(item)
    }
    let all = NaiveGroup(GroupKey.none, items)
    groups = terms.chosen(groups)

    let found = try context.grouped(
      request, by: { ($0.name, $0.box.name.optional, $0.seen) }, limit: terms.limit, offset: terms.offset
    ) {
      ($0.weight.sum, $0.weight.average, $0.weight.count, $0.price.distinctCount, $0.day.maximum)
    } having: {
      terms.having($0)
    } sorted: {
      for term in terms.sorted($0) { term }
    }
    #expect(found.map { GroupKey($0.key.0, $0.key.1, $0.key.2) } == groups.map(\.key), place)
    #expect(found.map { same($0.value.0) } == groups.map { same($0.weightSum) }, place)
    #expect(found.map { $0.value.1.map(same) } == groups.map { $0.weightAverage.map(same) }, place)
    #expect(found.map(\.value.2) == groups.map(\.weights.count), place)
    #expect(found.map(\.value.3) == groups.map(\.prices.count), place)
    #expect(found.map(\.value.4) == groups.map(\.lastDay), place)
    try compareSums(request, terms, context, groups.map(\.countSum.integer), place) {
      let count: AttributePath<Int64> = $0.count
      return count.sum
    } as: {
      $0
    }
    try compareSums(request, terms, context, groups.map(\.priceSum), place) {
      $0.price.sum
    } as: {
      ExactInteger(decimal: "\($0)")
    }
    try compareTotals(request, all, context, place)
  }

  /// Sums of which nil is expected where one does not fit.
  private func compareSums<Sum, Expected: Equatable>(
    _ request: FetchRequest<Item.Columns>, _ terms: RandomTerms, _ context: ManagedObjectContext,
    _ expected: [Expected?], _ place: Comment, _ sum: (Item.Columns) -> Aggregate<Sum>,
    as convert: (Sum) -> Expected
  ) throws {
    do {
      let groups = try context.grouped(
        request, by: { ($0.name, $0.box.name.optional, $0.seen) }, limit: terms.limit, offset: terms.offset
      ) {
        sum($0)
      } having: {
        terms.having($0)
      } sorted: {
        for term in terms.sorted($0) { term }
      }
      #expect(groups.map { convert($0.value) } == expected, place)
    } catch let error as StoreError {
      #expect(error.code == .limit && expected.contains(nil), place)
    }
  }

  private func compareTotals(
    _ request: FetchRequest<Item.Columns>, _ all: NaiveGroup, _ context: ManagedObjectContext, _ place: Comment
  ) throws {
    let (rows, ratio, least) = try context.aggregate(request) { ($0.count, $0.ratio.sum, $0.weight.minimum) }
    #expect(rows == all.rows && same(ratio) == same(all.ratioSum.real), place)
    #expect(least.map(same) == all.weights.min().map(same), place)
    if let sum = all.countSum.integer {
      let found = try context.aggregate(request) {
        let count: AttributePath<Int64> = $0.count
        return count.sum
      }
      #expect(found == sum, place)
    }
  }
}

/// A real without the sign of zero, which a store may lose.
private func same(_ real: Double) -> String { real == 0 ? "0" : real.isNaN ? "none" : "\(real)" }

/// Values at the borders of their types, among them many that cancel each other.
private enum Extremes {
  private static let counts: [Int64] = [.min, .max, .max - 1, .min + 1, 0, 1, -1, 1 << 62, -(1 << 62)]
  private static let weights: [Double] = [
    1e308, -1e308, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e16, -1e16, 3, 0.1,
    1e-9, -0.0, 0x1p-53, 1, -1, 0x1p-1074,
  ]
  private static let prices = [
    "0", "0.1", "0.10", "999.99999999999999999999999999999999999", "0.00000000000000000000000000000000000001",
    "123.45678901234567890123456789", "1000", "0.3",
  ]
  private static let names = ["", "a", "\u{E9}", "e\u{301}", "커피", "커피", "z\u{0}y", "☕️"]

  static func set(_ item: Item, _ random: inout SeededGenerator) {
    item.count = random.below(3) == 0 ? Int64(random.below(100)) : counts[random.below(counts.count)]
    item.weight = random.below(4) == 0 ? nil : weights[random.below(weights.count)]
    item.ratio = random.below(4) == 0 ? nil : Float(random.below(1000)) * 1e30
    item.price = random.below(4) == 0 ? nil : Decimal(string: prices[random.below(prices.count)])
    item.name = names[random.below(names.count)]
    item.day = Date(timeIntervalSince1970: Double(random.below(4)) * 86_400)
    item.seen = random.below(2) == 0
  }
}

/// The key of a group: texts by their bytes, nil first.
private struct GroupKey: Hashable, Comparable {
  let name: [UInt8]
  let box: [UInt8]?
  let seen: Bool

  static let none = GroupKey("", nil, false)

  init(_ name: String, _ box: String?, _ seen: Bool) {
    self.name = Array(name.utf8)
    self.box = box.map { Array($0.utf8) }
    self.seen = seen
  }

  init(_ item: Item) { self.init(item.name, item.box?.name, item.seen) }

  static func < (left: GroupKey, right: GroupKey) -> Bool {
    if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
    if left.box != right.box {
      guard let a = left.box, let b = right.box else { return left.box == nil }
      return a.lexicographicallyPrecedes(b)
    }
    return !left.seen && right.seen
  }
}

/// A group in plain Swift.
private struct NaiveGroup {
  let key: GroupKey
  var rows = 0
  var weights: [Double] = []
  var prices: Set<String> = []
  var pricesAll = 0
  var lastCount = Int64.min
  private var exactPriceSum = ExactInteger.zero
  var priceSum: ExactInteger { exactPriceSum.decimal }
  var countSum = ExactInteger.zero
  var ratioSum = Ratio()
  var lastDay: Date?

  struct Ratio {
    var units = ExactInteger.zero
    var real: Double { units.real }
  }

  init(_ key: GroupKey, _ items: [Item] = []) {
    self.key = key
    for item in items { add(item) }
  }

  mutating func add(_ item: Item) {
    rows += 1
    if let weight = item.weight { weights.append(weight) }
    if let price = item.price {
      prices.insert("\(price)")
      pricesAll += 1
      exactPriceSum = exactPriceSum + ExactInteger(decimal: "\(price)")
    }
    lastCount = max(lastCount, item.count)
    countSum = countSum + ExactInteger(item.count)
    if let ratio = item.ratio { ratioSum.units = ratioSum.units + ExactInteger(units: Double(ratio)) }
    lastDay = max(lastDay ?? item.day, item.day)
  }

  var weightSum: Double { weights.map { ExactInteger(units: $0) }.reduce(.zero, +).real }
  var weightAverage: Double? { weights.isEmpty ? nil : weightSum / Double(weights.count) }
}

extension ExactInteger {
  /// A number beyond 64 bits as the nearest real, as which groups compare it.
  fileprivate var rounded: ExactInteger { integer == nil ? ExactInteger(nearest: self) : self }
}

/// A condition, an order and a window of groups by chance, for a request and in plain Swift.
private struct RandomTerms {
  let limit: Int?
  let offset: Int
  private let condition: Int
  private let number: Int
  private let order: Int

  init(_ random: inout SeededGenerator) {
    limit = random.below(3) == 0 ? random.below(6) : nil
    offset = random.below(4) == 0 ? random.below(3) : 0
    condition = random.below(8)
    number = random.below(4)
    order = random.below(6)
  }

  func having(_ item: Item.Columns) -> GroupCondition {
    let rows: Aggregate<Int> = item.count
    let count: AttributePath<Int64> = item.count
    switch condition {
    case 0: return rows > number
    case 1: return item.weight.sum >= 0
    case 2: return count.sum > Int64.max
    case 3: return item.weight.average == nil || item.weight.minimum < 1
    case 4: return !(count.sum <= Int64.min)
    case 5: return item.price.sum > 1000 && item.price.count == item.price.distinctCount
    case 6: return item.weight.average != nil
    default: return .always
    }
  }

  func sorted(_ item: Item.Columns) -> [GroupSortTerm] {
    let count: AttributePath<Int64> = item.count
    switch order {
    case 0: return [item.weight.sum.descending]
    case 1: return [count.sum.ascending, item.weight.sum.ascending]
    case 2: return [item.price.sum.descending]
    case 3: return [item.day.maximum.descending, count.maximum.ascending]
    default: return []
    }
  }

  func chosen(_ groups: [NaiveGroup]) -> [NaiveGroup] {
    let sorted = groups.filter(holds).sorted { left, right in
      isBefore(left, right) ?? (left.key < right.key)
    }
    return Array(sorted.dropFirst(offset).prefix(limit ?? .max))
  }

  private func holds(_ group: NaiveGroup) -> Bool {
    switch condition {
    case 0: return group.rows > number
    case 1: return group.weightSum >= 0
    case 2: return group.countSum > ExactInteger(.max)
    case 3: return group.weights.isEmpty || (group.weights.min() ?? 1) < 1
    case 4: return !(group.countSum <= ExactInteger(.min))
    case 5:
      return group.priceSum > ExactInteger(decimal: "1000") && group.pricesAll == group.prices.count
    case 6: return !group.weights.isEmpty
    default: return true
    }
  }

  /// Nil if the order does not distinguish the groups.
  private func isBefore(_ left: NaiveGroup, _ right: NaiveGroup) -> Bool? {
    func order<Value: Comparable>(_ a: Value, _ b: Value) -> Bool? { a == b ? nil : a < b }
    switch self.order {
    case 0: return order(right.weightSum, left.weightSum)
    case 1: return order(left.countSum.rounded, right.countSum.rounded) ?? order(left.weightSum, right.weightSum)
    case 2: return order(right.priceSum, left.priceSum)
    case 3:
      return order(right.lastDay ?? .distantPast, left.lastDay ?? .distantPast)
        ?? order(left.lastCount, right.lastCount)
    default: return nil
    }
  }
}
