import Foundation
import Testing
import Trellis

@Suite("Deleting many objects at once", .serialized) struct DeletingAllTests {
  /// How many objects of each entity there are, as a fresh context sees them.
  private func counts(_ world: World) throws -> [Int] {
    let context = world.container.newContext()
    return [
      try context.count(Item.all), try context.count(Part.all), try context.count(Screw.all),
      try context.count(Seal.all),
      try context.count(Box.all), try context.count(Mark.all),
    ]
  }

  @Test("members under cascade go, level by level; pairs and references go with the rows", arguments: AnyStore.allCases)
  func cascades(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(4)
    let mark = Mark(in: context)
    let box = Box(in: context)
    for item in items {
      for _ in 0..<2 {
        let part = Part(in: context, item: item)
        for _ in 0..<3 { _ = Screw(in: context, part: part) }
      }
      _ = Seal(in: context, item: item)
      item.tags = [mark]
      item.box = box
      item.other = items[0]
    }
    try context.save()
    let reader = world.container.newContext()
    let theirs = try reader.fetch(Item.all)
    let (theirMark, theirBox) = (try reader.first(Mark.all), try reader.first(Box.all))
    #expect(theirMark?.items.count == 4 && theirBox?.items.count == 4 && theirs[3].parts.count == 2)
    #expect(try context.deleteAll(Item.where { $0.count < 2 }) == 2)
    #expect(try counts(world) == [2, 4, 12, 2, 1, 1])
    #expect(items.map(\.isDeleted) == [true, true, false, false] && items[2].other == nil)
    #expect(Array(mark.items).count == 2 && Array(box.items) == Array(items.suffix(2)))
    reader.mergeChanges()
    #expect(theirs.map(\.isDeleted) == [true, true, false, false] && theirs[3].other == nil)
    #expect(theirMark?.items.count == 2 && theirBox?.items.count == 2 && theirs[3].parts.count == 2)
    #expect(try context.deleteAll(Item.all) == 2 && context.deleteAll(Item.all) == 0)
    #expect(try counts(world) == [0, 0, 0, 0, 1, 1])
    #expect(!context.hasChanges && mark.items.isEmpty)
  }

  @Test("nullified partners let go, and their versions count up", arguments: AnyStore.allCases)
  func nullify(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(3)
    let boxes = (0..<2).map { _ in Box(in: context) }
    boxes[0].items = [items[0], items[1]]
    boxes[0].queue = [items[2], items[0]]
    boxes[1].left = [items[1]]
    boxes[1].queue = [items[1]]
    try context.save()
    let other = world.container.newContext()
    let theirs = try other.fetch(Item.all)
    theirs[2].row = try other.fetch(Box.all)[1]
    #expect(try context.deleteAll(Box.where { $0.items.count > 0 }) == 1)
    #expect(
      items.allSatisfy { $0.box == nil } && items[0].row == nil && items[2].row == nil && items[1].row === boxes[1])
    #expect(throws: SaveConflict.self) { try other.save() }
    #expect(try context.deleteAll(Box.all) == 1)
    #expect(items.allSatisfy { $0.row == nil && $0.left == nil && !$0.isDeleted })
    let fresh = try world.container.newContext().fetch(Item.all)
    #expect(fresh.count == 3 && fresh.allSatisfy { $0.box == nil && $0.row == nil && $0.left == nil })
  }

  @Test("a partner under deny that stays refuses everything, and is named", arguments: AnyStore.allCases)
  func deny(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(2)
    let boxes = (0..<2).map { _ in Box(in: context) }
    boxes[1].kept = [items[1]]
    try context.save()
    let id = boxes[1].objectID
    let fresh = world.container.newContext()
    let error = #expect(throws: ValidationError.self) { try fresh.deleteAll(Box.all) }
    #expect(error?.failures.map(\.rule) == [.deniedDelete] && error?.failures.first?.key == id.key)
    #expect(
      error?.failures.first?.property == "kept" && error?.failures.first?.blockers.map(\.key) == [items[1].objectID.key]
    )
    #expect(try counts(world)[4] == 2)
    #expect(try context.deleteAll(Item.where { $0.kept != nil }) == 1 && context.deleteAll(Box.all) == 2)
    // Pairs deny too, but not among those who go together.
    let members = (0..<3).map { _ in Member(in: context) }
    members[0].rivals = [members[1]]
    members[1].name = "rival"
    try context.save()
    #expect(throws: ValidationError.self) { try fresh.deleteAll(Member.where { $0.name == "rival" }) }
    #expect(try fresh.count(Member.all) == 3 && fresh.deleteAll(Member.all.limit(2)) == 2)
    #expect(try fresh.fetch(Member.all).map(\.objectID) == [members[2].objectID])
  }

  @Test("who must have a partner, or a number of members, keeps it from being deleted", arguments: AnyStore.allCases)
  func needs(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let members = (0..<2).map { _ in Member(in: context) }
    let club = Club(in: context)
    club.members = [members[0]]
    club.rooms = [Room(in: context), Room(in: context)]
    let banner = Banner(in: context)
    let pole = Pole(in: context, banner: banner)
    club.banner = banner
    _ = Banner(in: context)
    try context.save()
    let fresh = world.container.newContext()
    func failures(_ body: () throws -> Int) throws -> [String] {
      do {
        _ = try body()
        return []
      } catch let error as ValidationError {
        return error.failures.map { "\($0.entity).\($0.property) \($0.rule)" }
      }
    }
    #expect(try failures { try fresh.deleteAll(Member.all) } == ["Club.members minimumCount"])
    #expect(try failures { try fresh.deleteAll(Banner.all) } == ["Banner.Pole.banner deniedDelete"])
    #expect(try fresh.count(Member.all) == 2 && fresh.count(Banner.all) == 2)
    #expect(try fresh.deleteAll(Pole.all) == 1 && fresh.deleteAll(Banner.all) == 2)
    // One room may go; an optional list may be empty.
    #expect(try fresh.deleteAll(Room.all.limit(1)) == 1 && fresh.deleteAll(Room.all) == 1)
    context.mergeChanges()
    #expect(pole.isDeleted && club.banner == nil && club.rooms.isEmpty)
    #expect(try failures { try fresh.deleteAll(Member.all.limit(1)) } == ["Club.members minimumCount"])
    #expect(try fresh.deleteAll(Club.all) == 1 && fresh.deleteAll(Member.all) == 2)
  }

  @Test("a cascade goes through join tables, too", arguments: AnyStore.allCases)
  func joined(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let members = (0..<2).map { _ in Member(in: context) }
    let guests = (0..<4).map { _ in Guest(in: context) }
    members[0].guests = [guests[0], guests[1]]
    members[1].guests = [guests[1], guests[2]]
    try context.save()
    #expect(try context.deleteAll(Member.all.limit(1)) == 1)
    #expect(guests.map(\.isDeleted) == [true, true, false, false] && Array(members[1].guests) == [guests[2]])
  }

  @Test("windows, sorts, paths and subentities say who is meant", arguments: AnyStore.allCases)
  func requests(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(5)
    let rare = Rare(in: context)
    let box = Box(in: context)
    items[3].box = box
    try context.save()
    #expect(try context.deleteAll(Item.all.sorted { $0.count.descending }.limit(1).offset(1).withoutSubentities()) == 1)
    #expect(items[3].isDeleted && box.items.isEmpty)
    #expect(try context.deleteAll(Rare.all) == 1 && rare.isDeleted)
    items[0].box = box
    try context.save()
    #expect(try context.deleteAll(Item.where { $0.box != nil }) == 1 && items[0].isDeleted)
    #expect(try context.fetch(Item.all) == [items[1], items[2], items[4]])
  }

  @Test("unsaved changes that matter refuse it; under storedOnly they stay as a conflict", arguments: AnyStore.allCases)
  func pending(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(2)
    let part = Part(in: context, item: items[0])
    try context.save()
    part.name = "edited"
    let problem = #expect(throws: ContextError.self) { try context.deleteAll(Item.all) }
    #expect(problem?.code == .unsavedChanges)
    #expect(try context.deleteAll(Item.all.storedOnly()) == 2)
    let conflict = #expect(throws: SaveConflict.self) { try context.save() }
    #expect(conflict?.rows.map(\.kind) == [.deletedByOthers] && part.name == "edited")
    context.rollback()
    #expect(try context.count(Part.all) == 0)
  }

  @Test("a key that a deleted object had is free, and undo knows nothing of it", arguments: AnyStore.allCases)
  func keys(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    context.undo.enable()
    let item = Item(in: context)
    item.code = "k"
    try context.save()
    try context.deleteAll(Item.all)
    let new = Item(in: context)
    new.code = "k"
    try context.save()
    #expect(try context.fetch(Item.all) == [new])
  }
}
