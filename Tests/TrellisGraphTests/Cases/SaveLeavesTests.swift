import Testing
import Trellis
import TrellisTestSupport

@Suite("What a save leaves of both sides") struct SaveLeavesTests {
  @Test("under overwrite the object wins as a whole, also what only others have changed", arguments: [false, true])
  func overwrites(isMerged: Bool) throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let other = container.newContext()
    let there = Villager(in: other, label: "a")
    try other.save()
    let context = container.newContext()
    let here = try #require(try context.object(with: there.objectID))
    #expect(here.label == "a")
    here.size = 2
    there.label = "b"
    try other.save()
    if isMerged { context.mergeChanges() }
    let shown = here.label
    try context.save(mergePolicy: .overwrite)
    let fresh = try #require(try container.newContext().object(with: there.objectID))
    #expect(fresh.size == 2 && fresh.label == shown && here.label == shown && shown == (isMerged ? "b" : "a"))
  }

  @Test("a value that both sides have set to the same is a conflict")
  func equalValues() throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let other = container.newContext()
    let there = Villager(in: other, label: "a")
    try other.save()
    let context = container.newContext()
    let here = try #require(try context.object(with: there.objectID))
    here.size += 1
    there.size += 1
    try other.save()
    #expect(throws: SaveConflict.self) { try context.save(mergePolicy: .error) }
    context.mergeChanges()
    #expect(throws: SaveConflict.self) { try context.save(mergePolicy: .error) }
    #expect(here.size == 1 && context.hasChanges)
  }

  @Test("a property that was changed on both sides returns to the value of the store")
  func conflictIsRolledBack() throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let other = container.newContext()
    let there = Villager(in: other, label: "a")
    try other.save()
    let context = container.newContext()
    let here = try #require(try context.object(with: there.objectID))
    here.label = "mine"
    there.label = "theirs"
    try other.save()
    context.mergeChanges()
    #expect(here.label == "mine")
    #expect(throws: SaveConflict.self) { try context.save(mergePolicy: .error) }
    here.label = "a"
    context.mergeChanges()
    #expect(here.label == "theirs" && !context.hasChanges)
  }

  @Test("a row that was deleted and inserted again conflicts with what was read before", arguments: [false, true])
  func insertedAgain(inOtherContainer: Bool) throws {
    let folder = try TestFolder()
    let store = StoreKind.sqlite.configuration(in: folder)
    let container = try PersistentContainer(model: .village, store: store) { _ in }
    let second = try inOtherContainer ? PersistentContainer(model: .village, store: store) { _ in } : container
    let other = second.newContext()
    other.undo.enable()
    let there = Villager(in: other, label: "a")
    try other.save()
    let context = container.newContext()
    let here = try #require(try context.object(with: there.objectID))
    here.label = "mine"
    try other.delete(there)
    try other.save()
    try other.undo.undo()
    there.label = "theirs"
    try other.save()
    #expect(throws: SaveConflict.self) { try context.save(mergePolicy: .error) }
    let reading = container.newContext()
    #expect(try reading.object(with: there.objectID)?.label == "theirs")
  }

  @Test("a list of a one-way relationship that was read does not show what was deleted and saved since")
  func deletedGear() throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let context = container.newContext()
    let villager = Villager(in: context, label: "a")
    let all = (0..<2).map { _ in Gear(in: context) }
    for gear in all {
      villager.gear.append(gear)
      villager.wishes.append(gear)
    }
    try context.save()
    try context.delete(all[0])
    try context.save()
    #expect(villager.gear.count == 1 && villager.wishes.count == 1 && !context.hasChanges)
    #expect(villager.gear.contains(all[1]) && villager.wishes.objects == [all[1]])
  }

  @Test("what was given here to an owner that others have deleted returns to its former owner")
  func givenBack() throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let other = container.newContext()
    let (first, second) = (Branch(in: other), Branch(in: other))
    let leaf = Leaf(in: other, branch: first)
    try other.save()
    let context = container.newContext()
    let here = try #require(try context.object(with: leaf.objectID))
    let branch = try #require(try context.object(with: second.objectID))
    branch.label = "b"
    here.branch = branch
    try other.delete(second)
    try other.save()
    try context.save(mergePolicy: .storeTrump)
    #expect(context.updatedObjects.isEmpty && !context.hasChanges)
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: leaf.objectID))
    #expect(fresh.branch?.objectID == first.objectID)
  }

  @Test("an undo gives no partner that others have deleted meanwhile")
  func lostSinger() throws {
    let container = try PersistentContainer(model: .village, store: .memory) { _ in }
    let other = container.newContext()
    let there = Villager(in: other, label: "a")
    let song = Song(in: other)
    song.singer = there
    try other.save()
    let context = container.newContext()
    context.undo.enable()
    let here = try #require(try context.object(with: song.objectID))
    here.singer = nil
    try context.save()
    other.mergeChanges()
    try other.delete(there)
    try other.save()
    context.mergeChanges()
    try context.undo.undo()
    #expect(here.singer == nil && !context.hasChanges)
    try context.save()
  }
}
