import Testing
import Trellis

@Suite("Members that return") struct ReturnedMemberTests {
  private let context: ManagedObjectContext
  private let container: PersistentContainer

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    context = container.newContext()
  }

  @Test(
    "The undo of a saved delete stores the pairs of one-way to-manys again",
    arguments: [true, false], [true, false])
  func undone(isHeld: Bool, isRead: Bool) throws {
    var owners: [Holder] = [Holder(in: context), Holder(in: context)]
    let ids = owners.map(\.objectID)
    let (member, other) = (Target(in: context), Target(in: context))
    owners[0].setNullify = [member, other]
    owners[1].listNullify = [other, member]
    try context.save()
    context.undo.enable()
    try context.delete(member)
    context.undo.endStep()
    if isRead { #expect(owners[0].setNullify.count == 1 && owners[1].listNullify.count == 1) }
    try context.save()
    if !isHeld { owners = [] }
    try context.undo.undo()
    for isStored in [false, true] {
      let context = isStored ? container.newContext() : context
      let found = try ids.map { try #require(try context.object(with: $0)) }
      #expect(Set(found[0].setNullify.map(\.objectID)) == [member.objectID, other.objectID], "stored: \(isStored)")
      #expect(found[1].listNullify.map(\.objectID) == [other.objectID, member.objectID], "stored: \(isStored)")
      if !isStored { try self.context.save() }
    }
    try context.undo.redo()
    try context.save()
    let last = container.newContext()
    #expect(try last.object(with: ids[1])?.listNullify.map(\.objectID) == [other.objectID])
  }

  @Test("What a child has deleted and inserted again has the members in the parent that it has in the child")
  func insertedAgain() throws {
    let rules = try Rules()
    for shape in rules.shapes.all where shape.isToMany && shape.inverse == nil && shape.minimum == nil {
      let live = LiveGraph(container, rules, holdsObjects: true, undoes: true, levels: 1)
      var duel = Duel(rules.shapes, live, touched: [shape])
      let inserts: [Operation] = [.insert(entity: shape.entity), .insert(entity: shape.destination)]
      for operation in inserts + [.append(1, shape, 2), .save, .delete(2), .save, .undo, .undo, .save] {
        try duel.apply(operation)
        try duel.compareContext()
      }
      let parent = try #require(live.context.parent)
      let owner = try #require(try live.find(1, in: parent))
      #expect(live.reading(owner, shape) == [], "\(shape.entity).\(shape.name)")
    }
  }
}
