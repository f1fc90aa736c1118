import Testing
import Trellis

@Suite("Loading when it is needed") struct LoadingTests {
  private let failure = FailureSwitch()
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory.failing(failure)) { _ in }
    context = container.newContext()
  }

  @Test("an identity of no class in particular finds its object")
  func plainIdentity() throws {
    let singer: ManagedObject = Singer(in: context)
    try context.save()
    let other = container.newContext()
    #expect(try other.object(with: singer.objectID) is Singer)
  }

  @Test("a link whose old partner cannot be loaded stays as it was, and the next fetch tells why")
  func halfMade() throws {
    let (first, second, third) = (OneLeft(in: context), OneRight(in: context), OneRight(in: context))
    first.oneNullifyNullify = second
    try context.save()
    let other = container.newContext()
    let left = try #require(try other.object(with: first.objectID))
    let right = try #require(try other.object(with: third.objectID))
    failure.set(.call(0))
    left.oneNullifyNullify = right
    #expect(right.oneNullifyNullify == nil && !other.hasChanges)
    #expect(throws: ContextError.self) { try other.fetch(OneLeft.all) }
    left.oneNullifyNullify = right
    try other.save()
    #expect(left.oneNullifyNullify === right)
  }

  @Test("giving up the edits of one object lets the other ends follow")
  func discarding() throws {
    let (old, new, child) = (ManyParent(in: context), ManyParent(in: context), ManyChild(in: context))
    let (left, right) = (PeerLeft(in: context), PeerRight(in: context))
    child.listNullifyNullify = old
    left.bothNullifyNullify = [right]
    try context.save()
    child.listNullifyNullify = new
    left.bothNullifyNullify = []
    try context.refresh(child, discardingChanges: true)
    try context.refresh(left, discardingChanges: true)
    #expect(child.listNullifyNullify === old && old.listNullifyNullify.objects == [child])
    #expect(new.listNullifyNullify.isEmpty && right.bothNullifyNullify.objects == [left])
    #expect(!child.hasChanges && !left.hasChanges)
  }

  @Test("what came and went in a many-to-many survives a refresh of what was not loaded then")
  func waiting() throws {
    let (left, right) = (PeerLeft(in: context), PeerRight(in: context))
    left.setNullifyNullify = [right]
    try context.save()
    let other = container.newContext()
    try other.object(with: left.objectID)?.setNullifyNullify = []
    let same = try #require(try other.object(with: right.objectID))
    #expect(same.setNullifyNullify.isEmpty)
    other.refreshAll()
    #expect(same.setNullifyNullify.isEmpty)
  }

  @Test("a to-many that cannot be loaded reads as empty, not as what was added since, and nothing in it moves")
  func partial() throws {
    let crate = Crate(in: context)
    crate.items = [Item(in: context)]
    try context.save()
    let other = container.newContext()
    let same = try #require(try other.object(with: crate.objectID))
    let added = [Item(in: other), Item(in: other)]
    same.items.append(contentsOf: added)
    failure.set(.call(0))
    #expect(same.items.isEmpty)
    failure.set(.call(0))
    same.items.move(from: 0, to: 1)
    #expect(throws: ContextError.self) { try other.fetch(Crate.all) }
    #expect(Array(same.items.dropFirst()) == added)
  }

  @Test("members are not replaced by some of the new ones when another one cannot be loaded", arguments: 0..<4)
  func unloadableMember(call: Int) throws {
    let failure = FailureSwitch()
    let container = try PersistentContainer(model: .rules, store: .memory.failing(failure)) { _ in }
    let context = container.newContext()
    context.undo.enable()
    let (one, two) = (MeshKind(in: context), Mesh(in: context))
    try context.save()
    context.refreshAll()
    failure.set(.call(call))
    one.likedByBothCascadeCascade = [one, two]
    #expect(failure.failures == 1 && !context.hasChanges)
    #expect(throws: ContextError.self) { try context.fetch(Mesh.all) }
    context.undo.endStep()
    one.likedByBothCascadeCascade = [one, two]
    #expect(one.likesBothCascadeCascade.objects == [one] && two.likesBothCascadeCascade.objects == [one])
    try context.undo.undo()
    #expect(one.likedByBothCascadeCascade.isEmpty && one.likesBothCascadeCascade.isEmpty && !context.hasChanges)
  }
}
