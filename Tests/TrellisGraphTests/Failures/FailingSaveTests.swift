import Testing
import Trellis
import TrellisTestSupport

@Suite("Failing saves") struct FailingSaveTests {
  /// One in so many objects fails; 1 for each of them.
  private static let stride = TestSettings.number("TRELLIS_FAILING_STRIDE", or: 47)
  private static let shapes: [(entity: String, name: String)] = [
    ("ManyParent", "listNullifyNullify"), ("ManyParent", "setCascadeNullify"), ("PeerLeft", "bothNullifyNullify"),
    ("OneLeft", "oneNullifyNullify"), ("Holder", "listNullify"), ("Holder", "oneNullify"),
  ]

  @Test(
    "a save that fails at any of 200 objects leaves store and context as they were, and the next one succeeds",
    arguments: StoreKind.inPlace)
  func anyRecord(kind: StoreKind) throws {
    let failure = FailureSwitch()
    let place = try StorePlace(kind)
    defer { place.remove() }
    var duel = try pendingChanges(failure, place)
    // Reading everything first shows every owner whose members have changed.
    try duel.compareContext()
    let before = Pending(duel.live.context)
    #expect(before.count >= 200)
    var (record, failed) = (0, 0)
    while true {
      failure.set(.record(record))
      do {
        try duel.live.context.save()
        break
      } catch {
        failed += 1
        try #require(failure.failures == failed)
        record += Self.stride
      }
      try #require(Pending(duel.live.context) == before)
      // Comparing with the store is slow; each failure in turn is compared in memory.
      if failed % 5 == 1 { try duel.compareAll() } else { try duel.compareContext() }
    }
    duel.noteSaved()
    try duel.compareAll()
    #expect(record >= 200 && !duel.live.context.hasChanges)
    print("failing saves: \(kind), \(failed) failures")
  }

  /// The objects that a save would write.
  private struct Pending: Equatable {
    let inserted: [ManagedObject]
    let updated: [ManagedObject]
    let deleted: [ManagedObject]

    init(_ context: ManagedObjectContext) {
      inserted = context.insertedObjects
      updated = context.updatedObjects
      deleted = context.deletedObjects
    }

    var count: Int { inserted.count + updated.count + deleted.count }
  }

  /// A graph of which a part is saved, with unsaved changes of every kind.
  private func pendingChanges(_ failure: FailureSwitch, _ place: StorePlace) throws -> Duel {
    let rules = try Rules()
    let container = try PersistentContainer(model: .rules, store: place.configuration.failing(failure)) { _ in }
    let live = LiveGraph(container, rules, holdsObjects: true)
    let chosen = Self.shapes.compactMap { rules.shapes.shape($0.entity, $0.name) }
    let touched = chosen.flatMap { [$0, rules.shapes.inverse(of: $0) ?? $0] }
    var duel = Duel(rules.shapes, live, touched: Array(Set(touched.map(\.index))).map { rules.shapes.all[$0] })
    var random = SeededGenerator(seed: 7)
    try link(&duel, chosen, count: 150, &random)
    try duel.apply(.save)
    for object in duel.reference.current.living.shuffled(using: &random).prefix(40) { try duel.apply(.delete(object)) }
    try link(&duel, chosen, count: 180, &random)
    return duel
  }

  private func link(_ duel: inout Duel, _ shapes: [Shape], count: Int, _ random: inout SeededGenerator) throws {
    let entities = shapes.flatMap { [$0.entity, $0.destination] }
    for number in 0..<count { try duel.apply(.insert(entity: entities[number % entities.count])) }
    let graph = duel.reference.current
    for _ in 0..<(count * 3) {
      guard let shape = shapes.randomElement(using: &random) else { return }
      let owner = graph.living.filter { graph.entities[$0] == shape.entity }.randomElement(using: &random)
      let partner = graph.living.filter { graph.entities[$0] == shape.destination }.randomElement(using: &random)
      guard let owner, let partner else { continue }
      try duel.apply(
        shape.isToMany
          ? .insertAt(owner, shape, partner, place: Int.random(in: 0...2, using: &random))
          : .set(owner, shape, partner))
    }
  }
}
