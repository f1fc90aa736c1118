import Foundation
import Testing
import Trellis
import TrellisRuntime
import TrellisTestSupport

@Suite("Large to-manys") struct LargeToManyTests {
  /// 100,000 in long runs.
  private static let count = TestSettings.number("TRELLIS_GRAPH_MEMBERS", or: 5_000)
  /// A parent with so many children; none unless the environment asks for it, as it takes long.
  private static let childCount = TestSettings.number("TRELLIS_GRAPH_CHILDREN", or: 0)

  @Test(
    "of a large to-many, counting and asking for members loads no object, and appending not even keys",
    arguments: StoreKind.inPlace)
  func children(kind: StoreKind) throws {
    let place = try StorePlace(kind)
    defer { place.remove() }
    let container = try PersistentContainer(model: .rules, store: place.configuration) { _ in }
    let (parentID, childID) = try fill(container, Self.count)

    let appending = container.newContext()
    let parent = try #require(try appending.object(with: parentID))
    let added = Item(in: appending)
    try Stopwatch.measure("\(kind): append to \(Self.count) children and save") {
      parent.items.append(added)
      try appending.save()
    }
    #expect(appending.registeredCount == 2)

    let context = container.newContext()
    let same = try #require(try context.object(with: parentID))
    let child = try #require(try context.object(with: childID))
    let contains = Stopwatch.measure("\(kind): contains") { same.items.contains(child) }
    let total = Stopwatch.measure("\(kind): count") { same.items.count }
    #expect(contains && total == Self.count + 1 && !same.items.isEmpty)
    #expect(context.registeredCount == 2)
    #expect(same.items[Self.count].objectID == added.objectID)
  }

  @Test("appending to a large many-to-many writes one pair, loaded or not", arguments: [false, true])
  func pairs(loaded: Bool) throws {
    let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    let context = container.newContext()
    let left = Crate(in: context)
    left.marked = OrderedToMany((0..<Self.count).map { _ in Item(in: context) })
    try context.save()
    let other = container.newContext()
    let owner = try #require(try other.object(with: left.objectID))
    if loaded { #expect(owner.marked.count == Self.count) }
    let new = Item(in: other)
    try Stopwatch.measure("append to \(Self.count) peers, \(loaded ? "loaded" : "not loaded"), and save") {
      for _ in 0..<100 { owner.marked.append(new) }
      try other.save()
    }
    #expect(other.registeredCount == 2)
    #expect(owner.marked.last === new && owner.marked.count == Self.count + 1)
  }

  @Test("a loop that takes every member out of 10,000 ends soon")
  func emptying() throws {
    let context = try PersistentContainer(model: .rules, store: .memory) { _ in }.newContext()
    let parent = Crate(in: context)
    parent.items = OrderedToMany((0..<10_000).map { _ in Item(in: context) })
    try context.save()
    try Stopwatch.measure("delete 10,000 members one by one") {
      for child in parent.items {
        try context.delete(child)
        #expect(!parent.items.contains(child))
      }
    }
    #expect(parent.items.isEmpty)
    try context.save()
  }

  @Test("a parent with very many children", .enabled(if: childCount > 0), arguments: StoreKind.inPlace)
  func veryMany(kind: StoreKind) throws {
    let place = try StorePlace(kind)
    defer { place.remove() }
    let container = try PersistentContainer(model: .rules, store: place.configuration) { _ in }
    let count = Self.childCount
    let (parentID, _) = try Stopwatch.measure("\(kind): insert and save \(count) children") {
      try fill(container, count)
    }
    let context = container.newContext()
    let parent = try #require(try context.object(with: parentID))
    let counted = Stopwatch.measure("\(kind): count") { parent.items.count }
    let walked = Stopwatch.measure("\(kind): walk") { parent.items.reduce(0) { sum, _ in sum + 1 } }
    #expect(counted == count && walked == count)
    Stopwatch.measure("\(kind): move the last to the front") { parent.items.move(from: count - 1, to: 0) }
    try Stopwatch.measure("\(kind): save that") { try context.save() }
    try Stopwatch.measure("\(kind): delete the parent") { try context.delete(parent) }
    try Stopwatch.measure("\(kind): save that, \(count) children let go") { try context.save() }
    #expect(try container.newContext().count(Item.where { $0.crate == nil }) == count)
  }

  @Test(
    "very many children that go with their parent are not loaded", .enabled(if: childCount > 0),
    arguments: StoreKind.inPlace, [false, true])
  func cascading(kind: StoreKind, loads: Bool) throws {
    let place = try StorePlace(kind)
    defer { place.remove() }
    let container = try PersistentContainer(model: .rules, store: place.configuration) { _ in }
    let parentID = try fillSheet(container, Self.childCount)
    let context = container.newContext()
    let parent = try #require(try context.object(with: parentID))
    if loads { context.graph.fewMembers = .max }
    let way = "\(kind), \(loads ? "loaded" : "left to the store")"
    Stopwatch.measure("\(way): begin") {}
    try Stopwatch.measure("\(way): delete the parent of \(Self.childCount) children") { try context.delete(parent) }
    #expect(loads || context.registeredCount <= context.graph.fewMembers + 1)
    try Stopwatch.measure("\(way): save that") { try context.save() }
    #expect(try container.newContext().count(Scrap.all) == 0)
  }

  private func fillSheet(_ container: PersistentContainer, _ count: Int) throws -> ObjectID<Sheet> {
    let context = container.newContext()
    let parent = Sheet(in: context)
    for _ in 0..<count { _ = Scrap(in: context, sheet: parent) }
    try context.save()
    return parent.objectID
  }

  private func fill(
    _ container: PersistentContainer, _ count: Int
  ) throws -> (ObjectID<Crate>, ObjectID<Item>) {
    let context = container.newContext()
    let parent = Crate(in: context)
    var middle = Item(in: context)
    for number in 0..<count {
      let child = number == 0 ? middle : Item(in: context)
      child.crate = parent
      if number == count / 2 { middle = child }
    }
    try context.save()
    return (parent.objectID, middle.objectID)
  }
}
