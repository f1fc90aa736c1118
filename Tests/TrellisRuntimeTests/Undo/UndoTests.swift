import Testing
import Trellis

@Suite("Undo and redo") struct UndoTests {
  private func makeUndoable() throws -> (PersistentContainer, ManagedObjectContext) {
    let container = try makeContainer()
    let context = container.newContext()
    context.undo.enable()
    return (container, context)
  }

  @Test("it is off until it is enabled")
  func off() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a")
    #expect(!context.undo.isEnabled && !context.undo.canUndo)
    #expect(try !context.undo.undo() && node.name == "a")
    context.undo.enable()
    #expect(!context.undo.canUndo)
    node.name = "b"
    #expect(try context.undo.undo() && node.name == "a" && node.isInserted)
    node.name = "c"
    context.undo.disable()
    #expect(!context.undo.canUndo && node.name == "c")
  }

  @Test("a group is one step with a name; groups within it belong to it")
  func groups() throws {
    let (_, context) = try makeUndoable()
    let node = Node(in: context, name: "a")
    try context.save()
    context.undo.group("Edit") {
      node.name = "b"
      context.undo.group("Inner") { node.rank = 1 }
      node.note = "n"
    }
    context.undo.group("Second") { node.name = "c" }
    #expect(context.undo.undoName == "Second" && context.undo.redoName == nil)
    try context.undo.undo()
    #expect(node.name == "b" && context.undo.undoName == "Edit" && context.undo.redoName == "Second")
    try context.undo.undo()
    #expect(node.name == "a" && node.rank == 0 && node.note == "" && !context.hasChanges)
    try context.undo.redo()
    #expect(node.name == "b" && node.rank == 1 && node.note == "n")
    try context.undo.redo()
    #expect(node.name == "c" && !context.undo.canRedo)
  }

  @Test("what an undo brings back to its saved values is no change, and what it leaves changed stays one")
  func savedValues() throws {
    let (container, context) = try makeUndoable()
    let (node, other) = (Node(in: context, name: "a"), Node(in: context, name: "o"))
    try context.save()
    node.note = "seen"
    context.undo.group { (node.name, node.rank, other.rank) = ("b", 1, 1) }
    context.undo.group { (node.rank, other.rank) = (2, 2) }
    try context.undo.undo()
    #expect(node.rank == 1 && node.changedProperties == ["name", "rank"] && other.changedProperties == ["rank"])
    try context.undo.undo()
    #expect(!context.hasChanges && node.changedProperties.isEmpty && node.committed?.name == "a" && node.note == "seen")
    // A change after the undo is noted again, and a rollback knows the saved values.
    node.name = "c"
    #expect(node.changedProperties == ["name"])
    context.rollback()
    #expect(node.name == "a" && node.rank == 0 && !context.hasChanges)
    context.undo.group { node.name = "d" }
    try context.undo.undo()
    try context.undo.redo()
    #expect(node.changedProperties == ["name"])
    try context.save()
    #expect(try container.newContext().first(Node.where { $0.name == "d" })?.rank == 0)
  }

  @Test("outside of groups a step ends with the next group, with a save, and where one says so")
  func ungrouped() throws {
    let (_, context) = try makeUndoable()
    let node = Node(in: context, name: "a")
    try context.save()
    node.name = "b"
    context.undo.endStep("Rename")
    node.name = "c"
    context.undo.group("Rank") { node.rank = 1 }
    try context.undo.undo()
    #expect(node.rank == 0 && node.name == "c")
    try context.undo.undo()
    #expect(node.name == "b" && context.undo.undoName == "Rename")
    try context.undo.undo()
    #expect(node.name == "a")
    try context.undo.undo()
    #expect(try node.isDeleted && context.count(Node.all) == 0 && !context.undo.canUndo)
  }

  @Test("something new forgets what could be done again; within a group there is no undo")
  func newChanges() throws {
    let (_, context) = try makeUndoable()
    let node = Node(in: context, name: "a")
    try context.save()
    context.undo.group { node.name = "b" }
    try context.undo.undo()
    #expect(context.undo.canRedo)
    node.rank = 1
    #expect(!context.undo.canRedo)
    #expect(try !context.undo.redo() && node.name == "a")
    context.undo.beginGroup("open")
    node.rank = 2
    #expect(throws: ContextError.self) { try context.undo.undo() }
    context.undo.endGroup()
    context.undo.endGroup()
    try context.undo.undo()
    #expect(node.rank == 1)
  }

  @Test("only as many steps are kept as are asked for")
  func limit() throws {
    let context = try makeContext()
    let node = Node(in: context, rank: 0)
    context.undo.enable(limit: 3)
    for rank in 1...10 { context.undo.group { node.rank = Int64(rank) } }
    while try context.undo.undo() {}
    #expect(node.rank == 7)
  }

  @Test("a delete comes back with what it took along, in order, with the old identities, also after it was saved")
  func deletes() throws {
    let (container, context) = try makeUndoable()
    let nodes = (0..<5).map { Node(in: context, name: "\($0)") }
    nodes[0].children = [nodes[1], nodes[2], nodes[3]]
    nodes[2].children = [nodes[4]]
    nodes[2].friends = [nodes[3]]
    nodes[4].likes = [nodes[0], nodes[1]]
    nodes[1].twin = nodes[4]
    nodes[3].next = nodes[2]
    try context.save()
    let before = try GraphPicture(container.newContext())
    try context.undo.group("Delete") { try context.delete(nodes[2]) }
    try context.save()
    #expect(try container.newContext().count(Node.all) == 3)
    try context.undo.undo()
    #expect(nodes[2].isInserted && nodes[0].children.objects == [nodes[1], nodes[2], nodes[3]])
    #expect(try GraphPicture(context) == before)
    try context.save()
    #expect(try GraphPicture(container.newContext()) == before)
    try context.undo.redo()
    try context.save()
    #expect(try container.newContext().count(Node.all) == 3)
  }

  @Test("a saved insert is undone by a delete and done again with the same identity")
  func inserts() throws {
    let (container, context) = try makeUndoable()
    let parent = Node(in: context, name: "parent")
    try context.save()
    let child = Node(in: context, name: "child", parent: parent)
    let id = child.objectID
    try context.save()
    try context.undo.undo()
    #expect(parent.children.isEmpty && child.isDeleted)
    try context.save()
    #expect(try container.newContext().count(Node.all) == 1)
    try context.undo.redo()
    #expect(child.isInserted && parent.children.objects == [child] && child.name == "child")
    try context.save()
    #expect(try container.newContext().object(with: id)?.snapshot.name == "child")
  }

  @Test("what others save is no step and stays")
  func merges() throws {
    let (container, context) = try makeUndoable()
    let node = Node(in: context, name: "a", rank: 1)
    try context.save()
    context.undo.group { node.name = "b" }
    try context.save()
    let other = container.newContext()
    try other.first(Node.all)?.rank = 2
    try other.save()
    context.mergeChanges()
    #expect(node.rank == 2)
    try context.undo.undo()
    #expect(node.name == "a" && node.rank == 2)
    try context.save()
    #expect(try container.newContext().first(Node.all)?.snapshot.rank == 2)
  }

  @Test("rollback and reset clear the history")
  func cleared() throws {
    let (_, context) = try makeUndoable()
    let node = Node(in: context, name: "a")
    try context.save()
    node.name = "b"
    context.rollback()
    #expect(node.name == "a" && !context.undo.canUndo && !context.undo.canRedo)
    node.name = "c"
    #expect(context.undo.canUndo)
    context.reset()
    #expect(!context.undo.canUndo && context.undo.isEnabled)
  }

  @Test("rolling back or undeleting an object is a change like others, and can be undone")
  func smallRollbacks() throws {
    let (_, context) = try makeUndoable()
    let (a, b) = (Node(in: context, name: "a"), Node(in: context, name: "b"))
    a.children = [b]
    try context.save()
    context.undo.group {
      a.name = "x"
      a.children = []
    }
    try context.undo.group { try a.rollback() }
    #expect(a.name == "a" && a.children.objects == [b])
    try context.undo.undo()
    #expect(a.name == "x" && a.children.isEmpty)
    try context.undo.undo()
    try context.undo.group { try context.delete(a) }
    context.undo.group { context.undelete(a) }
    try context.undo.undo()
    #expect(a.isDeleted && b.isDeleted)
    try context.undo.undo()
    #expect(!a.isDeleted && a.children.objects == [b] && !context.hasChanges)
  }
}

/// Everything about the nodes and teams of a context, to be compared.
struct GraphPicture: Equatable {
  private var lines: [Int64: [String]] = [:]

  init(_ context: ManagedObjectContext) throws {
    for node in try context.fetch(Node.all) {
      let one = { (partner: Node?) in partner.map { "\($0.objectID.key)" } ?? "-" }
      let order = { (members: [Node]) in members.map { "\($0.objectID.key)" }.joined(separator: ",") }
      let set = { (members: [Node]) in members.map(\.objectID.key).sorted().map(String.init).joined(separator: ",") }
      lines[node.objectID.key] = [
        "\(node.name) \(node.rank)", "twin \(one(node.twin))", "next \(one(node.next))",
        "previous \(one(node.previous))",
        "parent \(one(node.parent))", "children \(order(node.children.objects))",
        "friends \(set(node.friends.objects))",
        "likes \(order(node.likes.objects))", "likedBy \(set(node.likedBy.objects))",
        "team \(node.team?.objectID.key ?? 0)", "guarded \(node.guarded?.objectID.key ?? 0)",
      ]
    }
    for team in try context.fetch(Team.all) {
      let set = { (members: [Node]) in members.map(\.objectID.key).sorted().map(String.init).joined(separator: ",") }
      lines[team.objectID.key] = [
        "\(team.name) \(team.size)", "members \(set(team.members.objects))", "guards \(set(team.guards.objects))",
      ]
    }
  }

  /// The lines in which two pictures differ.
  func differences(from other: GraphPicture) -> [String] {
    Set(lines.keys).union(other.lines.keys).sorted().flatMap { key in
      let (mine, theirs) = (lines[key] ?? ["nothing"], other.lines[key] ?? ["nothing"])
      return mine == theirs ? [] : zip(mine, theirs).filter { $0 != $1 }.map { "\(key): \($0) instead of \($1)" }
    }
  }
}
