import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// Two programs that work with one store and hear nothing of each other until they save.
struct TwoWriters {
  let first: ManagedObjectContext
  let second: ManagedObjectContext
  private let folder: TestFolder

  init(_ kind: StoreKind) throws {
    folder = try TestFolder()
    let store = kind == .memory ? .memory(named: UUID().uuidString) : kind.configuration(in: folder)
    first = try PersistentContainer(model: .writers, store: store) { _ in }.newContext()
    second = try PersistentContainer(model: .writers, store: store) { _ in }.newContext()
  }

  /// An object of the first context as the second one has it.
  func theirs<Object: IdentifiedObject>(_ object: Object) throws -> Object {
    try #require(try second.object(with: object.objectID))
  }

  /// The failures of a save that must be refused.
  func refusal(of context: ManagedObjectContext, _ place: SourceLocation = #_sourceLocation) -> [ValidationFailure] {
    #expect(throws: ValidationError.self, sourceLocation: place) { try context.save() }?.failures ?? []
  }

  func count<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try PersistentContainer.countAgain(request, first)
  }
}

extension PersistentContainer {
  /// What the store holds, whatever a context has in memory.
  fileprivate static func countAgain<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ context: ManagedObjectContext
  ) throws -> Int {
    context.rollback()
    return try context.count(request)
  }
}

@Suite("Two writers cannot break a rule together") struct TwoWritersTests {
  @Test("the greatest number of members holds, whoever adds them", arguments: StoreKind.inPlace)
  func maximumCount(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    box.items = ToMany((0..<2).map { _ in Item(in: world.first) })
    try world.first.save()
    let theirs = try world.theirs(box)
    #expect(theirs.items.count == 2)
    box.items.append(Item(in: world.first))
    theirs.items.append(Item(in: world.second))
    try world.second.save()
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.maximumCount] && failures.map(\.property) == ["items"])
    #expect(failures.first?.key == box.objectID.key && failures.first?.message == "must have at most 3, and has 4")
    // Files and memory tell that others wrote, so that their member is taken over, too.
    #expect(world.first.insertedObjects.count == 1 && box.items.count == (kind == .postgres ? 3 : 4))
    #expect(try world.count(Item.all) == 3)
  }

  @Test("the least number of members holds, whoever takes them out", arguments: StoreKind.inPlace)
  func minimumCount(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let pins = (0..<3).map { _ in Pin(in: world.first) }
    let board = Board(in: world.first)
    board.pins = ToMany(pins)
    board.crew = ToMany(pins[..<2])
    try world.first.save()
    let theirs = try world.theirs(board)
    board.crew.remove(pins[0])
    theirs.crew.remove(try world.theirs(pins[1]))
    try world.second.save()
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.minimumCount] && failures.map(\.property) == ["crew"])
    #expect(failures.first?.message == "must have at least 1, and has 0")
  }

  @Test(
    "a pair that another writer has made counts when its member is deleted", arguments: StoreKind.inPlace)
  func minimumCountOfUnknownOwner(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let pins = (0..<3).map { _ in Pin(in: world.first) }
    try world.first.save()
    let board = Board(in: world.second)
    board.crew = [try world.theirs(pins[0])]
    board.pins = [try world.theirs(pins[1])]
    try world.second.save()
    try world.first.delete(pins[2])
    try world.first.save()
    for (pin, property) in [(pins[0], "crew"), (pins[1], "pins")] {
      #expect(pin.boards.isEmpty || property == "crew")
      try world.first.delete(pin)
      let failures = world.refusal(of: world.first)
      #expect(failures.map(\.rule) == [.minimumCount] && failures.map(\.property) == [property])
      #expect(failures.first?.entity == "Board" && pin.isDeleted)
      world.first.rollback()
    }
  }

  @Test(
    "a required one-to-one is kept, whichever end an outdated context lets go", arguments: StoreKind.inPlace
  )
  func requiredPartner(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let pot = Pot(in: world.first)
    let lid = Lid(in: world.first, pot: pot)
    try world.first.save()
    let theirs = try world.theirs(pot)
    #expect(theirs.lid != nil)
    let newLid = Lid(in: world.first, pot: pot)
    try world.first.delete(lid)
    try world.first.save()
    let moved = try world.theirs(newLid)
    moved.pot = Pot(in: world.second)
    let failures = world.refusal(of: world.second)
    #expect(failures.map(\.rule) == [.required] && failures.map(\.property) == ["lid"])
    #expect(failures.first?.key == pot.objectID.key)
  }

  // MARK: Deletes

  @Test("a reference that another writer has set denies a delete", arguments: StoreKind.inPlace)
  func denial(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    try world.first.save()
    #expect(box.locks.isEmpty && box.labels.isEmpty)
    let lock = Lock(in: world.second, box: try world.theirs(box))
    try world.second.save()
    try world.first.delete(box)
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.deniedDelete] && failures.map(\.property) == ["locks"])
    #expect(failures.first?.blockers.map(\.key) == [lock.objectID.key])
    #expect(box.isDeleted && world.first.deletedObjects == [box])
    try world.second.delete(lock)
    try world.second.save()
    try world.first.save()
    #expect(try world.count(Box.all) == 0)
  }

  @Test("a pair that another writer has made denies a delete", arguments: StoreKind.inPlace)
  func pairDenial(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    try world.first.save()
    #expect(box.labels.isEmpty)
    let label = Label(in: world.second)
    label.boxes = [try world.theirs(box)]
    try world.second.save()
    try world.first.delete(box)
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.deniedDelete] && failures.map(\.property) == ["labels"])
    #expect(failures.first?.blockers.map(\.key) == [label.objectID.key])
    #expect(try world.count(Box.all) == 1)
  }

  @Test(
    "a required one-way reference that another writer has set denies a delete", arguments: StoreKind.inPlace
  )
  func oneWayDenial(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let pin = Pin(in: world.first)
    try world.first.save()
    let ticket = Ticket(in: world.second, pin: try world.theirs(pin))
    try world.second.save()
    try world.first.delete(pin)
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.deniedDelete] && failures.map(\.property) == ["Ticket.pin"])
    #expect(failures.first?.blockers.map(\.key) == [ticket.objectID.key])
  }

  @Test("what another writer has added to a deleted owner is deleted too", arguments: StoreKind.inPlace)
  func cascade(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    box.items = [Item(in: world.first)]
    try world.first.save()
    try world.first.delete(box)
    let theirs = try world.theirs(box)
    theirs.items.append(Item(in: world.second))
    let part = Part(in: world.second)
    theirs.parts = [part]
    try world.second.save()
    try world.first.save()
    #expect(try world.count(Box.all) == 0)
    #expect(try world.count(Item.all) == 0)
    #expect(try world.count(Part.all) == 0)
    #expect(!world.first.hasChanges)
  }

  @Test("what another writer has added to a deleted owner lets go of it", arguments: StoreKind.inPlace)
  func nullify(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    try world.first.save()
    try world.first.delete(box)
    let slip = Slip(in: world.second, box: try world.theirs(box))
    try world.second.save()
    try world.first.save()
    let mine = try #require(try world.first.object(with: slip.objectID))
    #expect(mine.box == nil && !world.first.hasChanges)
    #expect(try world.count(Box.all) == 0)
    #expect(try world.count(Slip.where { $0.box == nil }) == 1)
  }

  @Test(
    "when a save fails that has taken others' objects along, they are back", arguments: StoreKind.inPlace)
  func takingBack(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    let outdated = Item(in: world.first)
    try world.first.save()
    let theirs = try world.theirs(box)
    #expect(box.locks.isEmpty)
    try world.first.delete(box)
    let item = Item(in: world.second, box: theirs)
    let slip = Slip(in: world.second, box: theirs)
    try world.second.save()
    let lock = Lock(in: world.second, box: theirs)
    try world.second.save()
    outdated.name = "mine"
    #expect(world.refusal(of: world.first).map(\.rule) == [.deniedDelete])
    #expect(world.first.deletedObjects == [box] && world.first.updatedObjects == [outdated])
    #expect(try #require(try world.first.object(with: item.objectID)).isDeleted == false)
    #expect(try #require(try world.first.object(with: slip.objectID)).hasChanges == false)
    try world.second.delete(lock)
    try world.second.save()
    try world.first.save()
    #expect(try world.count(Item.all) == 1)
    #expect(try world.count(Slip.where { $0.box == nil }) == 1)
  }

  // MARK: Targets

  @Test("an object is not attached to one that another writer has deleted", arguments: StoreKind.inPlace)
  func attaching(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    let old = Item(in: world.first)
    try world.first.save()
    try world.second.delete(try world.theirs(box))
    try world.second.save()
    let item = Item(in: world.first, box: box)
    old.box = box
    let failures = world.refusal(of: world.first)
    #expect(failures.map(\.rule) == [.deletedPartner, .deletedPartner] && failures.map(\.property) == ["box", "box"])
    #expect(failures.map(\.key) == [item.objectID.key, old.objectID.key])
    #expect(failures.first?.blockers.map(\.key) == [box.objectID.key])
    item.box = nil
    old.box = nil
    try world.first.save()
    #expect(try world.count(Item.all) == 2)
  }

  @Test(
    "a pair is not made with one that another writer has deleted, under every delete rule",
    arguments: StoreKind.inPlace)
  func pairing(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let box = Box(in: world.first)
    try world.first.save()
    try world.second.delete(try world.theirs(box))
    try world.second.save()
    let visitor = Visitor(in: world.first)
    let label = Label(in: world.first)
    visitor.boxes = [box]
    label.boxes = [box]
    let failures = world.refusal(of: world.first)
    #expect(Set(failures.filter { $0.entity != "Box" }.map(\.key)) == [visitor.objectID.key, label.objectID.key])
    #expect(failures.allSatisfy { $0.rule == .deletedPartner })
  }
}
