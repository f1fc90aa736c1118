import Foundation
import Synchronization
import Testing
import Trellis
import TrellisRuntime
import TrellisTestSupport

@Suite("Lists and trees of one entity, level by level", .serialized) struct ChainLoadingTests {
  /// Counts the requests to the store.
  private final class Counter: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  private let file = TemporaryFile()
  private let counter = Counter()

  private func container(_ store: AnsweringStore) throws -> PersistentContainer {
    let counter = counter
    return try PersistentContainer(
      model: .shapes, store: store == .memory ? .memory : .sqlite(at: file.url), log: QueryLog { _ in counter.add() }
    ) { _ in }
  }

  private func fill(_ container: PersistentContainer, _ parents: [Int?]) throws {
    let context = container.newContext()
    let nodes = parents.indices.map { Node(in: context, name: "\($0)", rank: Int64($0)) }
    for (node, parent) in zip(nodes, parents) { node.parent = parent.map { nodes[$0] } }
    try context.save()
  }

  @Test("a chain is walked down, up and deleted in a few requests", arguments: AnsweringStore.allCases)
  func chain(_ store: AnsweringStore) throws {
    let length = 3_000
    let container = try container(store)
    try fill(container, (0..<length).map { $0 == 0 ? nil : $0 - 1 })
    func requests(_ work: (ManagedObjectContext) throws -> Void) throws -> Int {
      let context = container.newContext()
      let before = counter.count
      try work(context)
      return counter.count - before
    }
    let down = try requests { context in
      var (node, count) = (try context.first(Node.where { $0.rank == 0 }), 0)
      while let next = node?.children.first { (node, count) = (next, count + 1) }
      #expect(count == length - 1)
    }
    let byPosition = try requests { context in
      var (node, count) = (try context.first(Node.where { $0.rank == 0 }), 0)
      while let present = node, present.children.count == 1 { (node, count) = (present.children[0], count + 1) }
      #expect(count == length - 1)
    }
    let up = try requests { context in
      var (node, count) = (try context.first(Node.where { $0.rank == Int64(length - 1) }), 0)
      while let next = node?.parent { (node, count) = (next, count + 1) }
      #expect(count == length - 1)
    }
    let isFew = down <= 20 && byPosition <= 20 && up <= 20
    #expect(isFew || store == .memory, "\(down), \(byPosition), \(up)")
    let deleted = try requests { context in
      try context.delete(#require(try context.first(Node.where { $0.rank == 0 })))
      try context.save()
    }
    #expect(deleted <= 60 || store == .memory, "\(deleted)")
    #expect(try container.newContext().count(Node.all) == 0)
  }

  @Test("a ring ends, and a level that a limit cuts is loaded later", arguments: AnsweringStore.allCases)
  func ringsAndCuts(_ store: AnsweringStore) throws {
    let container = try container(store)
    // A ring of 7, and a chain of 5 whose last node has 40 children with one child each.
    var parents: [Int?] = (0..<7).map { ($0 + 6) % 7 }
    parents += [nil, 7, 8, 9, 10] + [Int?](repeating: 11, count: 40) + (12..<52).map { $0 }
    try fill(container, parents)
    let context = container.newContext()
    let start = try #require(try context.first(Node.where { $0.rank == 0 }))
    var (node, steps) = (start, 0)
    while steps == 0 || node !== start { (node, steps) = (try #require(node.children.first), steps + 1) }
    #expect(steps == 7)
    var level = try context.fetch(Node.where { $0.rank == 7 })
    var sizes: [Int] = []
    while !level.isEmpty {
      sizes.append(level.count)
      level = level.flatMap { $0.children.objects }
    }
    #expect(sizes == [1, 1, 1, 1, 1, 40, 40])
    #expect(try context.fetch(Node.where { $0.rank == 11 })[0].children.map(\.rank) == Array(12..<52))
  }

  @Test("walks see unsaved moves and deletes, at random", arguments: AnsweringStore.allCases)
  func random(_ store: AnsweringStore) throws {
    let seed = TestSettings.seed()
    let rounds = TestSettings.number("TRELLIS_CHAIN_ROUNDS", or: 60)
    print("random chains in \(store): seed \(seed), \(rounds) rounds")
    for round in 0..<rounds {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      let place: Comment = "seed \(seed), round \(round)"
      let container = try container(store)
      let count = 5 + random.below(60)
      // Mostly long branches; a few references close rings.
      var parents: [Int?] = (0..<count).map { number in
        number == 0 || random.below(8) == 0 ? nil : max(0, number - 1 - random.below(3))
      }
      if random.below(4) == 0 { parents[random.below(count)] = random.below(count) }
      try fill(container, parents)
      let context = container.newContext()
      context.graph.stepsOfChain = 1 + random.below(2)
      var alive = Set(0..<count)
      func node(_ number: Int) throws -> Node? { try context.first(Node.where { $0.rank == Int64(number) }) }
      for _ in 0..<30 {
        guard let chosen = alive.sorted().randomElement(using: &random) else { break }
        switch random.below(10) {
        case 0:
          let target = alive.sorted().randomElement(using: &random) ?? chosen
          try node(chosen)?.parent = node(target)
          parents[chosen] = target
        case 1:
          try node(chosen)?.parent = nil
          parents[chosen] = nil
        case 2 where random.below(3) == 0:
          try context.delete(#require(try node(chosen)))
          var gone: Set<Int> = [chosen]
          while let next = alive.first(where: { !gone.contains($0) && parents[$0].map(gone.contains) == true }) {
            gone.insert(next)
          }
          alive.subtract(gone)
        case 3: if random.below(3) == 0 { try context.save() }
        case 4, 5:
          var (present, expected): (Node?, Int?) = (try node(chosen), chosen)
          for _ in 0..<count {
            guard let number = expected else { break }
            #expect(present?.rank == Int64(number), place)
            (present, expected) = (present?.parent, parents[number])
          }
        default:
          var (present, expected) = (try node(chosen), chosen)
          for _ in 0..<count {
            let children = alive.filter { parents[$0] == expected }
            let found = try #require(present).children
            if random.below(3) == 0 { #expect(found.count == children.count, place) }
            #expect(Set(found.map(\.rank)) == Set(children.map(Int64.init)), place)
            guard let next = children.sorted().randomElement(using: &random) else { break }
            (present, expected) = (found.first { $0.rank == Int64(next) }, next)
          }
        }
      }
      try context.save()
      // Memory and the store agree, orders included.
      let fresh = container.newContext()
      let lists = try context.fetch(Node.all).map { $0.children.map(\.rank) }
      #expect(try fresh.fetch(Node.all).map { $0.children.map(\.rank) } == lists, place)
      #expect(try fresh.count(Node.all) == alive.count, place)
      for object in try fresh.fetch(Node.all) { try fresh.delete(object) }
      try fresh.save()
    }
  }
}
