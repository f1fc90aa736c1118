import Foundation
import Testing
import Trellis

@Suite("Changing many objects at once", .serialized) struct UpdatingAllTests {
  @Test(
    "every object of the request gets the value, no other does, and the number is told", arguments: AnyStore.allCases)
  func constants(_ store: AnyStore) throws {
    let world = try World(store)
    try world.items(6)
    let changed = try world.context.updateAll(Item.where { $0.count >= 4 }) {
      $0.seen.set(true)
      $0.status.set(.closed)
      $0.label.set("x")
      $0.weight.set(1.5)
      $0.price.set(Decimal(string: "12.50"))
      $0.day.set(Date(timeIntervalSince1970: 0))
      $0.list.set(["a", "b"])
    }
    #expect(changed == 2)
    let items = try world.container.newContext().fetch(Item.all)
    #expect(items.map(\.seen) == [false, false, false, false, true, true])
    #expect(
      items[4].status == .closed && items[4].label == "x" && items[4].weight == 1.5 && items[4].list == ["a", "b"])
    #expect(items[5].price == 12.5 && items[5].day == Date(timeIntervalSince1970: 0))
    #expect(items[3].status == .open && items[3].label == nil && items[3].list == [])
    #expect(try world.context.updateAll(Item.where { $0.count > 99 }) { $0.seen.set(true) } == 0)
    #expect(try world.context.updateAll(Item.all) { _ in } == 6)
  }

  @Test("arithmetic reads the values from before; nil stays nil", arguments: AnyStore.allCases)
  func arithmetic(_ store: AnyStore) throws {
    let world = try World(store)
    let items = try world.items(3)
    items[1].small = 5
    items[1].price = Decimal(string: "0.1")
    items[1].weight = 2
    try world.context.save()
    try world.context.updateAll(Item.all) {
      $0.count.increase(by: 10)
      $0.small.set(nil)
      $0.small.increase(by: -7)
      $0.price.multiply(by: 3)
      $0.weight.multiply(by: 0.5)
      $0.name.set("all")
    }
    #expect(items.map(\.count) == [10, 11, 12] && items.map(\.small) == [nil, -2, nil])
    #expect(items.map(\.price) == [nil, Decimal(string: "0.3"), nil] && items.map(\.weight) == [nil, 1, nil])
    try world.context.updateAll(Item.all) {
      $0.label.set($0.code)
      $0.count.set($0.name.length)
    }
    #expect(items.map(\.count) == [3, 3, 3])
    try world.context.updateAll(Item.all) { $0.count.set($0.count * 2 + 1) }
    #expect(items.map(\.count) == [7, 7, 7])
  }

  @Test("windows, sorts, paths and subentities say who is meant", arguments: AnyStore.allCases)
  func requests(_ store: AnyStore) throws {
    let world = try World(store)
    let items = try world.items(5)
    let rare = Rare(in: world.context)
    rare.count = 9
    let box = Box(in: world.context)
    box.name = "b"
    items[2].box = box
    try world.context.save()
    let context = world.context
    #expect(
      try context.updateAll(Item.all.sorted { $0.count.descending }.limit(2).offset(1)) { $0.seen.set(true) } == 2)
    #expect(try context.fetch(Item.where { $0.seen }) == [items[3], items[4]])
    #expect(try context.updateAll(Item.where { $0.box.name == "b" }) { $0.label.set("boxed") } == 1)
    #expect(items[2].label == "boxed")
    #expect(try context.updateAll(Item.all.withoutSubentities()) { $0.name.set("plain") } == 5)
    #expect(rare.name == "")
    #expect(
      try context.updateAll(Rare.all) {
        $0.grade.increase(by: 2); $0.name.set("rare")
      } == 1)
    #expect(rare.grade == 3 && rare.name == "rare" && items[0].name == "plain")
    #expect(try context.updateAll(Item.where("count > 3 AND name != 'rare'")) { $0.name.set("format") } == 1)
    #expect(try context.updateAll(Item.all.limit(1)) { $0.count.increase(by: 1) } == 1)
    #expect(items[0].count == 1 && items[1].count == 1)
  }

  @Test("objects in memory show it, other contexts and live results hear of it", arguments: AnyStore.allCases)
  func hearing(_ store: AnyStore) async throws {
    let world = try World(store)
    let items = try world.items(4)
    let other = world.container.newContext()
    other.author = "other"
    let theirs = try other.fetch(Item.all)
    let live = try world.context.live(Item.where { $0.seen })
    var saves = world.container.saves.makeAsyncIterator()
    #expect(live.count == 0 && theirs.count == 4)
    try other.updateAll(Item.where { $0.count < 2 }) { $0.seen.set(true) }
    #expect(theirs.map(\.seen) == [true, true, false, false])
    world.context.mergeChanges()
    #expect(items.map(\.seen) == [true, true, false, false] && live.ids == items.prefix(2).map(\.objectID))
    // On a server, other databases may be written to at the same time.
    var heard = try #require(await saves.next())
    while !heard.isComplete { heard = try #require(await saves.next()) }
    #expect(heard.author == "other" && heard.updated(of: Item.self) == items.prefix(2).map(\.objectID))
    #expect(heard.changedProperties(of: AnyObjectID(items[0])) == ["seen"])
  }

  @Test("versions count up, so that a stale save conflicts", arguments: AnyStore.allCases)
  func versions(_ store: AnyStore) throws {
    let world = try World(store)
    let items = try world.items(2)
    items[0].name = "mine"
    let other = world.container.newContext()
    try other.updateAll(Item.all) { $0.name.set("theirs") }
    let conflict = #expect(throws: SaveConflict.self) { try world.context.save() }
    #expect(conflict?.rows.map(\.properties) == [["name"]])
    try world.context.save(mergePolicy: .objectTrump)
    #expect(try other.fetch(Item.all).map(\.name) == ["mine", "theirs"])
  }

  @Test(
    "unsaved changes that matter refuse it; under storedOnly they stay and are merged", arguments: AnyStore.allCases)
  func pending(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(2)
    items[0].name = "edited"
    let problem = #expect(throws: ContextError.self) {
      try context.updateAll(Item.where { $0.seen }) { $0.seen.set(true) }
    }
    #expect(problem?.code == .unsavedChanges)
    #expect(try context.updateAll(Item.all.storedOnly()) { $0.count.set(7) } == 2)
    #expect(items[0].name == "edited" && items[1].count == 7)
    try context.save()
    #expect(items[0].name == "edited" && items[0].count == 7)
    items[0].price = 1
    items[1].price = 900
    try context.save()
    items[1].price = 2
    let error = #expect(throws: ValidationError.self) {
      try context.updateAll(Item.all.storedOnly()) { $0.price.multiply(by: 2) }
    }
    #expect(error?.failures.map(\.key) == [items[1].objectID.key] && error?.failures.first?.property == "price")
    context.rollback()
    // What has nothing to do with it may stay unsaved.
    _ = Mark(in: context)
    #expect(try context.updateAll(Item.all) { $0.count.set(8) } == 2)
    #expect(context.hasChanges && items.map(\.count) == [8, 8])
    context.rollback()
    #expect(items.map(\.count) == [8, 8])
  }

  @Test("a to-one can be led elsewhere; members move in memory too", arguments: AnyStore.allCases)
  func references(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(3)
    let boxes = [Box(in: context), Box(in: context)]
    items[0].box = boxes[0]
    items[1].box = boxes[0]
    try context.save()
    #expect(boxes[0].items.count == 2 && boxes[1].items.count == 0)
    #expect(try context.updateAll(Item.where { $0.box.is(boxes[0]) }) { $0.box.set(boxes[1]) } == 2)
    #expect(boxes[0].items.isEmpty && Array(boxes[1].items) == Array(items.prefix(2)) && items[0].box === boxes[1])
    #expect(try context.updateAll(Item.all) { $0.box.set(boxes[0].objectID) } == 3)
    #expect(try context.updateAll(Item.where { $0.count == 0 }) { $0.box.set(nil) } == 1)
    #expect(items[0].box == nil && Array(boxes[0].items) == [items[1], items[2]])
    let error = #expect(throws: StoreError.self) {
      let nobody = try ObjectID<Box>(decoding: 999_999)
      return try context.updateAll(Item.all) { $0.box.set(nobody) }
    }
    #expect(error?.code == .danglingReference && items[1].box === boxes[0])
  }

  @Test("inside a hook, and while one moment is shown, it is refused")
  func moments() throws {
    let world = try World(.sqlite)
    try world.items(1)
    try world.context.pinned { context in
      let error = #expect(throws: StoreError.self) { try context.updateAll(Item.all) { $0.count.set(1) } }
      #expect(error?.code == .readOnly)
    }
  }
}

extension ObjectID {
  /// An identity as it comes from outside.
  init(decoding key: Int64) throws {
    self = try JSONDecoder().decode(Self.self, from: Data("\(key)".utf8))
  }
}
