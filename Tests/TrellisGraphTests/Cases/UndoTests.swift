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

  @Test("a link whose former partner the store cannot tell stays as it was, and nothing is half done")
  func failedRead() throws {
    let failure = FailureSwitch()
    let container = try PersistentContainer(model: .rules, store: StoreConfiguration.memory.failing(failure)) { _ in }
    let context = container.newContext()
    let (left, other, right) = (OneLeft(in: context), OneLeft(in: context), OneRight(in: context))
    try context.save()
    context.undo.enable()
    left.oneCascadeCascade = right
    try context.save()
    context.undo.endStep()
    context.refreshAll()
    #expect(!right.isDeleted && left.oneCascadeCascade === right)
    failure.set(.call(0))
    right.oneCascadeCascade = other
    #expect(failure.failures == 1)
    #expect(throws: ContextError.self) { try context.fetch(OneLeft.all) }
    #expect(right.oneCascadeCascade === left && left.oneCascadeCascade === right)
    right.oneCascadeCascade = other
    #expect(other.oneCascadeCascade === right && left.oneCascadeCascade == nil)
    context.undo.endStep()
    try context.undo.undo()
    #expect(right.oneCascadeCascade === left && left.oneCascadeCascade === right)
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

  @Test("who left a many-to-many before it was deleted is no member when it is back, whatever was loaded meanwhile")
  func leftBefore() throws {
    let (one, two) = (Mesh(in: context), Mesh(in: context))
    one.likesBothNoActionDeny = [two]
    try context.save()
    context.undo.enable()
    one.likesBothNoActionDeny.remove(two)
    context.undo.endStep()
    try context.delete(one)
    try context.refresh(two, discardingChanges: true)
    try context.undo.undo()
    #expect(one.likesBothNoActionDeny.isEmpty && two.likedByBothNoActionDeny.isEmpty)
  }

  @Test("what no action left behind comes back with its object")
  func leftBehind() throws {
    let (link, other) = (Link(in: context), Link(in: context))
    link.nextNoActionNoAction = other
    try context.save()
    try context.delete(other)
    try context.save()
    context.undo.enable()
    try context.delete(link)
    try context.save()
    try context.undo.undo()
    try context.save()
    #expect(link.nextNoActionNoAction == nil && link.snapshot.nextNoActionNoAction == other.objectID)
  }

  @Test("a former partner that is gone from the store is none again")
  func lostPartner() throws {
    let links = (0..<3).map { _ in Link(in: context) }
    links[0].nextNoActionDeny = links[1]
    try context.save()
    try context.delete(links[1])
    context.undo.enable()
    links[0].nextNoActionDeny = links[2]
    try context.save()
    try context.undo.undo()
    #expect(links[0].nextNoActionDeny == nil && links[0].snapshot.nextNoActionDeny == nil)
    try context.save()
    try context.undo.redo()
    #expect(links[0].nextNoActionDeny === links[2])
  }

  @Test("an order that a refresh gives up comes back by undo")
  func discardedOrder() throws {
    let (one, two) = (Tree(in: context), Tree(in: context))
    one.childrenListNoActionNullify = [one, two]
    try context.save()
    context.undo.enable()
    one.childrenListNoActionNullify.append(one)
    context.undo.endStep()
    try context.refresh(one, discardingChanges: true)
    #expect(one.childrenListNoActionNullify.objects == [one, two])
    try context.undo.undo()
    #expect(one.childrenListNoActionNullify.objects == [two, one])
    try context.undo.undo()
    #expect(one.childrenListNoActionNullify.objects == [one, two])
  }

  @Test("a member that a one-way to-many has moved is back where it was when its delete is taken back")
  func movedMember() throws {
    let arrows = (0..<3).map { _ in Arrow(in: context) }
    arrows[1].listDeny = [arrows[2], arrows[0]]
    try context.save()
    let other = container.newContext()
    let same = try other.fetch(Arrow.all)
    same[1].listDeny.append(same[2])
    try other.delete(same[0])
    #expect(same[1].listDeny.objects == [same[2]])
    other.undelete(same[0])
    #expect(same[1].listDeny.objects == [same[0], same[2]])
  }

  @Test("an object that is its own member is one again when its saved delete is undone", arguments: [0, 1, 2])
  func ownMember(levels: Int) throws {
    let child = (0..<levels).reduce(context) { parent, _ in parent.newChildContext() }
    child.undo.enable()
    let arrow = Arrow(in: child)
    arrow.listDeny.append(arrow)
    child.undo.endStep()
    try child.save()
    try child.delete(arrow)
    child.undo.endStep()
    try child.save()
    try child.undo.undo()
    #expect(arrow.listDeny.objects == [arrow])
    #expect(try child.fetch(Arrow.all) == [arrow])
    #expect(arrow.listDeny.objects == [arrow])
    try child.save()
    #expect(arrow.listDeny.objects == [arrow])
  }

  @Test("a member whose changes are discarded returns behind the one that it followed, which was added again meanwhile")
  func memberBesideOneAddedAgain() throws {
    let left = PeerLeft(in: context)
    let (first, second) = (PeerRight(in: context), PeerRight(in: context))
    left.listDenyCascade = [first, second]
    try context.save()
    left.listDenyCascade = []
    first.listDenyCascade.append(left)
    try context.refresh(second, discardingChanges: true)
    #expect(left.listDenyCascade.objects == [first, second])
    try context.save()
    try context.refresh(left)
    #expect(left.listDenyCascade.objects == [first, second])
  }

  @Test("a deleted member comes back where it was, though the order around it was given up meanwhile")
  func memberOfDiscardedOrder() throws {
    let left = PeerLeft(in: context)
    let (first, second) = (PeerRight(in: context), PeerRight(in: context))
    left.bothNoActionDeny = [first, second]
    try context.save()
    context.undo.enable()
    left.bothNoActionDeny = [second, first]
    context.undo.endStep()
    try context.delete(second)
    context.undo.endStep()
    try context.refresh(left, discardingChanges: true)
    #expect(left.bothNoActionDeny.objects == [first])
    try context.undo.undo()
    #expect(left.bothNoActionDeny.objects == [second, first])
  }

  @Test("a member whose move was undone has not moved for those that come back beside it")
  func memberBesideUndoneMove() throws {
    let right = PeerRight(in: context)
    let (first, second) = (PeerLeft(in: context), PeerLeft(in: context))
    right.bothNoActionDeny = [first, second]
    try context.save()
    context.undo.enable()
    right.bothNoActionDeny.append(first)
    #expect(right.bothNoActionDeny.objects == [second, first])
    try context.undo.undo()
    right.bothNoActionDeny.remove(second)
    try context.refresh(second, discardingChanges: true)
    #expect(right.bothNoActionDeny.objects == [first, second])
    try context.save()
    try context.refresh(right)
    #expect(right.bothNoActionDeny.objects == [first, second])
  }

  @Test("a delete that is done again is denied as it was the first time, whatever was loaded anew meanwhile")
  func deniedAgain() throws {
    let (left, right) = (PeerLeft(in: context), PeerRightKind(in: context))
    left.setDenyDeny = [right]
    try context.save()
    context.undo.enable()
    try context.delete(right)
    try context.undo.undo()
    try context.refresh(right)
    try context.undo.redo()
    #expect(right.isDeleted && left.setDenyDeny.isEmpty)
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.rule) == [.deniedDelete] && error?.failures.map(\.key) == [right.objectID.key])
  }

  /// A child of a parent that is not in memory, in a context that records steps.
  private func makeLonelyChild() throws -> (child: ManyChild, parent: ObjectID<ManyParent>) {
    let (parent, child) = (ManyParent(in: context), ManyChild(in: context))
    child.setDenyNoAction = parent
    try context.save()
    let ids = (child.objectID, parent.objectID)
    context.reset()
    context.undo.enable()
    return (try #require(try context.object(with: ids.0)), ids.1)
  }

  @Test("a parent that was first looked at while its member was deleted has it after that is undone")
  func lookedAtWhileDeleted() throws {
    let (child, id) = try makeLonelyChild()
    try context.delete(child)
    let parent = try #require(try context.object(with: id))
    #expect(parent.setDenyNoAction.isEmpty)
    context.undelete(child)
    #expect(parent.setDenyNoAction.objects == [child])
    try context.undo.undo()
    #expect(parent.setDenyNoAction.objects == [child] && !context.hasChanges)
  }

  @Test("the same holds when delete and undelete are steps of their own, undone and done again")
  func lookedAtBetweenSteps() throws {
    let (child, id) = try makeLonelyChild()
    try context.delete(child)
    context.undo.endStep()
    let parent = try #require(try context.object(with: id))
    #expect(parent.setDenyNoAction.isEmpty)
    context.undelete(child)
    context.undo.endStep()
    for _ in 0..<2 {
      try context.undo.undo()
      #expect(parent.setDenyNoAction.isEmpty && child.isDeleted)
      try context.undo.undo()
      #expect(parent.setDenyNoAction.objects == [child] && !context.hasChanges)
      try context.undo.redo()
      #expect(parent.setDenyNoAction.isEmpty && child.isDeleted)
      try context.undo.redo()
      #expect(parent.setDenyNoAction.objects == [child])
    }
  }

  @Test("a reference to a deleted object that an undo restored can be cleared again, and then denies nothing")
  func clearedAgain() throws {
    let (left, right) = (OneLeft(in: context), OneRight(in: context))
    try context.save()
    context.undo.enable()
    right.oneDenyDeny = left
    context.undo.endStep()
    try context.delete(left)
    context.undo.endStep()
    right.oneDenyDeny = nil
    context.undo.endStep()
    try context.undo.undo()
    right.oneDenyDeny = nil
    try context.save()
    #expect(try container.newContext().count(OneLeft.all) == 0)
  }
}
