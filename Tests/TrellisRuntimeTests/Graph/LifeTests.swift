import Testing
import Trellis
import TrellisTestSupport

@Suite("The life of objects") struct LifeTests {
  @Test("there is one object for each identity in a context, and another in another")
  func identity() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    #expect(try context.first(Node.all) === node)
    #expect(try context.object(with: node.objectID) === node)
    let other = container.newContext()
    #expect(try other.first(Node.all) !== node)
    #expect(try other.first(Node.all)?.objectID == node.objectID)
  }

  @Test("identities are permanent from birth")
  func permanentIdentity() throws {
    let context = try makeContext()
    let node = Node(in: context)
    let id = node.objectID
    try context.save()
    #expect(node.objectID == id && context.registeredObject(with: id) === node)
  }

  @Test("an object that another context has deleted is registered until this context merges that save")
  func registeredAfterDelete() throws {
    let container = try makeContainer()
    let (context, other) = (container.newContext(), container.newContext())
    let node = Node(in: context, name: "a")
    try context.save()
    try other.delete(#require(try other.object(with: node.objectID)))
    try other.save()
    #expect(context.registeredObject(with: node.objectID) === node)
    context.mergeChanges()
    #expect(context.registeredObject(with: node.objectID) == nil && node.isDeleted && node.name == "a")
  }

  @Test("changes are told by property, and a value set back is none")
  func changes() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a", rank: 1)
    #expect(node.isInserted && context.hasChanges && node.committed == nil)
    try context.save()
    #expect(!node.hasChanges && !context.hasChanges)
    node.name = "b"
    #expect(node.isUpdated && node.changedProperties == ["name"])
    #expect(node.committed?.name == "a" && node.snapshot.name == "b")
    node.name = "a"
    #expect(!node.hasChanges && !context.hasChanges && node.changedProperties.isEmpty)
  }

  @Test("composed and decomposed spellings are different values")
  func bytesCount() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "\u{E9}")
    try context.save()
    node.name = "e\u{301}"
    #expect(node.changedProperties == ["name"])
    try context.save()
    #expect(try context.count(Node.where { $0.name == "\u{E9}" }) == 0)
    #expect(try context.count(Node.where { $0.name == "e\u{301}" }) == 1)
  }

  @Test("transient attributes are no changes to save")
  func transient() throws {
    let context = try makeContext()
    let node = Node(in: context)
    try context.save()
    node.note = "seen"
    #expect(node.note == "seen" && !node.hasChanges)
  }

  @Test("committed values and to-manys are kept side by side, whichever come first", arguments: 0..<6)
  func notes(order: Int) throws {
    let container = try makeContainer()
    let first = container.newContext()
    let (a, b, c) = (Node(in: first, name: "a"), Node(in: first, name: "b"), Node(in: first, name: "c"))
    a.children = [b]
    a.friends = [c]
    try first.save()
    let context = container.newContext()
    let node = try #require(try context.object(with: a.objectID))
    let steps: [() -> Void] = [
      { node.name = "changed" }, { #expect(node.children.map(\.name) == ["b"]) },
      { #expect(node.friends.map(\.name) == ["c"]) },
    ]
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    for step in orders[order] { steps[step]() }
    #expect(node.committed?.name == "a" && node.changedProperties == ["name"])
    node.children.removeAll()
    #expect(node.changedProperties.contains("name") && node.friends.count == 1)
    context.rollback()
    #expect(node.name == "a" && node.children.map(\.name) == ["b"] && node.friends.map(\.name) == ["c"])
    #expect(!context.hasChanges)
    node.name = "saved"
    node.friends.append(try #require(node.children.first))
    try context.save()
    #expect(!node.hasChanges && node.committed?.name == "saved" && node.friends.count == 2 && node.children.count == 1)
    context.refreshAll()
    #expect(node.name == "saved" && node.friends.count == 2)
  }

  @Test("rollback takes back inserts, edits, links and deletes")
  func rollback() throws {
    let context = try makeContext()
    let (a, b, c) = (Node(in: context, name: "a"), Node(in: context, name: "b"), Node(in: context, name: "c"))
    a.children = [b]
    a.friends = [c]
    try context.save()
    let new = Node(in: context, name: "new")
    a.children.append(new)
    a.children.append(c)
    a.friends = []
    b.name = "changed"
    try context.delete(b)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(a.children.objects == [b] && b.parent === a && b.name == "b" && !b.isDeleted)
    #expect(a.friends.objects == [c] && c.friends.objects == [a] && c.parent == nil)
    #expect(new.managedObjectContext == nil)
    #expect(try context.count(Node.all) == 3)
  }

  @Test("a deleted object keeps its values and ignores writes, which is reported")
  func deleted() throws {
    let problems = ReportedErrors()
    let container = try PersistentContainer(model: .shapes, store: .memory) { problems.add($0) }
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    try context.delete(node)
    #expect(node.isDeleted && node.name == "a")
    node.name = "b"
    #expect(node.name == "a" && problems.codes == [.ignoredWrite])
    try context.save()
    #expect(node.isDeleted && node.name == "a" && node.managedObjectContext == nil)
  }

  @Test("who was deleted is deleted, saved or not; who was let go of alive is not")
  func isDeleted() throws {
    let context = try makeContext()
    let (saved, deleted) = (Node(in: context), Node(in: context))
    try context.save()
    let (withdrawn, rolledBack) = (Node(in: context), Node(in: context))
    try context.delete(withdrawn)
    #expect(withdrawn.isDeleted && !context.deletedObjects.contains(withdrawn))
    context.rollback()
    #expect(withdrawn.isDeleted && !rolledBack.isDeleted)
    try context.delete(deleted)
    try context.save()
    context.reset()
    #expect(deleted.isDeleted && !saved.isDeleted)
    #expect(saved.managedObjectContext == nil && rolledBack.managedObjectContext == nil)
  }

  @Test("objects outlive their context: values stay readable, writes are ignored")
  func contextGone() throws {
    var context: ManagedObjectContext? = try makeContext()
    let node = try Node(in: #require(context), name: "a")
    let child = try Node(in: #require(context), name: "b")
    node.children = [child]
    context = nil
    #expect(node.name == "a" && node.managedObjectContext == nil)
    node.name = "b"
    #expect(node.name == "a" && child.parent == nil && node.children.isEmpty)
    node.children.append(child)
    node.parent = child
  }

  @Test("after reset loaded values stay readable")
  func reset() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a")
    try context.save()
    context.reset()
    #expect(node.name == "a" && context.registeredCount == 0)
    #expect(try context.first(Node.all) !== node)
  }

  @Test("refresh reads the row again, edits on top unless they are discarded")
  func refresh() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let node = Node(in: context, name: "a", rank: 1)
    try context.save()
    let other = container.newContext()
    try other.object(with: node.objectID)?.rank = 2
    try other.save()
    node.name = "mine"
    try context.refresh(node)
    #expect(node.name == "mine" && node.rank == 2 && node.changedProperties == ["name"])
    try context.refresh(node, discardingChanges: true)
    #expect(node.name == "a" && !node.hasChanges)
  }

  @Test("an edited object that somebody else deleted is deleted by a refresh, and no longer in the way of a save")
  func refreshingTheGone() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let (kept, gone) = (Node(in: context, name: "kept"), Node(in: context, name: "gone"))
    try context.save()
    let other = container.newContext()
    try other.delete(#require(try other.object(with: gone.objectID)))
    try other.save()
    (kept.rank, gone.rank) = (1, 1)
    #expect(throws: SaveConflict.self) { try context.save() }
    for object in context.updatedObjects { try context.refresh(object) }
    #expect(gone.isDeleted && gone.name == "gone")
    try context.save()
    #expect(try container.newContext().fetch(Node.all).map(\.rank) == [1])
  }

  @Test("a delete that conflicts is given up by a rollback")
  func conflictingDelete() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    let other = container.newContext()
    let theirs = try #require(try other.object(with: node.objectID))
    try other.delete(theirs)
    node.name = "b"
    try context.save()
    #expect(throws: SaveConflict.self) { try other.save() }
    other.rollback()
    try other.refresh(theirs)
    try other.delete(theirs)
    try other.save()
    #expect(try container.newContext().count(Node.all) == 0)
  }

  @Test("unused objects are dropped, held and changed ones stay")
  func sweeping() throws {
    let container = try makeContainer()
    let context = container.newContext()
    for number in 0..<100 { _ = Node(in: context, name: "\(number)") }
    try context.save()
    #expect(context.registeredCount == 100)
    let held = try #require(try context.first(Node.where { $0.name == "7" }))
    try context.first(Node.where { $0.name == "8" })?.rank = 1
    context.dropUnusedObjects()
    #expect(context.registeredCount == 2)
    #expect(try context.first(Node.where { $0.name == "7" }) === held)
    try context.save()
    #expect(try context.first(Node.where { $0.rank == 1 })?.name == "8")
  }

  @Test("other contexts take over saves, and keep their own edits")
  func merging() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let (a, b, c) = (Node(in: context, name: "a"), Node(in: context, name: "b"), Node(in: context, name: "c"))
    a.children = [b]
    try context.save()
    let other = container.newContext()
    let theirs = try other.fetch(Node.all)
    theirs[0].name = "edited"
    #expect(theirs[0].children.count == 1)
    b.name = "changed"
    a.name = "also changed"
    c.parent = b
    try context.save()
    try context.delete(c)
    try context.save()
    other.mergeChanges()
    #expect(theirs[0].name == "edited" && theirs[1].name == "changed")
    #expect(theirs[2].isDeleted && theirs[2].name == "c")
    #expect(throws: SaveConflict.self) { try other.save() }
  }

  @Test("work beside the main actor is seen by the main context when it is done") @MainActor
  func performing() async throws {
    let container = try makeContainer()
    let main = container.mainContext
    let node = Node(in: main, name: "a")
    try main.save()
    let id = node.objectID
    let names = try await container.perform { context in
      try context.object(with: id)?.name = "b"
      try context.save()
      return try context.fetch(Node.all).map(\.snapshot.name)
    }
    #expect(names == ["b"] && node.name == "b")
  }
}
