import Testing
@_spi(Generated) import Trellis
import TrellisTestSupport

@Suite("Orders that are undone") struct UndoneOrderTests {
  private static let episodes = TestSettings.number("TRELLIS_ORDER_EPISODES", or: 100)
  private static let size = TestSettings.number("TRELLIS_ORDER_SIZE", or: 14)

  /// The ways in which an ordered to-many is stored.
  enum Kind: CaseIterable { case column, pairs, oneWay }

  @Test(
    "An undo restores the order from before a step, whatever the step has done, saved or not", arguments: Kind.allCases)
  func anyStep(kind: Kind) throws {
    let rules = try Rules()
    let seed = TestSettings.seed()
    for episode in 0..<UInt64(Self.episodes) {
      let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
      let context = container.newContext()
      let (owner, name): (ManagedObject, String) =
        switch kind {
        case .column: (Crate(in: context), "items")
        case .pairs: (PeerLeft(in: context), "listNullifyNullify")
        case .oneWay: (Holder(in: context), "listNullify")
        }
      let shape = try #require(rules.shapes.all.first { $0.entity == "\(type(of: owner))" && $0.name == name })
      var run = Run(
        context: context, list: OrderedToMany(owner, rules.properties[shape.index]),
        size: Self.size, random: SeededGenerator(seed: seed &+ episode),
        log: ["\(kind), seed \(seed &+ episode)"])
      try run.play {
        switch kind {
        case .column: Item(in: context)
        case .pairs: PeerRight(in: context)
        case .oneWay: Target(in: context)
        }
      }
      let reading = container.newContext()
      let other = try #require(try reading.object(with: owner.objectID))
      let stored = OrderedToMany<ManagedObject>(other, rules.properties[shape.index])
      #expect(stored.map(\.objectID) == run.list.map(\.objectID), run.place)
    }
  }

  private struct Run {
    let context: ManagedObjectContext
    let list: OrderedToMany<ManagedObject>
    let size: Int
    var random: SeededGenerator
    /// What was done, as a failure shows it.
    var log: [String]

    var place: Comment { "\(log.joined(separator: "; "))" }

    mutating func play(make: () -> ManagedObject) throws {
      list.replaceAll(with: (0..<random.below(size)).map { _ in make() })
      try save(2)
      context.undo.enable()
      for _ in 0..<4 {
        let before = list.objects
        log.append("\(names)")
        try change(make)
        let after = list.objects
        log.append("\(names)")
        try save(2)
        context.undo.endStep()
        log.append("undo")
        try context.undo.undo()
        #expect(list.objects == before, place)
        try save(1)
        log.append("redo")
        try context.undo.redo()
        #expect(list.objects == after, place)
        if random.below(2) == 0 {
          log.append("undo")
          try context.undo.undo()
        }
        try save(1)
      }
      try context.save()
    }

    private var names: [Int] { list.map { Int("\($0)".split(separator: "#").last ?? "") ?? 0 } }

    /// Saves so often of three times.
    private mutating func save(_ often: Int) throws {
      guard random.below(3) < often else { return }
      log.append("save")
      try context.save()
    }

    /// Most changes delete neighbours, as those of a selection are.
    private mutating func change(_ make: () -> ManagedObject) throws {
      // No step is empty, since its undo would be that of the step before.
      insert(make(), at: random.below(list.count + 1))
      let spot = random.below(list.count + 1)
      for _ in 0..<random.below(size * 2 / 3 + 1) {
        let count = list.count
        switch random.below(10) {
        case 0...4: if count > 0 { try delete(min(spot, count - 1)) }
        case 5: if count > 0 { try delete(random.below(count)) }
        case 6:
          guard count > 0 else { continue }
          let (from, to) = (random.below(count), random.below(count))
          log.append("move \(from) to \(to)")
          list.move(from: from, to: to)
        case 7:
          guard count > 0 else { continue }
          let place = random.below(count)
          log.append("remove at \(place)")
          list.remove(at: place)
        case 8: insert(make(), at: random.below(count + 1))
        default:
          if list.count < 2 { continue }
          list.replaceAll(with: list.objects.shuffled(using: &random))
          log.append("reorder \(names)")
        }
      }
    }

    private mutating func insert(_ object: ManagedObject, at place: Int) {
      log.append("insert at \(place)")
      list.insert(object, at: place)
    }

    private mutating func delete(_ place: Int) throws {
      log.append("delete at \(place)")
      try context.delete(list[place])
    }
  }
}
