import Testing
import Trellis

@Suite("References that outlive their object", .serialized) struct LeftAloneTests {
  private func world(_ store: AnyStore) throws -> (World, Box) {
    let world = try World(store)
    let items = try world.items(3)
    let (gone, box) = (Box(in: world.context), Box(in: world.context))
    items[0].left = box
    items[1].left = gone
    try world.context.save()
    return (world, gone)
  }

  private func check(_ context: ManagedObjectContext, _ gone: ObjectID<Box>) throws {
    #expect(try context.fetch(Item.where { $0.left == nil }).map(\.name) == ["b", "c"])
    #expect(try context.fetch(Item.where { $0.left != nil }).map(\.name) == ["a"])
    #expect(try context.fetch(Item.where { $0.left.is(gone) }).isEmpty)
    #expect(try context.fetch(Item.where("left IN %@", [gone])).isEmpty)
    #expect(try context.fetch(Item.where("NOT (left IN %@)", [gone])).count == 3)
    #expect(try context.values(of: Item.all) { $0.left }.map { $0 == nil } == [false, true, true])
    #expect(try context.grouped(Item.all, by: { $0.left }) { $0.count }.map(\.value) == [2, 1])
  }

  @Test("conditions, values and groups take it for nil, in the store and in memory", arguments: AnyStore.allCases)
  func saved(_ store: AnyStore) throws {
    let (world, gone) = try world(store)
    try world.context.delete(gone)
    try world.context.save()
    try check(world.context, gone.objectID)
    let other = world.container.newContext()
    try check(other, gone.objectID)
    // With unsaved changes the answer is found in memory.
    try #require(try other.first(Item.all)).count = 9
    try check(other, gone.objectID)
    #expect(try world.context.updateAll(Item.where { $0.left == nil }) { $0.seen.set(true) } == 2)
  }

  @Test("it is nil from the delete on, before that is saved", arguments: AnyStore.allCases)
  func pending(_ store: AnyStore) throws {
    let (world, gone) = try world(store)
    try world.context.delete(gone)
    try check(world.context, gone.objectID)
  }

  @Test("a partner whose delete may be denied reads nil until then, to requests as well", arguments: AnyStore.allCases)
  func denied(_ store: AnyStore) throws {
    let world = try World(store)
    let items = try world.items(2)
    items[0].kept = Box(in: world.context)
    try world.context.save()
    try world.context.delete(try #require(items[0].kept))
    #expect(items[0].kept == nil)
    #expect(try world.context.fetch(Item.where { $0.kept == nil }).count == 2)
    world.context.rollback()
    #expect(try world.context.fetch(Item.where { $0.kept == nil }).count == 1)
  }

  @Test("values of other objects are those that are not saved yet", arguments: AnyStore.allCases)
  func others(_ store: AnyStore) throws {
    let (world, _) = try world(store)
    try #require(try world.context.first(Item.all)?.left).name = "renamed"
    #expect(try world.context.values(of: Item.all) { $0.left.name.optional } == ["renamed", "", nil])
    #expect(
      try world.context.grouped(Item.all, by: { $0.left.name.optional }) { $0.count }.map(\.key) == [
        nil, "", "renamed",
      ])
  }

  @Test("live results follow the delete", arguments: AnyStore.allCases)
  func live(_ store: AnyStore) throws {
    let (world, gone) = try world(store)
    let results = try world.context.live(Item.where { $0.left == nil })
    #expect(results.map(\.name) == ["c"])
    try world.context.delete(gone)
    try world.context.save()
    #expect(results.map(\.name) == ["b", "c"])
  }
}
