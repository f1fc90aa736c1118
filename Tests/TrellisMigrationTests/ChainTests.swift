import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// A store that has missed models in between comes to the same as one that was migrated to each of them.
@Suite("Migrations over several models") struct ChainTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_EPISODES", or: 12)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)

  @Test("a jump brings the same as the models one after the other", arguments: MigratedKind.present)
  func jumps(_ kind: MigratedKind) throws {
    var (valid, failed) = (0, 0)
    for seed in Self.first..<(Self.first + UInt64(Self.episodes)) {
      guard let chain = Chain(seed: seed) else { continue }
      valid += 1
      var faults: [String]
      do { faults = try chain.run(kind) } catch { faults = ["\(error)"] }
      if faults.isEmpty { continue }
      failed += 1
      let told = failed == 1 ? "\n\(chain.told)" : ""
      Issue.record("\(kind), seed \(seed) \(chain.edits):\n  \(faults.prefix(6).joined(separator: "\n  "))\(told)")
    }
    print("\(kind): \(valid) chains of \(Self.episodes), \(failed) failures")
    #expect(failed == 0)
    #expect(valid * 3 > Self.episodes)
  }
}

/// Three to five models in a row, and what a store of the first one has.
struct Chain {
  let series: RandomSeries
  let graph: PlainGraph

  var edits: [[String]] { series.pairs.map(\.edits) }

  /// Given models, with the answers that they have.
  init(_ models: [PlainModel], seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    series = RandomSeries(models)
    graph = PlainGraph(series.first, unique: [], targets: [:], &random)
  }

  init?(seed: UInt64) {
    var random = SeededGenerator(seed: seed &* 31)
    guard var series = RandomSeries(seed: seed) else { return nil }
    let count = 2 + random.below(3)
    for _ in 0..<count {
      guard series.append({ $0.edit(1 + $0.maker.random.below(4), isChain: true) }) else { break }
    }
    if series.pairs.count < 2 { return nil }
    self.series = series
    let unique = Set(series.models.flatMap(\.entities).flatMap(\.uniqueKeys).flatMap(\.self))
    graph = PlainGraph(series.first, unique: unique, targets: [:], &random)
  }

  func run(_ kind: MigratedKind) throws -> [String] {
    var faults: [String] = []
    let slow = try kind.store(graph)
    var (graph, stepwise) = (graph, StoreContents(slow.stored))
    for (number, pair) in series.pairs.enumerated() {
      let model = try Model(pair.current.description)
      stepwise = try slow.contents(try slow.open(model), model)
      faults += Expectation(graph, pair.current).differences(stepwise).map { "step \(number): \($0)" }
      graph = PlainGraph(stepwise, pair.current)
    }
    let quick = try kind.store(self.graph)
    let current = try Model(series.last.description)
    let expectation = Expectation(self.graph, series.model(series.pairs.count, from: 0))
    let jumped = try quick.contents(try quick.open(current), current)
    let memory = try quick.inMemory(current).migrated(Layout(current), of: "memory")
    faults += expectation.differences(jumped).map { "jump: \($0)" }
    faults += expectation.differences(StoreContents(memory, current)).map { "memory: \($0)" }
    let ambiguous = series.ambiguousLinks(of: series.pairs.count, from: 0)
    return faults + expectation.differences(stepwise, except: ambiguous).map { "stepwise: \($0)" }
  }

  var told: String {
    series.models.map { $0.description.canonicalJSON() }.joined(separator: "→ ")
  }
}
