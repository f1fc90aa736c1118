import Testing
import Trellis

/// What the random graphs have shown.
@Suite("Undo of what random graphs did") struct UndoCaseTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    context = container.newContext()
  }

  @Test(
    "an object that was deleted and brought back in one step stays when the step is undone", arguments: [false, true])
  func deleteAndUndelete(saved: Bool) throws {
    let tree = Tree(in: context)
    if saved { try context.save() }
    context.undo.enable()
    try context.delete(tree)
    context.undelete(tree)
    try context.undo.undo()
    #expect(!tree.isDeleted && tree.managedObjectContext === context)
    #expect(try context.fetch(Tree.all) == [tree])
  }

  /// Two saved objects, and their one-to-one, which lies at the left.
  private func makePair() throws -> (OneLeft, OneRight) {
    let pair = (OneLeft(in: context), OneRight(in: context))
    try context.save()
    context.undo.enable()
    return pair
  }

  @Test("an undone link leaves the unsaved ones alone, whatever is loaded anew", arguments: [false, true])
  func otherLinks(drops: Bool) throws {
    let (left, right) = try makePair()
    let id = right.objectID
    left.oneDenyDeny = right
    context.undo.endStep()
    left.oneDenyNullify = right
    try context.undo.undo()
    if drops { context.dropUnusedObjects() } else { context.refreshAll() }
    #expect(try context.object(with: id)?.oneDenyDeny === left)
    #expect(right.oneDenyNullify == nil)
  }

  @Test("a rollback brings back a saved link that was undone, at both ends")
  func rollbackAfterUndo() throws {
    let (left, right) = try makePair()
    left.oneNullifyNullify = right
    try context.save()
    try context.undo.undo()
    #expect(left.oneNullifyNullify == nil && right.oneNullifyNullify == nil)
    context.rollback()
    #expect(left.oneNullifyNullify === right && right.oneNullifyNullify === left)
  }

  @Test("a one-way to-many that holds its own object comes back with it", arguments: [false, true])
  func ownMember(saves: Bool) throws {
    let arrow = Arrow(in: context)
    arrow.setDeny = [arrow]
    try context.save()
    context.undo.enable()
    try context.delete(arrow)
    if saves { try context.save() } else { try arrow.validate() }
    try context.undo.undo()
    #expect(arrow.setDeny.objects == [arrow])
  }
}
