import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

/// The position of a member is that behind the members which preceded it, and not a number: others may have inserted,
/// moved and removed members when it is restored.
@Suite("Undo of edits of an ordered list beside the edits of others") struct UndoBesideOthersTests {
  /// A list of five members, whose positions lie in their own rows or in a join table.
  private struct List {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let crate: Crate
    let isJoined: Bool

    init(_ isJoined: Bool, count: Int = 5) throws {
      container = try PersistentContainer(model: .rules, store: .memory) { _ in }
      context = container.newContext()
      crate = Crate(in: context)
      self.isJoined = isJoined
      members.append(contentsOf: (0..<count).map { _ in Item(in: context) })
      try context.save()
      context.undo.enable()
    }

    var members: OrderedToMany<Item> { isJoined ? crate.marked : crate.items }
    var keys: [Int64] { members.map(\.objectID.key) }

    func stored() throws -> [Int64] {
      let reading = container.newContext()
      let fresh = try #require(try reading.object(with: crate.objectID))
      return (isJoined ? fresh.marked : fresh.items).map(\.objectID.key)
    }

    /// Changes the list in another context, and saves.
    func elsewhere(_ change: (OrderedToMany<Item>, ManagedObjectContext) throws -> Void) throws {
      let other = container.newContext()
      let theirs = try #require(try other.object(with: crate.objectID))
      try change(isJoined ? theirs.marked : theirs.items, other)
      try other.save()
    }

    func step(_ change: (OrderedToMany<Item>) throws -> Void) rethrows {
      try change(members)
      context.undo.endStep()
    }
  }

  /// An edit of a list of at least three members.
  enum Edit: Int, CaseIterable, Sendable {
    case removeFirst, removeMiddle, removeLast, removeTwo, removeAll
    case moveFirstToEnd, moveLastToFront, moveMiddle, reverse, sort, swap
    case insertFirst, insertMiddle, append
    case replace

    func carryOut(_ list: OrderedToMany<Item>, _ context: ManagedObjectContext) {
      let last = list.count - 1
      switch self {
      case .removeFirst: list.remove(at: 0)
      case .removeMiddle: list.remove(at: 1)
      case .removeLast: list.remove(at: last)
      case .removeTwo: list.remove(atOffsets: [1, 2])
      case .removeAll: list.removeAll()
      case .moveFirstToEnd: list.move(from: 0, to: last)
      case .moveLastToFront: list.move(from: last, to: 0)
      case .moveMiddle: list.move(from: 1, to: 2)
      case .reverse: list.replaceAll(with: list.objects.reversed())
      case .sort: list.sort { $0.objectID.key > $1.objectID.key }
      case .swap: list.swapAt(0, last)
      case .insertFirst: list.insert(Item(in: context), at: 0)
      case .insertMiddle: list.insert(Item(in: context), at: 2)
      case .append: list.append(Item(in: context))
      case .replace: list.replaceAll(with: [list[last], Item(in: context), list[0]])
      }
    }
  }

  @Test(
    "an unsaved edit that is undone is no change, and the order is the store's", arguments: Edit.allCases, Edit.allCases
  )
  func unsaved(mine: Edit, theirs: Edit) throws {
    for isJoined in [false, true] {
      let list = try List(isJoined)
      list.step { mine.carryOut($0, list.context) }
      try list.elsewhere { theirs.carryOut($0, $1) }
      list.context.mergeChanges()
      let merged = list.keys
      try list.context.undo.undo()
      #expect(list.keys == (try list.stored()), "\(isJoined ? "joined" : "in rows")")
      #expect(!list.context.hasChanges, "\(isJoined ? "joined" : "in rows")")
      try list.context.undo.redo()
      #expect(Set(list.keys) == Set(merged), "\(isJoined ? "joined" : "in rows")")
      try list.context.undo.undo()
      #expect(list.keys == (try list.stored()) && !list.context.hasChanges, "\(isJoined ? "joined" : "in rows")")
    }
  }

  @Test("the same holds for two edits, undone one after the other", arguments: Edit.allCases, Edit.allCases)
  func twoEdits(first: Edit, second: Edit) throws {
    for isJoined in [false, true] {
      let all = [Edit.insertFirst, .insertMiddle, .removeMiddle, .moveLastToFront]
      for theirs in TestSettings.isLong ? all : [all[(first.rawValue + second.rawValue) % 4]] {
        let list = try List(isJoined, count: 7)
        list.step { first.carryOut($0, list.context) }
        if list.members.count < 3 { continue }
        list.step { second.carryOut($0, list.context) }
        try list.elsewhere { theirs.carryOut($0, $1) }
        list.context.mergeChanges()
        try list.context.undo.undo()
        try list.context.undo.undo()
        let place: Comment = "\(isJoined ? "joined" : "in rows"), there \(theirs)"
        #expect(list.keys == (try list.stored()), place)
        #expect(!list.context.hasChanges, place)
      }
    }
  }

  @Test(
    "a saved edit that is undone gives each member its place behind those that it followed", arguments: Edit.allCases)
  func saved(mine: Edit) throws {
    for isJoined in [false, true] {
      for theirs in [Edit.insertFirst, .append] {
        let list = try List(isJoined)
        let former = list.keys
        list.step { mine.carryOut($0, list.context) }
        try list.context.save()
        try list.elsewhere { theirs.carryOut($0, $1) }
        list.context.mergeChanges()
        try list.context.undo.undo()
        let place: Comment = "\(isJoined ? "joined" : "in rows"), there \(theirs)"
        #expect(list.keys.filter(former.contains) == former, place)
        #expect(list.keys.count == former.count + 1, place)
        try list.context.save()
        #expect(list.keys == (try list.stored()), place)
        #expect(try list.container.check().isEmpty, place)
      }
    }
  }

  @Test("an undone link leaves no position beside a reference that is nil", arguments: StoreKind.allCases)
  func noPosition(kind: StoreKind) throws {
    let folder = try TestFolder()
    let container = try PersistentContainer(model: .rules, store: kind.configuration(in: folder)) { _ in }
    let context = container.newContext()
    let (first, second) = (Crate(in: context), Crate(in: context))
    let items = (0..<3).map { _ in Item(in: context) }
    try context.save()
    context.undo.enable()
    first.items.append(contentsOf: items)
    context.undo.endStep()
    try context.save()
    second.items.insert(contentsOf: items.reversed(), at: 0)
    context.undo.endStep()
    try context.save()
    try context.undo.undo()
    try context.save()
    #expect(first.items.objects == items && second.items.isEmpty)
    #expect(try container.check().isEmpty)
    try context.undo.undo()
    try context.save()
    #expect(items.allSatisfy { $0.crate == nil })
    #expect(try container.check().isEmpty)
    try context.undo.redo()
    try context.save()
    let reading = container.newContext()
    let fresh = try #require(try reading.object(with: first.objectID))
    #expect(fresh.items.map(\.objectID) == items.map(\.objectID))
    #expect(try container.check().isEmpty)
  }

  @Test("a member returns behind the nearest one before it that others have left", arguments: 0..<4)
  func removedAnchors(removed: Int) throws {
    for isJoined in [false, true] {
      let list = try List(isJoined)
      let former = list.keys
      list.step { $0.remove(at: 4) }
      try list.context.save()
      try list.elsewhere { theirs, other in
        for _ in 0..<removed { theirs.remove(at: theirs.count - 1) }
        theirs.insert(Item(in: other), at: 0)
      }
      list.context.mergeChanges()
      try list.context.undo.undo()
      #expect(Array(list.keys.dropFirst()) == former[..<(4 - removed)] + [former[4]], "\(isJoined)")
    }
  }
}
