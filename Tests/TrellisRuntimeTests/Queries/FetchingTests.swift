import Synchronization
import Testing
import Trellis

@Suite("Fetching") struct FetchingTests {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try makeContainer()
    context = container.newContext()
    for number in 0..<10 { _ = Node(in: context, name: "n\(number)", rank: Int64(number)) }
    try context.save()
  }

  func names(_ request: FetchRequest<Node.Columns>) throws -> [String] { try context.fetch(request).map(\.name) }

  @Test("comparisons, lists, ranges and texts")
  func comparisons() throws {
    #expect(try names(Node.where { $0.rank > 7 }) == ["n8", "n9"])
    #expect(try names(Node.where { $0.rank.isIn([1, 3]) }) == ["n1", "n3"])
    #expect(try names(Node.where { $0.rank.isIn(2...3) }) == ["n2", "n3"])
    #expect(try names(Node.where { $0.name.hasSuffix("4") || $0.name == "n5" }) == ["n4", "n5"])
    #expect(try names(Node.where { !($0.rank < 9) }) == ["n9"])
    #expect(try names(Node.where { $0.name.contains("N1", .caseInsensitive) }) == ["n1"])
    #expect(try names(Node.all.sorted { $0.rank.descending }.limit(2)) == ["n9", "n8"])
    #expect(try names(Node.all.sorted { $0.rank.ascending }.offset(8)) == ["n8", "n9"])
    #expect(try context.count(Node.where { $0.rank >= 5 }) == 5)
    #expect(try context.exists(Node.where { $0.rank == 50 }) == false)
  }

  @Test("a fetch sees what is not saved yet: inserts, edits both ways, deletes, with limits")
  func pending() throws {
    _ = Node(in: context, name: "new", rank: 100)
    try context.first(Node.where { $0.name == "n1" })?.rank = 50
    try context.first(Node.where { $0.name == "n9" })?.rank = -1
    try context.delete(#require(try context.first(Node.where { $0.name == "n8" })))
    #expect(try names(Node.where { $0.rank > 6 }.sorted { $0.rank.descending }) == ["new", "n1", "n7"])
    #expect(try names(Node.where { $0.rank > 6 }.sorted { $0.rank.descending }.limit(2)) == ["new", "n1"])
    #expect(try names(Node.all.sorted { $0.rank.ascending }.offset(1).limit(2)) == ["n0", "n2"])
    #expect(try context.count(Node.all) == 10)
    try context.save()
    #expect(try names(Node.where { $0.rank > 6 }.sorted { $0.rank.descending }) == ["new", "n1", "n7"])
  }

  @Test("a fetch through relationships sees what is not saved yet")
  func pendingThroughRelationships() throws {
    let team = Team(in: context, name: "red")
    try context.first(Node.where { $0.name == "n1" })?.team = team
    #expect(try names(Node.where { $0.team.name == "red" }) == ["n1"])
    #expect(try context.fetch(Team.where { $0.members.any { $0.rank == 1 } }).count == 1)
    #expect(try context.fetch(Team.where { $0.members.count == 1 }).count == 1)
    try context.save()
    team.name = "blue"
    #expect(try names(Node.where { $0.team.name == "red" }).isEmpty)
    #expect(try names(Node.where { $0.team == nil }).count == 9)
    #expect(try names(Node.where { $0.team.is(team) }) == ["n1"])
  }

  @Test("conditions on own attributes are left to the store, whatever else is unsaved")
  func pendingBesideAttributes() throws {
    let counts = Mutex<[Int]>([])
    let container = try PersistentContainer(
      model: .shapes, store: .memory,
      log: QueryLog { entry in if entry.kind == .fetch { counts.withLock { $0.append(entry.rows) } } })
    let filler = container.newContext()
    for number in 0..<50 { _ = Node(in: filler, name: "n\(number)", rank: Int64(number)) }
    try filler.save()
    let context = container.newContext()
    let first = try #require(try context.first(Node.where { $0.name == "n1" }))
    let team = Team(in: context, name: "red")
    first.team = team
    first.rank = 40
    counts.withLock { $0 = [] }
    func names(_ request: FetchRequest<Node.Columns>) throws -> [String] { try context.fetch(request).map(\.name) }
    #expect(
      try names(
        Node.where {
          $0.rank > 46; $0.team == nil
        }.sorted { $0.team.name.ascending }) == ["n47", "n48", "n49"])
    #expect(try names(Node.where { $0.rank > 30 && $0.rank < 42 && $0.team.name == "red" }) == ["n1"])
    #expect(counts.withLock { $0 } == [3, 11])
    // What depends on others, alone or in part, is tested in memory.
    #expect(try names(Node.where { $0.team.name == "red" || $0.rank == 3 }) == ["n1", "n3"])
    #expect(counts.withLock { $0.last } == 50)
    try context.delete(team)
    #expect(try names(Node.where { $0.rank > 39 && $0.rank < 42 && $0.team == nil }) == ["n1", "n40", "n41"])
  }

  @Test("an inner condition may speak of the outer object")
  func nested() throws {
    let found = try context.fetch(Node.where { $0.rank == 3 })
    let child = Node(in: context, name: "child", rank: 4)
    child.parent = found[0]
    try context.save()
    #expect(try names(Node.where { $0.children.any { $0.rank == 4 } }) == ["n3"])
    #expect(try names(Node.where { $0.children.all { $0.rank > 100 } }).count == 10)
    #expect(try names(Node.where { $0.children.none { $0.rank == 4 } }).count == 10)
    #expect(try names(Node.where { outer in outer.children.any { $0.rank > outer.rank } }) == ["n3"])
    #expect(try names(Node.where { $0.children.isEmpty }).count == 10)
    #expect(try names(Node.where { $0.parent.name == "n3" }) == ["child"])
  }
}
