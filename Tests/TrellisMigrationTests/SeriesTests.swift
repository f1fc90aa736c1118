import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// Models of an app over years: from each of them to each later one, at once and one after the other.
@Suite("Series of many models") struct SeriesTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_SERIES", or: 1)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)
  /// The number of models. A server takes much longer for each of them.
  private static func length(_ kind: MigratedKind) -> Int { kind == .file && TestSettings.isLong ? 24 : 8 }

  @Test(
    "from every version to every later one, at once and step by step, with the same result",
    arguments: MigratedKind.present)
  func everyJump(_ kind: MigratedKind) throws {
    var (seed, count, jumps) = (Self.first, 0, 0)
    while count < Self.episodes {
      defer { seed += 1 }
      guard let series = Self.series(seed, Self.length(kind)) else { continue }
      count += 1
      var faults: [String] = []
      for start in 0..<series.pairs.count {
        do {
          faults += try Self.run(series, from: start, seed, kind)
        } catch {
          faults.append("from \(start): \(error)")
        }
        jumps += series.pairs.count - start
      }
      if !faults.isEmpty {
        Issue.record(
          "\(kind), seed \(seed) \(series.pairs.map(\.edits)):\n  \(faults.prefix(6).joined(separator: "\n  "))")
      }
    }
    print("\(kind): \(count) series of \(Self.length(kind)) models, the last of seed \(seed - 1): \(jumps) jumps")
  }

  /// The numbers of changes between two models are about those of real apps: most of them add, a fifth removes.
  private static let shares: [(edit: ModelEdits.Edit, share: Int)] = [
    (.addAttribute, 1_970), (.removeProperty, 1_181), (.addEntity, 637), (.addLink, 558), (.removeEntity, 246),
    (.changeRules, 108), (.renameProperty, 150), (.becomeOptional, 76), (.changeFlags, 52), (.addInverse, 29),
    (.addIndex, 29), (.removeIndex, 20), (.insertParent, 24), (.renameEntity, 20), (.becomeOrdered, 8),
    (.becomeMany, 8),
    (.reuseName, 9), (.takeName, 9), (.swapProperties, 5), (.swapEntities, 2), (.renameBothEnds, 5), (.addCase, 20),
    (.removeKey, 10),
    (.reorder, 20),
  ]

  static func series(_ seed: UInt64, _ length: Int) -> RandomSeries? {
    guard var series = RandomSeries(seed: seed) else { return nil }
    var attempts = 0
    while series.pairs.count < length - 1, attempts < 200 {
      attempts += 1
      _ = series.append { edits in edits.edit(1 + edits.maker.random.below(6), among: shares) }
    }
    return series.pairs.count == length - 1 ? series : nil
  }

  private static func run(
    _ series: RandomSeries, from start: Int, _ seed: UInt64, _ kind: MigratedKind
  ) throws -> [String] {
    var random = SeededGenerator(seed: seed &* 31 &+ UInt64(start))
    let models = series.models
    let unique = Set(models.flatMap(\.entities).flatMap(\.uniqueKeys).flatMap(\.self))
    let graph = PlainGraph(models[start], unique: unique, targets: [:], &random)
    let slow = try kind.store(graph)
    var faults: [String] = []
    for end in (start + 1)..<models.count {
      let current = try Model(models[end].description)
      let expectation = Expectation(graph, series.model(end, from: start))
      let stepwise = try slow.contents(try slow.open(current), current)
      let quick = try kind.store(graph)
      let store = try quick.open(current)
      let jumped = try quick.contents(store, current)
      let memory = StoreContents(try quick.inMemory(current).migrated(Layout(current), of: "memory"), current)
      var found = expectation.differences(jumped).map { "jump: \($0)" }
      found += expectation.differences(memory).map { "memory: \($0)" }
      found += try quick.faults(store, current, isMigrated: true)
      let ambiguous = series.ambiguousLinks(of: end, from: start)
      found += expectation.differences(stepwise, except: ambiguous).map { "stepwise: \($0)" }
      faults += found.map { "\(start) to \(end): \($0)" }
    }
    return faults
  }
}
