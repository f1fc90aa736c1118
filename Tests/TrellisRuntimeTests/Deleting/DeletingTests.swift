import Testing
import Trellis

@Suite("Delete rules") struct DeletingTests {
  @Test("cascade deletes everything below, in memory and in the store", arguments: [false, true])
  func cascade(loaded: Bool) throws {
    let container = try makeContainer()
    var context = container.newContext()
    let root = Node(in: context, name: "root")
    for number in 0..<3 {
      let child = Node(in: context, name: "\(number)")
      child.parent = root
      for _ in 0..<3 { Node(in: context).parent = child }
    }
    _ = Node(in: context, name: "other")
    try context.save()
    if !loaded { context = container.newContext() }
    try context.delete(#require(try context.first(Node.where { $0.name == "root" })))
    #expect(try context.fetch(Node.all).map(\.name) == ["other"])
    try context.save()
    #expect(try container.newContext().count(Node.all) == 1)
  }

  @Test("a cascade that loops ends")
  func loop() throws {
    let context = try makeContext()
    let (a, b) = (Node(in: context), Node(in: context))
    a.parent = b
    b.parent = a
    try context.save()
    try context.delete(a)
    #expect(b.isDeleted)
    try context.save()
    #expect(try context.count(Node.all) == 0)
  }

  @Test("nullify lets the survivors go, in every shape", arguments: [false, true])
  func nullify(loaded: Bool) throws {
    let container = try makeContainer()
    var context = container.newContext()
    let (a, b) = (Node(in: context, name: "a"), Node(in: context, name: "b"))
    let team = Team(in: context, name: "team")
    a.twin = b
    b.next = a
    a.friends = [b]
    b.likes = [a]
    a.parent = b
    team.members = [a, b]
    try context.save()
    if !loaded { context = container.newContext() }
    try context.delete(#require(try context.first(Node.where { $0.name == "a" })))
    try context.save()
    for check in [context, container.newContext()] {
      let left = try #require(try check.first(Node.where { $0.name == "b" }))
      #expect(left.twin == nil && left.next == nil && left.friends.isEmpty && left.likes.isEmpty)
      #expect(left.children.isEmpty && left.team?.members.objects == [left])
    }
  }

  @Test("deny refuses the save, names the object, and changes nothing; deleting the partners too is fine")
  func deny() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let team = Team(in: context, name: "team")
    let guardian = Node(in: context, name: "guard")
    guardian.guarded = team
    try context.save()
    try context.delete(team)
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.property) == ["guards"] && error?.failures.map(\.rule) == [.deniedDelete])
    #expect(try container.newContext().count(Team.all) == 1)
    try context.delete(guardian)
    try context.save()
    #expect(try container.newContext().count(Team.all) == 0)
  }

  @Test("deleting a new object forgets it")
  func newObject() throws {
    let context = try makeContext()
    let (a, b) = (Node(in: context), Node(in: context))
    a.children = [b]
    a.friends = [b]
    try context.delete(b)
    #expect(a.children.isEmpty && a.friends.isEmpty)
    try context.save()
    #expect(try context.count(Node.all) == 1)
  }

  @Test("a chain of 100,000 cascades without using up the stack")
  func longChain() throws {
    let context = try makeContext()
    let first = Node(in: context)
    var last = first
    for _ in 1..<100_000 {
      let next = Node(in: context)
      next.parent = last
      last = next
    }
    try context.delete(first)
    #expect(!context.hasChanges)
  }
}
