import Testing
import Trellis

@Suite("What deleted objects leave behind") struct DeletedMemberTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    context = container.newContext()
  }

  @Test("a one-way to-many loses a deleted object, and gets it back with a rollback", arguments: [false, true])
  func oneWayToMany(saved: Bool) throws {
    let holder = Holder(in: context)
    let (target, other) = (Target(in: context), Target(in: context))
    holder.listNullify = [target, other]
    if saved { try context.save() }
    try context.delete(target)
    #expect(holder.listNullify.objects == [other] && holder.listNullify.count == 1)
    if saved {
      context.rollback()
      #expect(holder.listNullify.objects == [target, other])
      try context.delete(target)
    }
    try context.save()
    #expect(holder.listNullify.objects == [other] && !context.hasChanges)
  }

  @Test("a deleted member returns to its place in an order that was rolled back meanwhile")
  func deletedInRolledBackOrder() throws {
    let crate = Crate(in: context)
    let items = (0..<4).map { _ in Item(in: context) }
    crate.items.replaceAll(with: items)
    try context.save()
    try context.delete(items[1])
    crate.items.move(from: 0, to: 2)
    #expect(crate.items.objects == [items[2], items[3], items[0]])
    try crate.rollback(\.items)
    #expect(crate.items.objects == [items[0], items[2], items[3]])
    try items[1].rollback()
    #expect(crate.items.objects == items && !context.hasChanges)
  }

  @Test("a new object that is rolled back leaves the one-way relationships that lead to it, which are as before then")
  func rolledBackInsert() throws {
    let holder = Holder(in: context)
    let former = Target(in: context)
    holder.listNullify = [former]
    holder.setNullify = [former]
    try context.save()
    let target = Target(in: context)
    holder.oneNullify = target
    holder.listNullify.insert(target, at: 0)
    holder.setNullify.append(target)
    try target.rollback()
    #expect(holder.oneNullify == nil && holder.listNullify.objects == [former])
    #expect(Set(holder.setNullify) == [former])
    #expect(!holder.hasChanges && !context.hasChanges)
    holder.listNullify.append(Target(in: context))
    try context.save()
    let reading = container.newContext()
    let stored = try #require(try reading.object(with: holder.objectID))
    #expect(stored.oneNullify == nil && stored.listNullify.count == 2 && stored.setNullify.count == 1)
  }

  @Test("a one-way to-one to an object that is deleted before the save is saved as nil")
  func oneWayToOne() throws {
    let target = Target(in: context)
    try context.save()
    let holder = Holder(in: context)
    holder.oneNullify = target
    try context.delete(target)
    try context.save()
    #expect(holder.oneNullify == nil)
    #expect(try container.newContext().object(with: holder.objectID)?.oneNullify == nil)
  }

  @Test("a to-many shows no deleted member, whatever the delete rule")
  func lists() throws {
    let (left, right, parent, child) =
      (PeerLeft(in: context), PeerRight(in: context), ManyParent(in: context), ManyChild(in: context))
    left.bothNoActionNoAction = [right]
    left.bothDenyDeny = [right]
    parent.listNoActionNoAction = [child]
    parent.listDenyDeny = [child]
    try context.save()
    try context.delete(right)
    try context.delete(child)
    #expect(left.bothNoActionNoAction.isEmpty && left.bothDenyDeny.isEmpty)
    #expect(parent.listNoActionNoAction.isEmpty && parent.listDenyDeny.isEmpty)
  }

  @Test("a list that was loaded while a member was deleted has it again after a rollback")
  func loadedMeanwhile() throws {
    let parent = ManyParent(in: context)
    let child = ManyChild(in: context)
    parent.listNullifyNullify = [child]
    try context.save()
    let other = container.newContext()
    try other.delete(#require(try other.object(with: child.objectID)))
    let same = try #require(try other.object(with: parent.objectID))
    #expect(same.listNullifyNullify.isEmpty)
    other.rollback()
    #expect(same.listNullifyNullify.map(\.objectID) == [child.objectID])
  }

  @Test("a one-to-one within an entity is let go on both sides, loaded or not")
  func twins() throws {
    let (first, second) = (Link(in: context), Link(in: context))
    first.twinNullify = second
    try context.save()
    let other = container.newContext()
    try other.delete(#require(try other.object(with: first.objectID)))
    try other.save()
    #expect(try container.newContext().object(with: second.objectID)?.twinNullify == nil)
  }
}
