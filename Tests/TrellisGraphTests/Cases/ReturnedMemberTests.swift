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

  @Test(
    "Members that one delete has taken return to their places together", arguments: [false, true],
    [[3, 4], [4, 5], [3, 5, 6]])
  func returnTogether(isSavedBefore: Bool, gone: [Int]) throws {
    let rules = try Rules()
    let shapes = rules.shapes.all.filter { $0.isToMany && isFree($0, rules) }
    var count = 0
    for list in shapes where list.isOrdered {
      let taker = shapes.first { shape in
        shape.rule == .cascade && shape.destination == list.destination && shape.index != list.index
          && shape.index != list.inverse
      }
      guard let taker else { continue }
      count += 1
      let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
      let live = LiveGraph(container, rules, holdsObjects: true, undoes: true)
      var duel = Duel(rules.shapes, live, touched: [list, taker])
      var operations = [taker.entity, list.entity].map { Operation.insert(entity: $0) }
      operations += (0..<4).map { _ in .insert(entity: list.destination) }
      operations += [.replace(2, list, [3, 4, 5, 6]), .replace(1, taker, gone)]
      if isSavedBefore { operations.append(.save) }
      for operation in operations + [.delete(1), .save, .undo] { try duel.apply(operation) }
      try duel.compareContext()
      for operation in [Operation.save, .undo, .redo] { try duel.apply(operation) }
      try duel.compareAll()
    }
    #expect(count > 20)
  }

  /// Whether objects can be without partners in a relationship.
  private func isFree(_ shape: Shape, _ rules: Rules) -> Bool {
    shape.minimum == nil && shape.maximum == nil && rules.shapes.inverse(of: shape)?.isRequired != true
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
