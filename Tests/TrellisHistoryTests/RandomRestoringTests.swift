import Testing
import TrellisTestSupport
import TrellisTimeTravel

@_spi(Generated) @testable import Trellis
@_spi(Generated) @testable import TrellisRuntime

/// Restores objects of random graphs as of random moments, and compares with pictures that were taken then.
@Suite("Objects as they were") struct RandomRestoringTests {
  /// `TRELLIS_UNDO_STEPS` sets the number of saves, `TRELLIS_UNDO_SEED` the first seed.
  @Test("A restored object is as it was, but for what is listed as lost", arguments: StoreKind.withHistory)
  func restore(_ kind: StoreKind) throws {
    let seed = TestSettings.seed("TRELLIS_UNDO_SEED")
    var totals = (same: 0, lossy: 0, returned: 0, refused: 0)
    try forEachEpisode(kind, seed) { episode in
      let (moment, then) = episode.moments[episode.random.below(episode.moments.count)]
      let keys = then.objects.keys.sorted()
      guard !keys.isEmpty else { return }
      let key = keys[episode.random.below(keys.count)]
      let before = try episode.store.picture()
      let withParts = episode.random.below(2) == 0
      let context = episode.store.container.newContext()
      let entity = try #require(context.model.entity(named: then.objects[key]?["entity"]?.first ?? ""))
      let restoration = try episode.store.container.restore(
        AnyObjectID(key, entity: entity.index, in: context), asOf: moment, in: context, withParts: withParts)
      do { try context.save() } catch {
        // A rule of the present may forbid what was.
        totals.refused += 1
        #expect(try episode.store.picture() == before, "\(episode.seed)")
        return
      }
      try episode.store.container.settle()
      if restoration.losses.isEmpty { totals.same += 1 } else { totals.lossy += 1 }
      totals.returned += restoration.returned.count
      let now = try episode.store.picture()
      for object in restoration.objects {
        let lost = Set(restoration.losses.filter { $0.object.key == object._key }.map(\.property))
        for (name, value) in then.objects[object._key] ?? [:] where !lost.contains(name) {
          let found = now.objects[object._key]?[name]
          #expect(found == value, "seed \(episode.seed): \(key) as of \(moment), #\(object._key).\(name)")
        }
      }
      #expect(try episode.store.container.check().isEmpty, "seed \(episode.seed)")
    }
    print("restore: \(kind) \(totals)")
    #expect(totals.same > 0 && totals.lossy > 0 && totals.returned > 0)
  }

  @Test("The differences of two moments are those of the pictures taken then", arguments: StoreKind.withHistory)
  func differences(_ kind: StoreKind) throws {
    let seed = TestSettings.seed("TRELLIS_UNDO_SEED")
    var count = 0
    try forEachEpisode(kind, seed) { episode in
      let places = [episode.random.below(episode.moments.count), episode.random.below(episode.moments.count)].sorted()
      let (start, former) = episode.moments[places[0]]
      let (end, latter) = episode.moments[places[1]]
      let comparesAll = episode.random.below(2) == 0
      var found: [Int64: ObjectDifference] = [:]
      try episode.store.container.differences(since: start, until: end, comparingAll: comparesAll) {
        #expect(found.updateValue($0, forKey: $0.id.key) == nil)
      }
      for key in Set(former.objects.keys).union(latter.objects.keys) {
        let (old, new) = (former.objects[key], latter.objects[key])
        let kind: ObjectDifference.Kind = old == nil ? .inserted : new == nil ? .deleted : .updated
        let own = former.attributes.union(former.references)
        let names = Set((new ?? old ?? [:]).keys.filter { own.contains($0) && old?[$0] != new?[$0] })
        if names.isEmpty && kind == .updated {
          // What changed is a list, which the history tells at the other end at least.
          continue
        }
        count += 1
        #expect(found[key]?.kind == kind, "seed \(episode.seed): #\(key) from \(start) to \(end)")
        let told = Set(found[key]?.properties.map(\.name) ?? [])
        if kind == .updated {
          #expect(told.isSuperset(of: names), "seed \(episode.seed): #\(key) from \(start) to \(end)")
        }
      }
      for difference in found.values {
        let (old, new) = (former.objects[difference.id.key], latter.objects[difference.id.key])
        #expect(old != new, "seed \(episode.seed): \(difference) from \(start) to \(end)")
        if difference.kind == .updated {
          for name in difference.properties.map(\.name) { #expect(old?[name] != new?[name], "\(difference)") }
        }
      }
    }
    #expect(count > 0)
  }

  // MARK: Worlds

  private struct Episode {
    let seed: UInt64
    let store: ShapesStore
    var random: SeededGenerator
    var moments: [(token: HistoryToken, picture: StorePicture)] = []
  }

  private func forEachEpisode(_ kind: StoreKind, _ seed: UInt64, _ body: (inout Episode) throws -> Void) throws {
    let steps = TestSettings.number("TRELLIS_UNDO_STEPS", or: 80)
    for number in 0..<UInt64(max(1, steps / 40)) {
      let seed = seed &+ number
      var episode = Episode(seed: seed, store: try ShapesStore(kind), random: SeededGenerator(seed: seed))
      let scribe = ShapesScribe(episode.store.container)
      for _ in 0..<min(steps, 40) {
        for _ in 0..<(1 + episode.random.below(6)) { try scribe.step(&episode.random) }
        do { try scribe.context.save() } catch { scribe.context.rollback() }
        try episode.store.container.settle()
        episode.moments.append((try episode.store.container.historyToken(), try episode.store.picture()))
        if episode.random.below(2) == 0 { try body(&episode) }
      }
    }
  }
}
