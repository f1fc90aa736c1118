import Testing
import Trellis

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
}
