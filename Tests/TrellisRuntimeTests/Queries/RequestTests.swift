import Testing
import Trellis
import TrellisTestSupport

@Suite("Fetch requests") struct RequestTests {
  private func context() throws -> ManagedObjectContext {
    let context = try makeContext()
    for name in ["b", "a", "c"] { _ = Node(in: context, name: name) }
    try context.save()
    return context
  }

  @Test("a limit below 0 counts as 0, an offset below 0 as none", arguments: [-1, .min])
  func negative(_ number: Int) throws {
    let context = try context()
    #expect(try context.fetch(Node.all.limit(number)).isEmpty)
    #expect(try context.count(Node.all.limit(number)) == 0)
    #expect(try context.first(Node.all.limit(number)) == nil)
    #expect(try context.fetch(Node.all.offset(number)).count == 3)
    #expect(try context.fetch(Node.all.offset(number).limit(2)).count == 2)
  }

  @Test("an attribute alone sorts ascending, before and after other keys")
  func ascending() throws {
    let context = try context()
    #expect(try context.fetch(Node.all.sorted { $0.name }).map(\.name) == ["a", "b", "c"])
    let request = Node.all.sorted {
      $0.rank
      $0.name.descending
      $0.parent.name
    }
    #expect(try context.fetch(request).map(\.name) == ["c", "b", "a"])
  }

  @Test("the object at the other end is asked for with is, nobody with nil")
  func partners() throws {
    let context = try context()
    let nodes = try context.fetch(Node.all.sorted { $0.name })
    nodes[0].children = [nodes[1]]
    #expect(try context.fetch(Node.where { $0.parent.is(nodes[0]) }) == [nodes[1]])
    #expect(try context.fetch(Node.where { $0.parent.is(nodes[0].objectID) }) == [nodes[1]])
    #expect(try context.fetch(Node.where { $0.parent != nil }) == [nodes[1]])
    #expect(try context.count(Node.where { $0.parent == nil }) == 2)
  }

  @Test("a request stays what it was, however it and its copies are refined, and whether they are kept")
  func values() throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      // The requests, with the steps that made them.
      var made: [(request: Node.FetchRequest, steps: [Int])] = [(Node.all, [])]
      for _ in 0..<12 {
        let start = made.randomElement(using: &random) ?? made[0]
        let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: 0..<90, using: &random) }
        made.append((refined(start.request, by: steps), start.steps + steps))
      }
      for (request, steps) in made {
        let alone = refined(Node.all, by: steps)
        #expect("\(request)" == "\(alone)", "seed \(seed), \(steps)")
        #expect(contents(of: request) == contents(of: alone), "seed \(seed), \(steps)")
      }
    }
  }

  /// Every stored value of a request, also those that its description leaves out.
  private func contents(of request: Node.FetchRequest) -> String {
    var text = ""
    dump(request, to: &text)
    return text
  }

  /// The request as it is after several steps, each of which takes over the request of the step before.
  private func refined(_ request: consuming Node.FetchRequest, by steps: [Int]) -> Node.FetchRequest {
    for step in steps { request = refined(consume request, step) }
    return request
  }

  /// The request with one of its parts changed, by a number of one to ten for each.
  private func refined(_ request: consuming Node.FetchRequest, _ step: Int) -> Node.FetchRequest {
    let number = step / 9 + 1, rank = Int64(number)
    return switch step % 9 {
    case 0: request.where { $0.rank == rank }
    case 1: request.or { $0.rank > rank }
    case 2: number < 6 ? request.sorted { $0.rank } : request.sorted { $0.name.descending }
    case 3: request.limit(number)
    case 4: request.offset(number)
    case 5: number < 6 ? request.prefetching { $0.children } : request.prefetching { $0.parent }
    case 6: number < 6 ? request.storedOnly() : request.withoutSubentities()
    case 7: request.lazyLoading(number < 6 ? .reported : .forbidden)
    default: number < 6 ? request.sorted(by: "-name") : request.where("rank != %d", number)
    }
  }
}
