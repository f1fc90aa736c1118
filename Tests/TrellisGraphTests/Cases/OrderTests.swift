import Testing
import Trellis

@Suite("The order of members") struct OrderTests {
  private let failure = FailureSwitch()
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory.failing(failure)) { _ in }
    context = container.newContext()
  }

  private func makeCrate(_ count: Int) throws -> (Crate, [Item]) {
    let crate = Crate(in: context)
    let items = (0..<count).map { _ in Item(in: context) }
    crate.items = OrderedToMany(items)
    crate.marked = OrderedToMany(items)
    try context.save()
    return (crate, items)
  }

  @Test("each end of a many-to-many has an order of its own: moving at one leaves the other")
  func twoOrders() throws {
    let (first, items) = try makeCrate(2)
    let second = Crate(in: context)
    second.marked = OrderedToMany(items)
    first.marked.append(items[0])
    #expect(first.marked.objects == [items[1], items[0]])
    #expect(items[0].markedBy.objects == [first, second])
  }

  @Test("appending a member moves it last, whether the members are loaded or not", arguments: [false, true])
  func appendingMember(loaded: Bool) throws {
    let (crate, items) = try makeCrate(3)
    let other = container.newContext()
    let same = try #require(try other.object(with: crate.objectID))
    let item = try #require(try other.object(with: items[0].objectID))
    if loaded { #expect(same.items.count == 3 && same.marked.count == 3) }
    same.items.append(item)
    same.marked.append(item)
    if loaded { #expect(same.items.last === item && same.marked.last === item) }
    try other.save()
    let expected = [items[1], items[2], items[0]].map(\.objectID)
    #expect(same.items.map(\.objectID) == expected && same.marked.map(\.objectID) == expected)
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: crate.objectID))
    #expect(fresh.items.map(\.objectID) == expected && fresh.marked.map(\.objectID) == expected)
  }

  @Test("a new order is written by the retry of a save that failed")
  func retry() throws {
    let (crate, items) = try makeCrate(4)
    crate.items.move(from: 3, to: 0)
    failure.set(.call(0))
    #expect(throws: InjectedFailure.self) { try context.save() }
    #expect(crate.items.first === items[3])
    try context.save()
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: crate.objectID))
    #expect(fresh.items.map(\.objectID) == [3, 0, 1, 2].map { items[$0].objectID })
  }

  @Test("a rollback gives a restored member its place back")
  func rollback() throws {
    let (crate, items) = try makeCrate(4)
    try context.delete(items[1])
    crate.items.move(from: 2, to: 0)
    items[2].crate = nil
    context.rollback()
    #expect(crate.items.objects == items && crate.marked.objects == items)
    crate.items.append(Item(in: context))
    try context.save()
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: crate.objectID))
    #expect(Array(fresh.items.map(\.objectID).prefix(4)) == items.map(\.objectID))
  }

  @Test("a member whose edits are discarded returns behind those that it followed and that were not moved")
  func returnsBesideMoved() throws {
    let (crate, items) = try makeCrate(3)
    let other = Crate(in: context)
    crate.items = [items[1], items[0]]
    other.items.append(items[1])
    crate.items.insert(items[1], at: 0)
    try context.refresh(items[2], discardingChanges: true)
    #expect(crate.items.objects == [items[1], items[0], items[2]])
    try context.save()
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: crate.objectID))
    #expect(fresh.items.map(\.objectID) == [1, 0, 2].map { items[$0].objectID })
  }

  @Test(
    "members that are added from their end in a child come in that order into the parent", arguments: [false, true])
  func addedInChild(isLoaded: Bool) throws {
    let child = context.newChildContext()
    let meshes = (0..<4).map { _ in Mesh(in: child) }
    try child.save()
    try context.save()
    if isLoaded { #expect(meshes[0].likedByBothDenyDeny.isEmpty) }
    meshes[2].likesBothDenyDeny.append(meshes[0])
    // This reads lists of the parent anew.
    #expect(try child.fetch(Mesh.all).count == 4)
    meshes[3].likesBothDenyDeny.append(meshes[0])
    try child.save()
    #expect(meshes[0].likedByBothDenyDeny.objects == [meshes[2], meshes[3]])
    try context.save()
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: meshes[0].objectID))
    #expect(fresh.likedByBothDenyDeny.map(\.objectID) == [meshes[2], meshes[3]].map(\.objectID))
  }

  @Test("a member of a to-many without an order that was taken out and put back is no change")
  func putBack() throws {
    let (left, rights) = (PeerLeft(in: context), [PeerRight(in: context), PeerRight(in: context)])
    left.setNullifyNullify = ToMany(rights)
    try context.save()
    left.setNullifyNullify.remove(rights[0])
    #expect(left.hasChanges && rights[0].hasChanges)
    left.setNullifyNullify.append(rights[0])
    #expect(!left.hasChanges && !rights[0].hasChanges && !context.hasChanges)
  }

  @Test("a member whose delete is undone returns before one that was moved behind it unseen", arguments: [false, true])
  func deletedBeforeMoved(isLookedAt: Bool) throws {
    let sheet = Sheet(in: context)
    let (first, second) = (Mark(in: context), Mark(in: context))
    sheet.marks = [second, first]
    try context.save()

    let other = container.newContext()
    let same = try #require(try other.object(with: sheet.objectID))
    let gone = try #require(try other.object(with: first.objectID))
    same.marks.append(try #require(try other.object(with: second.objectID)))
    try other.delete(gone)
    if isLookedAt { #expect(same.marks.map(\.objectID) == [second.objectID]) }
    other.undelete(gone)
    #expect(same.marks.map(\.objectID) == [first.objectID, second.objectID])
    try other.save()
    let reader = container.newContext()
    #expect(
      try reader.object(with: sheet.objectID)?.marks.map(\.objectID) == [first.objectID, second.objectID])
  }

  @Test("members that one delete has deleted keep their order when it is undone")
  func deletedTogether() throws {
    let owner = Tree(in: context)
    let (first, second) = (Tree(in: context), Tree(in: context))
    owner.childrenListNullifyDeny = [first, second]
    first.parentListCascadeCascade = second
    try context.save()
    let other = container.newContext()
    func twin(_ tree: Tree) throws -> Tree { try #require(try other.object(with: tree.objectID)) }
    let (same, gone) = (try twin(owner), try twin(second))
    try other.delete(gone)
    #expect(same.childrenListNullifyDeny.isEmpty)
    other.undelete(gone)
    #expect(same.childrenListNullifyDeny.map(\.objectID) == [first.objectID, second.objectID])
    #expect(!other.hasChanges)
  }

  @Test("members that a child has added keep their order in the parent, whatever the child reads meanwhile")
  func readMeanwhileInChild() throws {
    let (owner, members) = (ManyParent(in: context), [ManyChild(in: context), ManyChild(in: context)])
    let child = context.newChildContext()
    func twin<T: ManagedObject>(_ object: T) throws -> T { try #require(try child.object(with: object.objectID)) }
    // They are saved in this order, and members in another one.
    for member in members { try twin(member).listNullifyNullify = twin(owner) }
    try twin(owner).listNullifyDeny = [twin(members[1]), twin(members[0])]
    #expect(try child.fetch(ManyChild.all).count == 2)
    let wanted = members.reversed().map(\.objectID)
    try child.save()
    #expect(owner.listNullifyDeny.map(\.objectID) == wanted)
  }
}
