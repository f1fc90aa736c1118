import Foundation
import Testing
import Trellis
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTestSupport

/// Contexts that change composites at the same time, by chance.
///
/// `TRELLIS_COMPOSITES` is the number of runs, `TRELLIS_COMPOSITES_SEED` the first seed.
@Suite("Composites by chance") struct RandomCompositeTests {
  private static let runs: Int = TestSettings.number("TRELLIS_COMPOSITES", or: 10)
  private static let first: UInt64 = TestSettings.number("TRELLIS_COMPOSITES_SEED", or: 1)

  @Test(
    "whatever several contexts do, each composite is whole, in memory and in the store", arguments: StoreKind.inPlace)
  func writers(_ kind: StoreKind) throws {
    let runs = kind == .postgres ? max(1, Self.runs / 10) : Self.runs
    for seed in Self.first..<(Self.first + UInt64(runs)) {
      var run = try CompositeRun(seed, kind)
      do {
        try run.run(steps: 120)
      } catch {
        Issue.record("\(kind), seed \(seed), after \(run.log.suffix(12)): \(error)")
      }
    }
  }

  @Test("stores agree with memory on conditions, sorts and sums of fields")
  func requests() throws {
    let stores = try StoreKind.allCases.map { try TestContainer(.till, $0) }
    for seed in Self.first..<(Self.first + UInt64(Self.runs)) {
      for store in stores { try CompositeRun.fill(store, seed) }
      var random = SeededGenerator(seed: seed)
      for _ in 0..<20 {
        let request = CompositeRun.request(&random)
        let answers = try stores.map { store in try CompositeRun.answer(request, store.container.newContext()) }
        for (place, answer) in answers.enumerated() where answer != answers[0] {
          Issue.record(
            "seed \(seed), \(request.text): \(StoreKind.allCases[place]) has \(answer), memory \(answers[0])")
        }
        let spelled = try CompositeRun.answer(request.spelledOut, stores[1].container.newContext())
        if spelled != answers[1] { Issue.record("seed \(seed), \(request.text) is not \(request.spelledOut.text)") }
      }
    }
  }
}

private struct Fault: Error, CustomStringConvertible {
  let description: String
}

/// Three contexts on one store.
private struct CompositeRun {
  private let container: TestContainer
  private let contexts: [ManagedObjectContext]
  private var random: SeededGenerator
  private(set) var log: [String] = []

  init(_ seed: UInt64, _ kind: StoreKind) throws {
    random = SeededGenerator(seed: seed)
    let container = try TestContainer(.till, kind)
    self.container = container
    contexts = (0..<3).map { _ in container.container.newContext() }
    for number in 0..<4 {
      _ = Receipt(in: contexts[0], price: Money(amount: Decimal(number)), title: "\(number)", codes: [])
    }
    try contexts[0].save()
    contexts[0].undo.enable()
  }

  static func money(_ random: inout SeededGenerator) -> Money {
    Money(amount: Decimal(random.below(5)), currency: random.below(2) == 0 ? .krw : .eur)
  }

  static func place(_ random: inout SeededGenerator) -> Place {
    func position(_ random: inout SeededGenerator) -> Position {
      Position(latitude: Double(random.below(3)), longitude: Double(random.below(3)))
    }
    return Place(
      street: random.below(2) == 0 ? nil : "s\(random.below(2))", at: position(&random),
      second: random.below(2) == 0 ? nil : position(&random),
      opened: Date(timeIntervalSince1970: Double(random.below(3))))
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      let number = random.below(contexts.count)
      let context = contexts[number]
      let objects = try context.fetch(Receipt.all.sorted { $0.title })
      let object = objects[random.below(objects.count)]
      let action = random.below(12)
      log.append("\(number): \(action) on \(object.title)")
      switch action {
      case 0: object.discount = Self.money(&random)
      case 1: object.discount = nil
      case 2: object.discount?.amount += 1
      case 3: object.discount?.currency = .eur
      case 4: object.price.amount += 1
      case 5: object.shop = random.below(3) == 0 ? nil : Self.place(&random)
      case 6: object.shop?.second = random.below(2) == 0 ? nil : Position(latitude: 9, longitude: 9)
      case 7: object.shop?.at.latitude += 1
      case 8: context.rollback()
      case 9 where number == 0:
        if context.undo.canUndo { try context.undo.undo() } else if context.undo.canRedo { try context.undo.redo() }
      default: try save(context)
      }
      try check(object)
    }
    for context in contexts { try save(context) }
    var shown: [[String]] = []
    for context in contexts + [container.container.newContext()] {
      context.refreshAll()
      let objects = try context.fetch(Receipt.all.sorted { $0.title })
      for object in objects { try check(object) }
      shown.append(objects.map { "\($0.price) \(String(describing: $0.discount)) \(String(describing: $0.shop))" })
    }
    for other in shown where other != shown[0] { throw Fault(description: "contexts differ: \(shown)") }
    let findings = try container.container.check()
    if !findings.isEmpty { throw Fault(description: "the store has \(findings)") }
  }

  private mutating func save(_ context: ManagedObjectContext) throws {
    let policies: [MergePolicy] = [.objectTrump, .storeTrump, .overwrite, .rollback]
    try context.save(mergePolicy: policies[random.below(policies.count)])
  }

  /// Checks that no field has a value without the whole, nor lacks one with it.
  private func check(_ object: Receipt) throws {
    for group in Self.groups {
      if let failure = group.failure({ object._value($0) }) {
        throw Fault(description: "\(group.name): \(failure.message), \(object.snapshot)")
      }
    }
  }

  private static let groups =
    (try? Model(ObjectModel.till.description))?.entity(named: "Receipt")?.optionalGroups ?? []

  // MARK: Requests

  static func fill(_ store: TestContainer, _ seed: UInt64) throws {
    let context = store.container.newContext()
    try context.deleteAll(Receipt.all)
    var random = SeededGenerator(seed: seed)
    for number in 0..<12 {
      let discount = random.below(2) == 0 ? nil : money(&random)
      let shop = random.below(2) == 0 ? nil : place(&random)
      let receipt = Receipt(
        in: context, price: money(&random), title: "\(number)", discount: discount, shop: shop, codes: [])
      for _ in 0..<random.below(3) {
        _ = Line(in: context, cost: money(&random), count: Int64(random.below(4)), receipt: receipt)
      }
    }
    try context.save()
  }

  struct Request {
    let text: String
    let sort: String

    /// The same with the expressions of derived attributes in place of their names.
    var spelledOut: Request {
      Request(text: CompositeRun.derived.reduce(text) { $0.replacing($1.name, with: "(\($1.text))") }, sort: sort)
    }
  }

  /// Derived attributes of the model, those first that follow from others.
  private static let derived = [
    ("lineTotal", "lines.@sum.total"), ("lines.total", "lines.cost.amount * lines.count"),
    ("cents", "price.amount * 100"),
    ("lineCount", "lines.@count"), ("heading", "uppercase(title)"),
    ("level", "TERNARY(SUBQUERY(lines, $x, $x.cost.amount * $x.count > 10).@count > 0, 'high', 'low')"),
  ].map { (name: $0.0, text: $0.1) }.filter { $0.name != "lines.total" }

  static func request(_ random: inout SeededGenerator) -> Request {
    let fields = ["price.amount", "discount.amount", "tip.amount", "shop.at.latitude", "shop.second.longitude"]
    let texts = ["price.currency", "discount.currency", "shop.street"]
    let wholes = ["discount", "shop", "shop.second"]
    let signs = ["==", "!=", "<", ">="]
    func term(_ random: inout SeededGenerator) -> String {
      switch random.below(7) {
      case 4:
        "\(["cents", "lineCount", "lineTotal"][random.below(3)]) \(signs[random.below(4)]) \(random.below(9) * 50)"
      case 5:
        "level \(signs[random.below(2)]) '\(["high", "low"][random.below(2)])' OR heading == '\(random.below(12))'"
      case 6: "lineTotal + cents \(signs[random.below(4)]) \(random.below(9) * 50)"
      case 0: "\(wholes[random.below(3)]) \(signs[random.below(2)]) nil"
      case 1:
        "\(texts[random.below(3)]) \(signs[random.below(2)]) \(random.below(3) == 0 ? "nil" : "'\(["krw", "eur"][random.below(2)])'")"
      case 2: "\(fields[random.below(5)]) + \(random.below(3)) \(signs[random.below(4)]) \(random.below(5))"
      default: "\(fields[random.below(5)]) \(signs[random.below(4)]) \(random.below(4))"
      }
    }
    var text = term(&random)
    for _ in 0..<random.below(3) {
      text = "(\(text)) \(random.below(2) == 0 ? "AND" : "OR") \(random.below(4) == 0 ? "NOT " : "")(\(term(&random)))"
    }
    let sorts = fields + ["price.currency", "shop.street", "cents", "level", "lineTotal"]
    let sort = sorts[random.below(sorts.count)]
    return Request(text: text, sort: random.below(2) == 0 ? sort : "-" + sort)
  }

  static func answer(_ request: Request, _ context: ManagedObjectContext) throws -> [String] {
    let fetch = Receipt.where(PredicateFormat(stringLiteral: request.text)).sorted(by: request.sort, "title")
    let titles = try context.fetch(fetch).map(\.title)
    let sums = try context.grouped(fetch, by: { $0.discount.currency }) { $0.price.amount.sum }
    let levels = try context.grouped(fetch, by: { $0.level }) { ($0.count, $0.cents.sum) }
    return titles + sums.map { "\(String(describing: $0.key)) \(String(describing: $0.value))" }
      + levels.map { "\(String(describing: $0.key)) \(String(describing: $0.value))" }
  }
}
