import Testing
import Trellis
import TrellisRuntime

@Suite("Child contexts") struct ChildContextTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try makeContainer()
    context = container.newContext()
  }

  private func twin<Object: IdentifiedObject>(_ object: Object, in child: ManagedObjectContext) throws -> Object {
    try #require(try child.object(with: object.objectID))
  }

  // MARK: What a child sees

  @Test("a child sees what its parent holds, saved or not, as objects of its own")
  func seeing() throws {
    let saved = Node(in: context, name: "saved")
    let gone = Node(in: context, name: "gone")
    try context.save()
    saved.name = "changed"
    let new = Node(in: context, name: "new")
    new.parent = saved
    try context.delete(gone)
    let child = context.newChildContext()
    #expect(child.parent === context && context.parent == nil)
    let mine = try twin(saved, in: child)
    #expect(mine !== saved && mine.name == "changed" && !mine.hasChanges)
    #expect(mine.children.map(\.name) == ["new"] && mine.children.first?.parent === mine)
    #expect(try child.fetch(Node.all.sorted { $0.name }).map(\.name) == ["changed", "new"])
    #expect(try child.object(with: gone.objectID) == nil)
    #expect(try child.count(Node.where { $0.parent.name == "changed" }) == 1)
    #expect(try child.values(of: Node.all.sorted { $0.name }) { $0.name } == ["changed", "new"])
    #expect(try child.ids(of: Node.where { $0.name == "new" }) == [new.objectID])
    #expect(try child.snapshots(of: Node.where { $0.name == "new" }) == [new.snapshot])
    #expect(!child.hasChanges)
  }

  @Test("without changes in the parent the store answers keys, counts and values") func asking() throws {
    for name in ["a", "b", "c"] { _ = Node(in: context, name: name) }
    try context.save()
    context.reset()
    let child = context.newChildContext()
    #expect(try child.count(Node.where { $0.name != "b" }) == 2)
    #expect(try child.ids(of: Node.all).count == 3)
    #expect(try child.values(of: Node.all.sorted { $0.name.descending }) { $0.name } == ["c", "b", "a"])
    #expect(context.registeredCount == 0)
  }

  @Test("what the parent changes later is seen by the child's next fetch") func refetching() throws {
    let node = Node(in: context, name: "a")
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    node.name = "b"
    #expect(mine.name == "a")
    #expect(try child.fetch(Node.all).map(\.name) == ["b"] && mine.name == "b")
    try context.save()
    #expect(try child.fetch(Node.all) == [mine])
    try context.delete(node)
    #expect(try child.fetch(Node.all).isEmpty)
  }

  @Test("what others save reaches the child through its parent") func hearing() throws {
    let node = Node(in: context, name: "a")
    try context.save()
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    let other = container.newContext()
    try #require(try other.object(with: node.objectID)).name = "theirs"
    try other.save()
    child.mergeChanges()
    #expect(mine.name == "theirs" && node.name == "theirs")
  }

  // MARK: Saving and throwing away

  @Test("what is saved in a child is unsaved in its parent, under the same identity") func saving() throws {
    let node = Node(in: context, name: "old")
    let other = Node(in: context, name: "other")
    try context.save()
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    mine.name = "edited"
    let made = Node(in: child, name: "made", parent: mine)
    try child.delete(try twin(other, in: child))
    #expect(node.name == "old" && !context.hasChanges && context.insertedObjects.isEmpty)
    try child.save()
    #expect(!child.hasChanges && made.objectID == node.children.first?.objectID)
    #expect(node.name == "edited" && node.changedProperties.contains("name") && other.isDeleted)
    #expect(context.insertedObjects.count == 1 && context.deletedObjects == [other])
    #expect(try container.newContext().fetch(Node.all.sorted { $0.name }).map(\.name) == ["old", "other"])
    try context.save()
    #expect(try container.newContext().fetch(Node.all.sorted { $0.name }).map(\.name) == ["edited", "made"])
  }

  @Test("a child that is dropped leaves no trace") func throwingAway() throws {
    let node = Node(in: context, name: "old")
    try context.save()
    do {
      let child = context.newChildContext()
      let mine = try twin(node, in: child)
      mine.name = "edited"
      mine.children.append(Node(in: child))
      try child.delete(mine)
    }
    #expect(node.name == "old" && node.children.isEmpty && !context.hasChanges)
    #expect(try context.count(Node.all) == 1)
  }

  @Test("a child can be saved again and again") func again() throws {
    let node = Node(in: context)
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    for rank in 1...3 {
      mine.rank = Int64(rank)
      let new = Node(in: child, name: "\(rank)", parent: mine)
      try child.save()
      new.name += "!"
      try child.save()
      #expect(node.rank == rank && node.children.last?.name == "\(rank)!")
      if rank == 2 { try context.save() }
    }
    try child.delete(mine)
    try child.save()
    #expect(node.isDeleted && context.deletedObjects.count == 3)
    try context.save()
    #expect(try container.newContext().count(Node.all) == 0)
  }

  @Test("children of children hand up one level at a time") func nested() throws {
    let node = Node(in: context, name: "0")
    let child = context.newChildContext()
    let grandchild = child.newChildContext()
    let mine = try twin(node, in: child)
    let deep = try twin(node, in: grandchild)
    deep.name = "2"
    let made = Node(in: grandchild, name: "made", parent: deep)
    try grandchild.save()
    #expect(mine.name == "2" && node.name == "0" && mine.children.count == 1 && node.children.isEmpty)
    try child.save()
    #expect(node.name == "2" && node.children.map(\.objectID) == [made.objectID])
    try context.save()
    #expect(try container.newContext().count(Node.where { $0.parent.name == "2" }) == 1)
  }

  @Test("nobody beside the parent hears of a child's save") func silence() throws {
    let other = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    let theirs = try twin(node, in: other)
    let child = context.newChildContext()
    try twin(node, in: child).name = "b"
    try child.save()
    other.mergeChanges()
    #expect(!theirs.isFault && theirs.name == "a")
  }

  @Test("transient values do not cross") func transients() throws {
    let node = Node(in: context)
    node.note = "parent's"
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    #expect(mine.note == "")
    mine.note = "child's"
    mine.rank = 1
    try child.save()
    #expect(node.note == "parent's" && node.rank == 1)
  }

  // MARK: Undo

  @Test("a child's save is one step of its parent's history") func undoing() throws {
    context.undo.enable()
    let node = Node(in: context, name: "a")
    context.undo.endStep()
    node.rank = 7
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    mine.name = "b"
    mine.children.append(Node(in: child, name: "c"))
    try child.save()
    try context.undo.undo()
    #expect(node.name == "a" && node.children.isEmpty && node.rank == 7)
    try context.undo.redo()
    #expect(node.name == "b" && node.children.map(\.name) == ["c"])
    try context.undo.undo()
    try context.undo.undo()
    #expect(node.rank == 0 && node.name == "a")
  }

  @Test("what the child undoes after its save comes back in the parent under its identity") func childUndo() throws {
    let node = Node(in: context, name: "a")
    let leaf = Node(in: context, name: "leaf", parent: node)
    try context.save()
    let child = context.newChildContext()
    child.undo.enable()
    try child.delete(try twin(node, in: child))
    try child.save()
    #expect(node.isDeleted && leaf.isDeleted)
    try child.undo.undo()
    try child.save()
    #expect(!node.isDeleted && node.children.objects == [leaf])
    try context.save()
    #expect(try container.newContext().count(Node.where { $0.parent.name == "a" }) == 1)
  }

  // MARK: Rules

  @Test("rules are asked in the child, and a refusal leaves both as they were") func validating() throws {
    let team = Team(in: context, size: 1)
    let child = context.newChildContext()
    let mine = try twin(team, in: child)
    mine.size = 99
    let failures = #expect(throws: ValidationError.self) { try child.save() }?.failures ?? []
    #expect(failures.map(\.property) == ["size"] && failures.map(\.entity) == ["Team"])
    #expect(team.size == 1 && mine.size == 99 && mine.hasChanges)
    mine.size = 9
    try child.save()
    #expect(team.size == 9)
  }

  @Test("rules are asked again in the parent, of what came together there") func validatingAgain() throws {
    let team = Team(in: context)
    try context.save()
    let child = context.newChildContext()
    let mine = try twin(team, in: child)
    mine.members = ToMany((0..<2).map { _ in Node(in: child) })
    team.members = ToMany((0..<2).map { _ in Node(in: context) })
    try child.save()
    #expect(team.members.count == 4)
    let failures = #expect(throws: ValidationError.self) { try context.save() }?.failures ?? []
    #expect(failures.map(\.rule) == [.maximumCount])
  }

  @Test("deny is judged in the child by what the parent holds") func denying() throws {
    let team = Team(in: context)
    try context.save()
    let guardian = Node(in: context, guarded: team)
    let child = context.newChildContext()
    try child.delete(try twin(team, in: child))
    let failures = #expect(throws: ValidationError.self) { try child.save() }?.failures ?? []
    #expect(failures.map(\.rule) == [.deniedDelete] && failures.first?.blockers.map(\.key) == [guardian.objectID.key])
    #expect(!team.isDeleted)
  }

  @Test("a delete takes along in the parent what the child did not know") func deletingMore() throws {
    let node = Node(in: context)
    try context.save()
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    try child.delete(mine)
    let late = Node(in: context, parent: node)
    try child.save()
    #expect(node.isDeleted && late.isDeleted && context.insertedObjects.isEmpty)
    try context.save()
    #expect(try container.newContext().count(Node.all) == 0)
  }

  @Test("a large cascade that the child leaves to its store is done by the parent") func largeCascade() throws {
    let node = Node(in: context)
    node.children = OrderedToMany((0..<20).map { _ in Node(in: context) })
    try context.save()
    context.reset()
    let child = context.newChildContext()
    child.graph.fewMembers = 5
    context.graph.fewMembers = 5
    try child.delete(try #require(try child.first(Node.all)))
    try child.save()
    try context.save()
    #expect(try container.newContext().count(Node.all) == 0)
  }

  @Test("a partner that the parent has deleted meanwhile is refused by name") func lostPartner() throws {
    let node = Node(in: context)
    let team = Team(in: context)
    try context.save()
    let child = context.newChildContext()
    try twin(node, in: child).team = try twin(team, in: child)
    try context.delete(team)
    let failures = #expect(throws: ValidationError.self) { try child.save() }?.failures ?? []
    #expect(failures.map(\.rule) == [.deletedPartner] && failures.map(\.property) == ["team"])
    #expect(node.team == nil && !node.hasChanges)
  }

  @Test("a member that the parent has deleted meanwhile is refused by name") func lostMember() throws {
    let node = Node(in: context)
    let friend = Node(in: context)
    try context.save()
    let child = context.newChildContext()
    try twin(node, in: child).friends.append(try twin(friend, in: child))
    try context.delete(friend)
    let failures = #expect(throws: ValidationError.self) { try child.save() }?.failures ?? []
    #expect(failures.map(\.rule).contains(.deletedPartner))
    #expect(node.friends.isEmpty)
  }

  // MARK: Moments at which nothing works

  @Test("a child cannot be pinned, and says so") func pinning() throws {
    let child = context.newChildContext()
    let error = #expect(throws: StoreError.self) { try child.pinned { _ in } }
    #expect(error?.code == .unsupported)
  }

  @Test("changes of many objects at once are for contexts that have a store") func setChanges() throws {
    let node = Node(in: context, name: "kept")
    try context.save()
    let child = context.newChildContext()
    let update = #expect(throws: StoreError.self) { try child.updateAll(Node.all) { $0.name.set("other") } }
    #expect(update?.code == .unsupported)
    let delete = #expect(throws: StoreError.self) { try child.deleteAll(Node.all) }
    #expect(delete?.code == .unsupported)
    #expect(node.name == "kept" && !node.isDeleted)
  }

  @Test("a child discards changes that its parent refuses") func discarding() throws {
    let node = Node(in: context)
    let friend = Node(in: context)
    try context.save()
    let child = context.newChildContext()
    let mine = try twin(node, in: child)
    mine.name = "valid"
    mine.friends.append(try twin(friend, in: child))
    try context.delete(friend)
    #expect(try !child.saveValidChanges().isEmpty)
    #expect(node.friends.isEmpty)
  }

  @Test("a child outlives the variable that held its parent") func lifetime() throws {
    var parent: ManagedObjectContext? = container.newContext()
    let child = try #require(parent).newChildContext()
    parent = nil
    _ = Node(in: child, name: "kept")
    try child.save()
    try child.parent?.save()
    #expect(try context.fetch(Node.all).map(\.name) == ["kept"])
  }
}
