import Testing
import Trellis
import TrellisTestSupport

@Suite("Rivals that are faster than a save") struct RivalTests {
  /// The save gives up with an error that says what to do, and leaves everything as it was.
  private func expectContended(_ context: ManagedObjectContext) {
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .contended && error?.message.contains("64 times") == true && error?.remedy.isEmpty == false)
  }

  @Test("a save gives up when somebody writes the same object before each try", arguments: StoreKind.inPlace)
  func sameObject(kind: StoreKind) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    let (container, id) = (world.place.container, world.shelf.objectID)
    context.mergePolicy = .objectTrump
    world.shelf.name = "mine"
    world.place.interference.setRival {
      let other = container.newContext()
      try other.object(with: id)?.rank += 1
      try other.save()
    }
    expectContended(context)
    #expect(world.shelf.name == "mine" && context.updatedObjects == [world.shelf])
    world.place.interference.setRival(nil)
    try context.save()
    let stored = try #require(try container.newContext().object(with: id))
    #expect(stored.name == "mine" && stored.rank == 7 + 64)
  }

  @Test("a delete gives up when somebody adds a member before each try", arguments: StoreKind.inPlace)
  func newMembers(kind: StoreKind) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    let (container, id) = (world.place.container, world.shelf.objectID)
    try context.delete(world.shelf)
    world.place.interference.setRival {
      let other = container.newContext()
      let shelf = try other.object(with: id)
      _ = Book(in: other, title: "new", shelf: shelf)
      try other.save()
    }
    expectContended(context)
    #expect(context.deletedObjects.contains(world.shelf) && world.shelf.isDeleted)
    world.place.interference.setRival(nil)
    try context.save()
    #expect(try world.counts()[0] == 0)
    #expect(try container.newContext().count(Book.where { $0.title == "new" && $0.shelf == nil }) == 64)
  }

  @Test("saving with retries tries again after that") func retries() throws {
    let world = try World(.memory)
    let context = try #require(world.context)
    let (container, id) = (world.place.container, world.shelf.objectID)
    let interference = world.place.interference
    let rival: @Sendable () throws -> Void = {
      let other = container.newContext()
      try other.object(with: id)?.rank += 1
      try other.save()
    }
    context.mergePolicy = .objectTrump
    var runs = 0
    try context.saveRetrying(atMost: 1) {
      runs += 1
      try context.object(with: id)?.name = "run \(runs)"
      interference.setRival(runs == 1 ? rival : nil)
    }
    #expect(runs == 2 && world.shelf.name == "run 2")
  }
}
