import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// A store that has missed models in between comes to the same as one that was migrated to each of them.
@Suite("Migrations over several models") struct ChainTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_EPISODES", or: 40)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)

  @Test("a jump brings the same as the models one after the other")
  func jumps() throws {
    var (valid, failed) = (0, 0)
    for seed in Self.first..<(Self.first + UInt64(Self.episodes)) {
      guard let chain = Chain(seed: seed) else { continue }
      valid += 1
      var faults: [String]
      do { faults = try chain.run() } catch { faults = ["\(error)"] }
      if faults.isEmpty { continue }
      failed += 1
      let told = failed == 1 ? "\n\(chain.told)" : ""
      Issue.record("seed \(seed) \(chain.edits):\n  \(faults.prefix(6).joined(separator: "\n  "))\(told)")
    }
    print("\(valid) chains of \(Self.episodes), \(failed) failures")
    #expect(failed == 0)
    #expect(valid * 3 > Self.episodes)
  }
}

/// Three to five models in a row, the last of which tells all former names.
private struct Chain {
  let models: [PlainModel]
  let edits: [[String]]
  let graph: PlainGraph
  /// The last model, as if it had been made from the first at once.
  let last: PlainModel

  init?(seed: UInt64) {
    var random = SeededGenerator(seed: seed &* 31)
    let pairs = RandomModelPair.chain(seed: seed, length: 2 + random.below(3))
    guard pairs.count >= 2, let first = pairs.first, let end = pairs.last else { return nil }
    models = [first.stored] + pairs.map(\.current)
    edits = pairs.map(\.edits)
    last = Self.seen(end.current, through: pairs)
    let unique = Set(models.flatMap(\.entities).flatMap(\.uniqueKeys).flatMap(\.self))
    graph = PlainGraph(first.stored, unique: unique, targets: [:], &random)
  }

  /// The model with the origins of its properties in the first one.
  private static func seen(_ model: PlainModel, through pairs: [RandomModelPair]) -> PlainModel {
    var model = model
    for property in model.entities.flatMap(\.properties) {
      var origins = [property.id]
      for pair in pairs.reversed() { origins = origins.flatMap { pair.current.property($0)?.origins ?? [] } }
      model.change(property.id) { $0.origins = origins }
    }
    return model
  }

  func run() throws -> [String] {
    let resolved = try models.map { try Model($0.description) }
    guard let current = resolved.last else { return [] }
    let expectation = Expectation(graph, last)
    let (slow, quick) = (try MigratedStore(graph), try MigratedStore(graph))
    for model in resolved.dropFirst().dropLast() { _ = try slow.open(model) }
    let stepwise = try slow.contents(try slow.open(current), current)
    let jumped = try quick.contents(try quick.open(current), current)
    let memory = quick.inMemory(current)
    let inMemory = StoreContents(try memory.migrated(Layout(current), of: "memory"), current)
    return expectation.differences(jumped).map { "jump: \($0)" }
      + expectation.differences(stepwise).map { "stepwise: \($0)" }
      + expectation.differences(inMemory).map { "memory: \($0)" }
  }

  var told: String {
    models.map { $0.description.canonicalJSON() }.joined(separator: "→ ")
  }
}
