import Testing
import Trellis
import TrellisTestSupport

@Suite("Objects that return after their delete was saved") struct ReturnedObjectTests {
  /// A context and its descendants, the last of which undoes.
  private func makeContexts(_ levels: Int) throws -> (PersistentContainer, [ManagedObjectContext]) {
    let container = try PersistentContainer(model: .rules, store: .memory, log: nil)
    var contexts = [container.newContext()]
    for _ in 0..<levels { contexts.append(contexts[contexts.count - 1].newChildContext()) }
    contexts[levels].undo.enable()
    return (container, contexts)
  }

  /// Saves the deletes of two objects and undoes the second.
  private func deleteAndGetBack(
    _ owner: ManyParent, without member: ManyChild, in context: ManagedObjectContext
  ) throws {
    try context.delete(member)
    context.undo.endStep()
    try context.delete(owner)
    context.undo.endStep()
    try context.save()
    try context.undo.undo()
  }

  @Test("each level above shows the references that were left to it", arguments: [0, 1, 2, 3])
  func referencesLeft(_ levels: Int) throws {
    let (container, contexts) = try makeContexts(levels)
    let context = contexts[levels]
    let (left, right) = (OneLeft(in: context), OneRight(in: context))
    for context in contexts.reversed() { try context.save() }
    left.oneNoActionNoAction = right
    context.undo.endStep()
    try context.delete(right)
    for context in contexts.reversed() { try context.save() }
    try context.undo.undo()
    #expect(right.oneNoActionNoAction === left)
    for (level, context) in contexts.enumerated().reversed() {
      let twin = try #require(try context.object(with: right.objectID), "level \(level)")
      #expect(twin.oneNoActionNoAction?.objectID == left.objectID, "level \(level)")
      try context.save()
    }
    let reader = container.newContext()
    #expect(try reader.fetch(OneRight.all).map { $0.oneNoActionNoAction?.objectID } == [left.objectID])
  }

  @Test("each level above shows one-way references to it again", arguments: [0, 1, 2, 3])
  func oneWayReferences(_ levels: Int) throws {
    let (container, contexts) = try makeContexts(levels)
    let context = contexts[levels]
    let (first, second, target) = (Holder(in: context), Holder(in: context), Target(in: context))
    for context in contexts.reversed() { try context.save() }
    first.oneCascade = target
    second.oneCascade = target
    context.undo.endStep()
    try context.save()
    try context.delete(first)
    try context.save()
    #expect(target.isDeleted || target.managedObjectContext == nil)
    try context.undo.undo()
    #expect(second.oneCascade === target)
    first.oneCascade = nil
    try context.delete(first)
    for (level, context) in contexts.enumerated().reversed() {
      try context.save()
      let twin = try #require(try context.object(with: second.objectID), "level \(level)")
      #expect(twin.oneCascade?.objectID == target.objectID, "level \(level)")
    }
    let reader = container.newContext()
    #expect(try reader.fetch(Holder.all).map { $0.oneCascade?.objectID } == [target.objectID])
  }

  @Test("an object that returns without a deleted one does not deny the delete of that one", arguments: [0, 1, 2])
  func deniedBefore(_ levels: Int) throws {
    let (container, contexts) = try makeContexts(levels)
    let context = contexts[levels]
    let (owner, member) = (ManyParent(in: context), ManyChild(in: context))
    owner.setNullifyDeny = [member]
    for context in contexts.reversed() { try context.save() }
    try deleteAndGetBack(owner, without: member, in: context)
    #expect(owner.setNullifyDeny.isEmpty)
    for context in contexts.reversed() { try context.save() }
    let reader = container.newContext()
    #expect(try reader.count(ManyChild.all) == 0)
    #expect(try reader.fetch(ManyParent.all).map(\.setNullifyDeny.count) == [0])
  }

  @Test("a rollback of the parent gives a deleted object the partner that had returned without it")
  func rolledBack() throws {
    let contexts = try makeContexts(1).1
    let (parent, child) = (contexts[0], contexts[1])
    let (owner, member) = (ManyParent(in: child), ManyChild(in: child))
    owner.setNullifyDeny = [member]
    try child.save()
    try parent.save()
    try deleteAndGetBack(owner, without: member, in: child)
    try child.save()
    parent.rollback()
    let twin = try #require(try parent.object(with: member.objectID))
    #expect(twin.setNullifyDeny?.objectID == owner.objectID)
    #expect(twin.setNullifyDeny?.setNullifyDeny.count == 1 && !parent.hasChanges)
  }
}
