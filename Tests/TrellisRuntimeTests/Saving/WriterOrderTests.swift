import Foundation
import Testing
import Trellis
import TrellisRuntime
import TrellisTestSupport

/// Two changes of which each is right alone, made by two writers and saved in either order. The later one gives up what is
/// wrong with it, and the rest can be saved.
@Suite("Whoever of two writers saves first, no rule is broken") struct WriterOrderTests {
  struct Race: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let firstIsEarly: Bool
    var testDescription: String { "\(kind), \(firstIsEarly ? "first" : "second") saves early" }

    /// Saves both.
    ///
    /// - Returns: the rules for which the later save is refused, with what they are about; empty when it is not.
    func run(_ world: TwoWriters) throws -> [String] {
      let (early, late) = firstIsEarly ? (world.first, world.second) : (world.second, world.first)
      try early.save()
      do {
        try late.save()
        return []
      } catch let refusal as ValidationError {
        #expect(try !late.saveValidChanges().isEmpty)
        return refusal.failures.map { "\($0.entity).\($0.property) \($0.rule)" }
      }
    }
  }

  static let races = StoreKind.inPlace.flatMap { kind in
    [true, false].map { Race(kind: kind, firstIsEarly: $0) }
  }

  private func boxed(_ world: TwoWriters) throws -> (mine: Box, theirs: Box) {
    let box = Box(in: world.first)
    box.items = [Item(in: world.first), Item(in: world.first)]
    try world.first.save()
    return (box, try world.theirs(box))
  }

  // MARK: Numbers of members

  @Test("the greatest number, filled from both ends of the relationship", arguments: races)
  func maximumCount(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    mine.items.append(Item(in: world.first))
    Item(in: world.second).box = theirs
    #expect(try race.run(world) == ["Box.items maximumCount"])
    #expect(try world.count(Item.where { $0.box != nil }) == 3)
  }

  @Test("the least number, a member deleted here and another one taken out there", arguments: races)
  func minimumCount(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let pins = (0..<3).map { _ in Pin(in: world.first) }
    let board = Board(in: world.first)
    board.pins = [pins[2]]
    board.crew = [pins[0], pins[1]]
    try world.first.save()
    let theirs = try world.theirs(board)
    theirs.crew.remove(try world.theirs(pins[1]))
    try world.first.delete(pins[0])
    #expect(try race.run(world) == ["Board.crew minimumCount"])
    #expect(try world.count(Board.where { $0.crew.any { $0.name == "" } }) == 1)
  }

  @Test("the least number of a one-way to-many, its owner unknown to who deletes the member", arguments: races)
  func minimumCountOneWay(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (pin, other) = (Pin(in: world.first), Pin(in: world.first))
    try world.first.save()
    let board = Board(in: world.second)
    board.pins = [try world.theirs(pin)]
    board.crew = [try world.theirs(other)]
    try world.first.delete(pin)
    let failures = try race.run(world)
    if race.firstIsEarly {
      #expect(failures.allSatisfy { $0 == "Board.pins deletedPartner" } && !failures.isEmpty)
      #expect(try world.count(Board.all) == 0)
    } else {
      #expect(failures == ["Board.pins minimumCount"])
      #expect(try world.count(Pin.all) == 2)
    }
  }

  // MARK: RestrictChecks

  @Test("a denial by a reference in a row", arguments: races)
  func denial(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    try world.first.delete(mine)
    _ = Lock(in: world.second, box: theirs)
    #expect(try race.run(world) == [race.firstIsEarly ? "Lock.box deletedPartner" : "Box.locks deniedDelete"])
    #expect(try world.count(Lock.all) == (race.firstIsEarly ? 0 : 1))
    #expect(try world.count(Box.all) == (race.firstIsEarly ? 0 : 1))
  }

  @Test("a denial by a pair", arguments: races)
  func pairDenial(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    try world.first.delete(mine)
    Label(in: world.second).boxes = [theirs]
    #expect(try race.run(world) == [race.firstIsEarly ? "Label.boxes deletedPartner" : "Box.labels deniedDelete"])
    #expect(try world.count(Box.all) == (race.firstIsEarly ? 0 : 1))
    #expect(try world.count(Label.all) == (race.firstIsEarly ? 0 : 1))
  }

  @Test("a denial by a required one-way reference", arguments: races)
  func oneWayDenial(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let pin = Pin(in: world.first)
    try world.first.save()
    let theirs = try world.theirs(pin)
    try world.first.delete(pin)
    _ = Ticket(in: world.second, pin: theirs)
    #expect(try race.run(world) == [race.firstIsEarly ? "Ticket.pin deletedPartner" : "Pin.Ticket.pin deniedDelete"])
    #expect(try world.count(Pin.all) == (race.firstIsEarly ? 0 : 1))
    #expect(try world.count(Ticket.all) == (race.firstIsEarly ? 0 : 1))
  }

  // MARK: Cascades

  @Test("a new member of a parent whose delete cascades", arguments: races)
  func cascade(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    try world.first.delete(mine)
    _ = Item(in: world.second, box: theirs)
    #expect(try race.run(world) == (race.firstIsEarly ? ["Item.box deletedPartner"] : []))
    #expect(try world.count(Box.all) == 0)
    #expect(try world.count(Item.all) == 0)
  }

  @Test("a new pair with a parent whose delete cascades", arguments: races)
  func pairCascade(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    try world.first.delete(mine)
    Part(in: world.second).boxes = [theirs]
    #expect(try race.run(world) == (race.firstIsEarly ? ["Part.boxes deletedPartner"] : []))
    #expect(try world.count(Part.all) == 0)
  }

  @Test(
    "a saved object that moves to a parent whose delete cascades goes with it, or stays where it was", arguments: races)
  func movedToCascade(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    let item = Item(in: world.second, name: "moved")
    try world.second.save()
    try world.first.delete(mine)
    item.box = theirs
    #expect(try race.run(world) == (race.firstIsEarly ? ["Item.box deletedPartner"] : []))
    #expect(try world.count(Item.where { $0.name == "moved" && $0.box == nil }) == (race.firstIsEarly ? 1 : 0))
  }

  @Test("new members at any level of a cascade that the store carries out", arguments: races)
  func cascadeInStore(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (folder, inner, sheet) = (Folder(in: world.second), Folder(in: world.second), Sheet(in: world.second))
    inner.parent = folder
    sheet.folder = inner
    try world.second.save()
    world.first.graph.fewMembers = 0
    let mine = try #require(try world.first.object(with: folder.objectID))
    try world.first.delete(mine)
    #expect(world.first.graph.leavesMembersToStore)
    _ = Folder(in: world.second, parent: folder)
    _ = Sheet(in: world.second, folder: inner)
    _ = Scrap(in: world.second, sheet: sheet)
    let failures = try race.run(world)
    let lost = ["Folder.parent deletedPartner", "Sheet.folder deletedPartner", "Scrap.sheet deletedPartner"]
    #expect(Set(failures) == Set(race.firstIsEarly ? lost : []))
    #expect(try world.count(Folder.all) + world.count(Sheet.all) + world.count(Scrap.all) == 0)
  }

  // MARK: Nullify

  @Test("a new partner of an object whose delete lets go", arguments: races)
  func nullify(_ race: Race) throws {
    let world = try TwoWriters(race.kind)
    let (mine, theirs) = try boxed(world)
    try world.first.delete(mine)
    _ = Slip(in: world.second, box: theirs)
    #expect(try race.run(world) == (race.firstIsEarly ? ["Slip.box deletedPartner"] : []))
    #expect(try world.count(Slip.where { $0.box == nil }) == (race.firstIsEarly ? 0 : 1))
    #expect(try world.count(Box.all) == 0)
  }
}
