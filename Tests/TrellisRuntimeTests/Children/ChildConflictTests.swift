import Testing
import Trellis

@Suite("Child contexts and changes of their parents") struct ChildConflictTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let child: ManagedObjectContext
  private let node: Node
  private let mine: Node

  init() throws {
    container = try makeContainer()
    context = container.newContext()
    node = Node(in: context, name: "read", rank: 1)
    try context.save()
    child = context.newChildContext()
    mine = try #require(try child.object(with: node.objectID))
  }

  @Test("edits of different properties are merged") func merging() throws {
    node.rank = 2
    mine.name = "child"
    try child.save()
    #expect(node.name == "child" && node.rank == 2 && mine.rank == 2)
  }

  @Test("the parent's save alone is no conflict") func savedMeanwhile() throws {
    node.rank = 2
    let fresh = context.newChildContext()
    let theirs = try #require(try fresh.object(with: node.objectID))
    theirs.name = "child"
    try context.save()
    try fresh.save()
    #expect(node.name == "child" && node.rank == 2)
    try fresh.delete(theirs)
    node.name = "again"
    node.name = "child"
    try fresh.save()
    #expect(node.isDeleted)
  }

  @Test("the same property is a conflict with all three values, and nothing changes") func conflict() throws {
    node.name = "parent"
    mine.name = "child"
    let rows = #expect(throws: SaveConflict.self) { try child.save() }?.rows ?? []
    #expect(rows.map(\.properties) == [["name"]] && rows.first?.kind == .changedByBoth)
    #expect(rows.first?.mine(Node.Snapshot.self)?.name == "child")
    #expect(rows.first?.theirs(Node.Snapshot.self)?.name == "parent")
    #expect(node.name == "parent" && mine.name == "child")
  }

  @Test(
    "policies settle it",
    arguments: zip(
      [MergePolicy.objectTrump, .storeTrump, .overwrite, .rollback], ["child 2", "parent 2", "child 1", "parent 2"]))
  func policies(_ policy: MergePolicy, _ wanted: String) throws {
    (node.name, node.rank) = ("parent", 2)
    mine.name = "child"
    try child.save(mergePolicy: policy)
    #expect("\(node.name) \(node.rank)" == wanted && "\(mine.name) \(mine.rank)" == wanted)
  }

  @Test("what the parent has deleted is a conflict, or deleted in the child") func deletedByParent() throws {
    mine.name = "child"
    try context.delete(node)
    let rows = #expect(throws: SaveConflict.self) { try child.save() }?.rows ?? []
    #expect(rows.map(\.kind) == [.deletedByOthers])
    try child.save(mergePolicy: .storeTrump)
    #expect(mine.isDeleted && node.isDeleted)
  }

  @Test("what the child deletes and the parent has edited is a conflict, or deleted, or back") func deletedByChild()
    throws
  {
    try child.delete(mine)
    node.name = "parent"
    let rows = #expect(throws: SaveConflict.self) { try child.save() }?.rows ?? []
    #expect(rows.map(\.kind) == [.deletedHere])
    try child.save(mergePolicy: .storeTrump)
    #expect(!mine.isDeleted && mine.name == "parent" && !node.isDeleted)
    try child.delete(mine)
    node.name = "again"
    try child.save(mergePolicy: .objectTrump)
    #expect(node.isDeleted)
  }

  @Test("members of both come together, each where its mover put it") func lists() throws {
    let nodes = (0..<4).map { Node(in: context, name: "\($0)") }
    node.likes = OrderedToMany(nodes)
    node.children = OrderedToMany(nodes)
    let child = context.newChildContext()
    let mine = try #require(try child.object(with: node.objectID))
    mine.likes.move(from: 3, to: 1)
    mine.children.move(from: 3, to: 1)
    mine.children.append(Node(in: child, name: "child's"))
    let parents = Node(in: context, name: "parent's")
    node.likes.insert(parents, at: 0)
    node.children.move(from: 0, to: 2)
    try child.save()
    #expect(node.likes.map(\.name) == ["parent's", "0", "3", "1", "2"])
    #expect(node.children.map(\.name) == ["1", "2", "0", "3", "child's"])
  }

  @Test("who left in the child leaves, who left in the parent stays away") func leaving() throws {
    let nodes = (0..<4).map { Node(in: context, name: "\($0)") }
    node.friends = ToMany(nodes)
    let child = context.newChildContext()
    let mine = try #require(try child.object(with: node.objectID))
    mine.friends.remove(try #require(try child.object(with: nodes[0].objectID)))
    node.friends.remove(nodes[1])
    try child.save()
    #expect(Set(node.friends.map(\.name)) == ["2", "3"])
    #expect(nodes[0].friends.isEmpty && nodes[1].friends.isEmpty)
  }

  @Test("running again on fresh values counts up on what the parent has") func retrying() throws {
    node.rank = 5
    try child.saveRetrying {
      mine.rank += 1
    }
    #expect(node.rank == 6)
  }
}

@Suite("Child contexts and unique keys") struct ChildKeyTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let child: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .conflicts, store: .memory)
    context = container.newContext()
    child = context.newChildContext()
  }

  @Test("a key that the parent or the store has is refused in the child", arguments: [false, true])
  func refusing(isSaved: Bool) throws {
    let trait = Trait(in: context, name: "a")
    if isSaved { try context.save() }
    let mine = Trait(in: child, name: "a")
    let failures = #expect(throws: ValidationError.self) { try child.save() }?.failures ?? []
    #expect(failures.map(\.rule) == [.unique] && failures.first?.blockers.map(\.key) == [trait.objectID.key])
    mine.name = "b"
    try child.save()
    try context.save()
    #expect(try container.newContext().count(Trait.all) == 2)
  }

  @Test("under a trump policy the new object becomes the parent's") func uniting() throws {
    let known = Species(in: context, number: 1, name: "a", sprite: "old")
    let mine = Species(in: child, number: 1, name: "b")
    mine.traits.append(Trait(in: child, name: "t"))
    try child.save(mergePolicy: .objectTrump)
    #expect(mine.replacedBy == known.objectID && known.name == "b" && known.sprite == "old")
    #expect(known.traits.map(\.name) == ["t"])
    try context.save()
    #expect(try container.newContext().count(Species.all) == 1)
  }

  @Test("what is given in a child counts as given when the parent is saved") func givenValues() throws {
    let other = container.newContext()
    _ = Species(in: other, number: 1, name: "theirs", height: 3, sprite: "kept")
    let mine = Species(in: child, number: 1, name: "mine")
    try child.save()
    try other.save()
    try context.save(mergePolicy: .objectTrump)
    let found = try #require(try container.newContext().first(Species.all))
    #expect(found.name == "mine" && found.height == 3 && found.sprite == "kept")
    #expect(try child.fetch(Species.all).map(\.name) == ["mine"])
    try child.refresh(mine)
    #expect(mine.isDeleted)
  }

  @Test("keys may be swapped in a child") func swapping() throws {
    let traits = ["a", "b"].map { Trait(in: context, name: $0) }
    try context.save()
    let mine = try traits.map { try #require(try child.object(with: $0.objectID)) }
    (mine[0].name, mine[1].name) = ("b", "a")
    try child.save()
    try context.save()
    #expect(traits.map(\.name) == ["b", "a"])
  }
}
