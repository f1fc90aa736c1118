import Observation
import Testing
import Trellis
import TrellisTestSupport

/// Two contexts of one container, each with unsaved changes, that take over what the other saves.
private struct DirtyPair {
  let here: ManagedObjectContext
  let there: ManagedObjectContext
  private let reader: ManagedObjectContext

  init() throws {
    let container = try makeContainer()
    here = container.newContext()
    there = container.newContext()
    reader = container.newContext()
  }

  func theirs<Object: IdentifiedObject>(_ object: Object) throws -> Object {
    try #require(try there.object(with: object.objectID))
  }

  func ours<Object: IdentifiedObject>(_ object: Object) throws -> Object {
    try #require(try here.object(with: object.objectID))
  }

  /// The object as the store has it.
  func stored<Object: IdentifiedObject>(_ object: Object) throws -> Object {
    reader.reset()
    return try #require(try reader.object(with: object.objectID))
  }
}

@Suite("What others save is merged into what is changed here") struct MergingTests {
  @Test("a save reaches each context that is alive, in whatever order others were released", arguments: 0..<4)
  func releasedContexts(_ released: Int) throws {
    let container = try makeContainer()
    var contexts = (0..<4).map { _ in container.newContext() }
    let writer = container.newContext()
    let team = Team(in: writer, name: "before")
    try writer.save()
    contexts.remove(at: released)
    if released > 0 { contexts.removeFirst() }
    contexts.append(container.newContext())
    let theirs = try contexts.map { try #require(try $0.object(with: team.objectID)) }
    #expect(theirs.allSatisfy { $0.name == "before" })
    team.name = "after"
    try writer.save()
    for context in contexts { context.mergeChanges() }
    #expect(theirs.allSatisfy { $0.name == "after" })
  }

  // MARK: Members

  @Test(
    "an owner with unsaved changes shows the members that others add and take out",
    arguments: ["renamed", "set and set back", "a member out and in again"])
  func members(_ edit: String) throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here, name: "d")
    let first = Node(in: pair.here, name: "1")
    team.members = [first, Node(in: pair.here, name: "2")]
    try pair.here.save()
    let theirs = try pair.theirs(team)
    let theirFirst = try pair.theirs(first)
    switch edit {
    case "renamed": team.name = "renamed"
    case "set and set back":
      team.name = "x"
      team.name = "d"
    default:
      team.members.remove(first)
      team.members.append(first)
    }
    theirs.members.append(Node(in: pair.there, name: "A"))
    theirs.members.remove(theirFirst)
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(team.members.map(\.name).sorted() == ["2", "A"])
    #expect(first.team == nil && team.members.allSatisfy { $0.team === team })
    try pair.here.save()
    #expect(try pair.stored(team).members.map(\.name).sorted() == ["2", "A"])
  }

  @Test("members that were added and taken out here stay so beside those of others")
  func bothSides() throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here)
    let nodes = ["1", "2"].map { Node(in: pair.here, name: $0) }
    team.members = ToMany(nodes)
    try pair.here.save()
    team.members.append(Node(in: pair.here, name: "mine"))
    team.members.remove(nodes[0])
    let theirs = try pair.theirs(team)
    let theirNode = try pair.theirs(nodes[1])
    theirs.members.remove(theirNode)
    theirs.members.append(Node(in: pair.there, name: "theirs"))
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(team.members.map(\.name).sorted() == ["mine", "theirs"])
    try pair.here.save()
    #expect(try pair.stored(team).members.map(\.name).sorted() == ["mine", "theirs"])
  }

  @Test("pairs of a many-to-many come and go at both ends, though both owners have changes")
  func pairs() throws {
    let pair = try DirtyPair()
    let (a, b, c) = (Node(in: pair.here, name: "a"), Node(in: pair.here, name: "b"), Node(in: pair.here, name: "c"))
    a.friends = [b]
    a.likes = [b]
    try pair.here.save()
    #expect(c.friends.isEmpty && b.likedBy.count == 1)
    a.rank = 1
    b.rank = 1
    c.rank = 1
    let theirs = try (pair.theirs(a), pair.theirs(b), pair.theirs(c))
    theirs.0.friends = [theirs.2]
    theirs.0.likes = [theirs.2, theirs.1]
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(a.friends.map(\.name) == ["c"] && c.friends.map(\.name) == ["a"] && b.friends.isEmpty)
    #expect(a.likes.map(\.name) == ["c", "b"] && c.likedBy.map(\.name) == ["a"])
    try pair.here.save()
    #expect(try pair.stored(a).likes.map(\.name) == ["c", "b"])
  }

  @Test("an order that is changed here keeps the places of members that others add")
  func orders() throws {
    let pair = try DirtyPair()
    let parent = Node(in: pair.here)
    parent.children = OrderedToMany(["1", "2", "3"].map { Node(in: pair.here, name: $0) })
    try pair.here.save()
    let theirs = try pair.theirs(parent)
    theirs.children.insert(Node(in: pair.there, name: "x"), at: 1)
    theirs.children.append(Node(in: pair.there, name: "y"))
    parent.children.move(from: 2, to: 0)
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(parent.children.map(\.name) == ["3", "1", "x", "2", "y"])
    try pair.here.save()
    #expect(try pair.stored(parent).children.map(\.name) == ["3", "1", "x", "2", "y"])
  }

  @Test("a member that is inserted here goes behind its neighbour in the order of others")
  func insertions() throws {
    let pair = try DirtyPair()
    let parent = Node(in: pair.here)
    parent.children = OrderedToMany(["1", "2", "3"].map { Node(in: pair.here, name: $0) })
    try pair.here.save()
    let theirs = try pair.theirs(parent)
    theirs.children.move(from: 0, to: 2)
    parent.children.insert(Node(in: pair.here, name: "mine"), at: 1)
    parent.children.append(Node(in: pair.here, name: "last"))
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(parent.children.map(\.name) == ["2", "3", "1", "mine", "last"])
    try pair.here.save()
    #expect(try pair.stored(parent).children.map(\.name) == ["2", "3", "1", "mine", "last"])
  }

  @Test("an order of others is the ground of the next order here, though no row has a new version")
  func placesOfOthers() throws {
    let pair = try DirtyPair()
    let parent = Node(in: pair.here)
    parent.children = OrderedToMany(["1", "2", "3", "4"].map { Node(in: pair.here, name: $0) })
    try pair.here.save()
    let theirs = try pair.theirs(parent)
    theirs.children = OrderedToMany(theirs.children.reversed())
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(parent.children.map(\.name) == ["4", "3", "2", "1"])
    parent.children.move(from: 3, to: 0)
    try pair.here.save()
    #expect(try pair.stored(parent).children.map(\.name) == ["1", "4", "3", "2"])
  }

  @Test("the end of a one-to-one without the reference follows")
  func farEnd() throws {
    let pair = try DirtyPair()
    let (a, b, c) = (Node(in: pair.here, name: "a"), Node(in: pair.here, name: "b"), Node(in: pair.here, name: "c"))
    a.next = b
    try pair.here.save()
    #expect(b.previous === a && c.previous == nil && a.previous == nil)
    for node in [a, b, c] { node.rank = 1 }
    try pair.theirs(a).next = try pair.theirs(c)
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(a.next === c && c.previous === a && b.previous == nil)
  }

  @Test("a member that others delete is gone from the lists of owners with changes")
  func deletedMembers() throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here)
    let nodes = ["1", "2"].map { Node(in: pair.here, name: $0) }
    team.members = ToMany(nodes)
    nodes[1].friends = [nodes[0]]
    try pair.here.save()
    #expect(nodes[1].friends.count == 1)
    team.name = "edited"
    nodes[1].rank = 3
    try pair.there.delete(try pair.theirs(nodes[0]))
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(team.members.map(\.name) == ["2"] && nodes[1].friends.isEmpty && nodes[0].isDeleted)
    try pair.here.save()
  }

  @Test("a list that was loaded while a member was edited follows the member when the save merges it")
  func savedWithoutLooking() throws {
    let pair = try DirtyPair()
    let (a, b) = (Node(in: pair.here, name: "a"), Node(in: pair.here, name: "b"))
    try pair.here.save()
    #expect(a.likedBy.isEmpty && b.likes.isEmpty)
    a.rank = 1
    let theirs = try pair.theirs(a)
    theirs.rank = 2
    try pair.theirs(b).likes = [theirs]
    try pair.there.save()
    try pair.here.save(mergePolicy: .objectTrump)
    #expect(a.likedBy.map(\.name) == ["b"] && b.likes.map(\.name) == ["a"] && a.rank == 1)
  }

  @Test("an owner that others deleted is gone, though members were taken out of it here")
  func ownerGone() throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here)
    let (a, b) = (Node(in: pair.here, name: "a", team: team), Node(in: pair.here, name: "b"))
    a.friends = [b]
    try pair.here.save()
    team.members.remove(a)
    a.friends.remove(b)
    try pair.there.delete(try pair.theirs(team))
    try pair.there.delete(try pair.theirs(b))
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(team.isDeleted && b.isDeleted && a.team == nil && a.friends.isEmpty)
  }

  @Test(
    "a change of many rows takes the reference of an own inverse from the partners that stay", arguments: [false, true])
  func ownInverse(isFile: Bool) throws {
    let file = TemporaryFile()
    let store: StoreConfiguration = isFile ? .sqlite(at: file.url, durability: .relaxed) : .memory
    let context = try PersistentContainer(model: .shapes, store: store) { _ in }.newContext()
    let (a, b) = (Node(in: context, name: "a"), Node(in: context, name: "b"))
    a.twin = b
    try context.save()
    try context.deleteAll(Node.where { $0.name == "a" })
    #expect(try context.fetch(Node.all).map(\.name) == ["b"] && b.twin == nil)
  }

  // MARK: Values

  @Test("properties that were not changed here take the values of others")
  func disjointValues() throws {
    let pair = try DirtyPair()
    let node = Node(in: pair.here, name: "n", rank: 1)
    try pair.here.save()
    node.name = "mine"
    try pair.theirs(node).rank = 2
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(node.name == "mine" && node.rank == 2 && node.hasChanges(\.name) && !node.hasChanges(\.rank))
    try pair.here.save()
    let stored = try pair.stored(node)
    #expect(stored.name == "mine" && stored.rank == 2)
  }

  @Test("a property that both have changed is a conflict of the save, however often others are merged before")
  func conflictingValues() throws {
    let pair = try DirtyPair()
    let node = Node(in: pair.here, name: "n", rank: 1)
    try pair.here.save()
    node.name = "mine"
    let theirs = try pair.theirs(node)
    theirs.name = "theirs"
    theirs.rank = 2
    try pair.there.save()
    pair.here.mergeChanges()
    _ = try pair.here.fetch(Node.all)
    #expect(node.name == "mine" && node.rank == 2)
    let conflict = #expect(throws: SaveConflict.self) { try pair.here.save() }
    #expect(conflict?.rows.count == 1)
    try pair.here.save(mergePolicy: .objectTrump)
    #expect(try pair.stored(node).name == "mine")
  }

  @Test(
    "what others saved during an edit is there once the edit is taken back",
    arguments: ["context", "object", "property", "undo"])
  func takenBack(_ way: String) throws {
    let pair = try DirtyPair()
    let node = Node(in: pair.here, name: "n", rank: 1)
    try pair.here.save()
    pair.here.undo.enable()
    node.name = "mine"
    try pair.theirs(node).name = "theirs"
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(node.name == "mine")
    switch way {
    case "context": pair.here.rollback()
    case "object": try node.rollback()
    case "property": try node.rollback(\.name)
    default: try pair.here.undo.undo()
    }
    #expect(node.name == "theirs" && !pair.here.hasChanges)
  }

  @Test("an edited object that others deleted is a conflict, and is gone once the edit is taken back")
  func deletedByOthers() throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here)
    let node = Node(in: pair.here, name: "n", team: team)
    try pair.here.save()
    #expect(team.members.count == 1)
    node.name = "mine"
    try pair.there.delete(try pair.theirs(node))
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(node.name == "mine" && !node.isDeleted && team.members.map(\.name) == ["mine"] && node.team === team)
    #expect(throws: SaveConflict.self) { try pair.here.save() }
    #expect(team.members.map(\.name) == ["mine"])
    pair.here.rollback()
    #expect(node.isDeleted && team.members.isEmpty && !pair.here.hasChanges)
  }

  @Test("a deleted object that others changed is as they left it when it is back")
  func undeleted() throws {
    let pair = try DirtyPair()
    let team = Team(in: pair.here)
    let node = Node(in: pair.here, name: "n", team: team)
    try pair.here.save()
    try pair.here.delete(node)
    let theirs = try pair.theirs(node)
    theirs.name = "theirs"
    theirs.team = nil
    try pair.there.save()
    pair.here.mergeChanges()
    pair.here.undelete(node)
    #expect(node.name == "theirs" && node.team == nil && team.members.isEmpty)
  }

  @Test("values in memory only outlive a merge")
  func transients() throws {
    let pair = try DirtyPair()
    let node = Node(in: pair.here, name: "n")
    try pair.here.save()
    node.note = "draft"
    try pair.theirs(node).name = "theirs"
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(node.name == "theirs" && node.note == "draft")
  }

  @Test("an undo takes back what was done here and leaves what others did")
  func undo() throws {
    let pair = try DirtyPair()
    let node = Node(in: pair.here, name: "n", rank: 1)
    try pair.here.save()
    pair.here.undo.enable()
    node.name = "mine"
    try pair.theirs(node).rank = 2
    try pair.there.save()
    pair.here.mergeChanges()
    node.rank = 5
    try pair.here.undo.undo()
    #expect(node.name == "n" && node.rank == 2)
  }

  // MARK: Observing

  @Test("observers are told of members that others add, take out, or delete, and of partners at the far end")
  func observing() throws {
    let pair = try DirtyPair()
    pair.here.isObserving = true
    let team = Team(in: pair.here)
    let nodes = ["1", "2", "3"].map { Node(in: pair.here, name: $0) }
    team.members = [nodes[0]]
    nodes[0].friends = [nodes[1]]
    try pair.here.save()
    let flag = Flags()
    func watch(_ name: String, _ read: () -> Void) {
      withObservationTracking(read) { flag.raise(name) }
    }
    watch("members") { _ = team.members.count }
    watch("friends") { _ = nodes[0].friends.count }
    watch("likedBy") { _ = nodes[2].likedBy.count }
    watch("previous") { _ = nodes[1].previous }
    let theirs = try nodes.map { try pair.theirs($0) }
    theirs[1].team = try pair.theirs(team)
    theirs[0].next = theirs[1]
    theirs[1].likes.append(theirs[2])
    try pair.there.delete(theirs[0])
    try pair.there.save()
    theirs[2].next = theirs[1]
    try pair.there.save()
    pair.here.mergeChanges()
    #expect(flag.raised.isSuperset(of: ["members", "likedBy", "previous"]))
    #expect(team.members.map(\.name) == ["2"] && nodes[1].previous === nodes[2])
  }
}

/// Which observers were told.
private final class Flags: @unchecked Sendable {  // used by one thread
  private(set) var raised: Set<String> = []
  func raise(_ name: String) { raised.insert(name) }
}
