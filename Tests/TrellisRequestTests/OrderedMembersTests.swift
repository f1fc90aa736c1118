import Testing
import Trellis

@Suite("Arranging an ordered to-many") struct OrderedMembersTests {
  /// What is done to a queue of `abcdef`, and the names that it holds afterwards.
  struct Step: Sendable, CustomStringConvertible {
    let description: String
    let result: String
    let body: @Sendable (OrderedToMany<Item>, [Item]) -> Void

    init(_ description: String, _ result: String, _ body: @escaping @Sendable (OrderedToMany<Item>, [Item]) -> Void) {
      self.description = description
      self.result = result
      self.body = body
    }
  }

  /// The last two items, g and h, are no members.
  static let steps = [
    Step("+=", "abcdefhg") { queue, items in queue += [items[7], items[6]] },
    Step("+= with a member, which moves", "bcdefga") { queue, items in queue += [items[6], items[0]] },
    Step("sort", "fedcba") { queue, _ in queue.sort { $0.name > $1.name } },
    Step("a sort keeps the order of equals", "defabc") { queue, _ in queue.sort { ($0.name > "c") && ($1.name <= "c") }
    },
    Step("removeAll(where:)", "bdf") { queue, _ in queue.removeAll { "ace".contains($0.name) } },
    Step("removeAll(where:) of none", "abcdef") { queue, _ in queue.removeAll { _ in false } },
    Step("move to the front", "ceabdf") { queue, _ in queue.move(fromOffsets: [2, 4], toOffset: 0) },
    Step("move to the end", "bcdefa") { queue, _ in queue.move(fromOffsets: [0], toOffset: 6) },
    Step("move within", "acbdef") { queue, _ in queue.move(fromOffsets: [1], toOffset: 3) },
    Step("move of positions that are none", "abcdef") { queue, _ in queue.move(fromOffsets: [-1, 9], toOffset: 99) },
    Step("insert(contentsOf:at:)", "aghbcdef") { queue, items in queue.insert(contentsOf: items[6...7], at: 1) },
    Step("insert(contentsOf:at:) of members too", "bdgface") { queue, items in
      queue.insert(contentsOf: [items[6], items[5]], at: 2)
      queue.insert(contentsOf: [items[1], items[3]], at: -5)
      queue.insert(contentsOf: [items[0], items[2], items[4]], at: 99)
    },
    Step("swapAt", "fbcdea") { queue, _ in queue.swapAt(0, 5) },
    Step("swapAt of a position that is none", "abcdef") { queue, _ in queue.swapAt(0, 6) },
    Step("remove(atOffsets:)", "bcde") { queue, _ in queue.remove(atOffsets: [0, 5, 8]) },
  ]

  @Test(
    "works as on an array, is undone in one step, and is what the store has after a save",
    arguments: AnyStore.allCases, 0..<15)
  func arranging(_ store: AnyStore, _ number: Int) throws {
    let step = Self.steps[number]
    let world = try World(store)
    let context = world.context
    let box = Box(in: context)
    let items = "abcdefgh".map { Item(in: context, name: String($0)) }
    box.queue = OrderedToMany(items.prefix(6))
    try context.save()
    context.undo.enable()
    step.body(box.queue, items)
    #expect(names(box) == step.result, "\(step)")
    #expect(items.allSatisfy { ($0.row === box) == step.result.contains($0.name) })
    if step.result != "abcdef" {
      try context.undo.undo()
      #expect(names(box) == "abcdef", "\(step)")
      try context.undo.redo()
    }
    try context.save()
    let other = world.container.newContext()
    #expect(names(try #require(try other.object(with: box.objectID))) == step.result, "\(step)")
    try context.refresh(box)
    #expect(names(box) == step.result)
    let report = try world.container.check()
    #expect(report.isEmpty, "\(report)")
  }

  @Test("a sort whose predicate throws leaves the order as it was")
  func throwing() throws {
    struct Failure: Error {}
    let world = try World(.memory)
    let box = Box(in: world.context)
    box.queue = [Item(in: world.context, name: "b"), Item(in: world.context, name: "a")]
    #expect(throws: Failure.self) { try box.queue.sort { _, _ in throw Failure() } }
    #expect(throws: Failure.self) { try box.queue.removeAll { _ in throw Failure() } }
    #expect(names(box) == "ba")
  }

  @Test("an unordered to-many has += and removeAll(where:)", arguments: AnyStore.allCases)
  func unordered(_ store: AnyStore) throws {
    let world = try World(store)
    let box = Box(in: world.context)
    box.items += "abc".map { Item(in: world.context, name: String($0)) }
    box.items.removeAll { $0.name == "b" }
    try world.context.save()
    #expect(
      Set(try world.container.newContext().fetch(Item.where { $0.box.is(box.objectID) }).map(\.name)) == ["a", "c"])
  }

  private func names(_ box: Box) -> String { box.queue.map(\.name).joined() }
}
