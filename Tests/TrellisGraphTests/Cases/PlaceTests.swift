import Testing
import Trellis
import TrellisStorage
import TrellisTestSupport

@_spi(Generated) @testable import TrellisRuntime

@Suite("The places of ordered members") struct PlaceTests {
  private static let episodes = TestSettings.number("TRELLIS_PLACE_EPISODES", or: 3)

  @Test("the store has the order of the list after any edits, however dense they are", arguments: StoreKind.allCases)
  func anyEdits(kind: StoreKind) throws {
    let seed = TestSettings.seed()
    for episode in 0..<UInt64(Self.episodes) {
      var random = SeededGenerator(seed: seed &+ episode)
      let folder = try TestFolder()
      let container = try PersistentContainer(model: .rules, store: kind.configuration(in: folder)) { _ in }
      let context = container.newContext()
      let crate = Crate(in: context)
      let count = random.below(40)
      crate.items = OrderedToMany((0..<count).map { _ in Item(in: context) })
      crate.marked = OrderedToMany(crate.items.objects)
      try context.save()
      // Most edits are at one place, where the room between numbers ends soon.
      let spot = random.below(count + 1)
      for step in 0..<25 {
        for _ in 0...random.below(4) {
          Self.edit(crate.items, in: context, spot, &random)
          Self.edit(crate.marked, in: context, spot, &random)
        }
        let place: Comment = "\(kind), seed \(seed &+ episode), step \(step)"
        let (items, marked) = (crate.items.map(\.objectID), crate.marked.map(\.objectID))
        if random.below(8) == 0 {
          context.rollback()
          continue
        }
        try context.save()
        #expect(crate.items.map(\.objectID) == items && crate.marked.map(\.objectID) == marked, place)
        try Self.check(container, crate, place)
        // Lists and members that are loaded anew have the stored places.
        if random.below(4) == 0 { context.refreshAll() }
      }
    }
  }

  private static func edit(
    _ list: OrderedToMany<Item>, in context: ManagedObjectContext, _ spot: Int, _ random: inout SeededGenerator
  ) {
    let count = list.count
    let somewhere = random.below(count + 1)
    switch random.below(12) {
    case 0...4: list.insert(Item(in: context), at: min(spot, count))
    case 5: list.insert(Item(in: context), at: somewhere)
    case 6: list.insert(Item(in: context), at: 0)
    case 7: list.append(Item(in: context))
    case 8: list.move(from: somewhere, to: min(spot, count))
    case 9: list.move(from: somewhere, to: random.below(count + 1))
    case 10: list.remove(at: somewhere)
    default: list.replaceAll(with: list.objects.shuffled(using: &random))
    }
  }

  private static func check(_ container: PersistentContainer, _ crate: Crate, _ place: Comment) throws {
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: crate.objectID))
    #expect(fresh.items.map(\.objectID) == crate.items.map(\.objectID), place)
    #expect(fresh.marked.map(\.objectID) == crate.marked.map(\.objectID), place)
  }

  @Test(
    "an insertion writes its own place, wherever it is, and loads its neighbours alone",
    arguments: StoreKind.inPlace, [0, 500, 1_000])
  func oneRow(kind: StoreKind, position: Int) throws {
    for isJoined in [false, true] { try oneRow(kind, position, isJoined) }
  }

  @Test(
    "the same holds if another program saves in between, so that the list is read anew", arguments: [0, 500, 1_000],
    0..<4)
  func oneRowBesideOthers(position: Int, pause: Int) throws {
    for isJoined in [false, true] { try oneRow(.sqlite, position, isJoined, othersSaveIn: pause) }
  }

  /// - Parameter pause: the number of the pause in which another program saves; nil for none.
  private func oneRow(_ kind: StoreKind, _ position: Int, _ isJoined: Bool, othersSaveIn pause: Int? = nil) throws {
    let folder = try TestFolder()
    let container = try PersistentContainer(model: .rules, store: kind.configuration(in: folder)) { _ in }
    let entity = container.core.runtime.entities[Crate._entity].entity
    let relationship = try #require(entity.property(named: isJoined ? "marked" : "items")?.relationship?.number)
    func list(_ crate: Crate) -> OrderedToMany<Item> { isJoined ? crate.marked : crate.items }
    let making = container.newContext()
    let made = Crate(in: making)
    list(made).append(contentsOf: (0..<1_000).map { _ in Item(in: making) })
    try making.save()
    func places() throws -> [Int64: Int64] {
      var places: [Int64: Int64] = [:]
      try container.core.store.connect().memberKeys(of: relationship, owners: [made._key]) { places[$1] = $2 }
      return places
    }
    let others = try pause.map { _ in
      try PersistentContainer(model: .rules, store: kind.configuration(in: folder)) { _ in }
    }
    func pass(_ number: Int) throws {
      guard number == pause, let context = others?.newContext() else { return }
      _ = Tree(in: context)
      try context.save()
    }
    let before = try places()
    let context = container.newContext()
    let crate = try #require(try context.object(with: made.objectID))
    let item = Item(in: context)
    list(crate).insert(item, at: position)
    try pass(0)
    try context.save()
    #expect(context.registeredCount <= 4)
    let after = try places()
    #expect(after.filter { before[$0.key] != $0.value }.map(\.key) == [item._key])
    try pass(1)
    list(crate).move(from: position, to: 250)
    try pass(2)
    let removed = try #require(list(crate).remove(at: 700))
    try pass(3)
    try context.save()
    #expect(context.registeredCount <= 8)
    let last = try places()
    #expect(last.filter { after[$0.key] != $0.value }.map(\.key) == [item._key] && last[removed._key] == nil)
  }
}
