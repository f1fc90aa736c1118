import Testing
import Trellis
import TrellisTestSupport

/// Changes that only the store can refuse are discarded like those that break a rule in memory.
@Suite("Changes that the store refuses are discarded") struct RefusedInStoreTests {
  @Test("a new object with a key that is taken, and not the others", arguments: WriterPair.Place.allCases)
  func takenKey(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    _ = Species(in: pair.second, number: 25, name: "theirs")
    try pair.second.save()
    let mine = Species(in: pair.first, number: 25, name: "mine")
    let other = Species(in: pair.first, number: 26, name: "other")
    let discarded = try pair.first.saveValidChanges()
    #expect(discarded.map(\.object.key) == [mine.objectID.key] && discarded.first?.failures.map(\.rule) == [.unique])
    #expect(mine.managedObjectContext == nil && !other.hasChanges)
    #expect(try pair.stored(Species.all).map(\.name).sorted() == ["other", "theirs"])
  }

  @Test("under a policy that settles keys nothing is discarded")
  func settledKey() throws {
    let pair = try WriterPair(.sqlite)
    _ = Species(in: pair.second, number: 25, name: "theirs")
    try pair.second.save()
    pair.first.mergePolicy = .objectTrump
    let mine = Species(in: pair.first, number: 25, name: "mine")
    #expect(try pair.first.saveValidChanges() == [])
    #expect(mine.replacedBy != nil)
    #expect(try pair.stored(Species.all).map(\.name) == ["mine"])
  }

  @Test("a conflict breaks no rule and is thrown", arguments: WriterPair.Place.allCases)
  func conflict(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    let mine = Counter(in: pair.first, name: "a")
    try pair.first.save()
    try pair.theirs(mine).value = 10
    try pair.second.save()
    mine.value = 5
    #expect(throws: SaveConflict.self) { try pair.first.saveValidChanges() }
    #expect(mine.value == 5)
    #expect(try pair.first.saveValidChanges(mergePolicy: .objectTrump) == [])
    #expect(try pair.stored(Counter.all).map(\.value) == [5])
  }

  @Test("an object that breaks a rule by what was done around it", arguments: StoreKind.inPlace)
  func unchangedOwner(_ kind: StoreKind) throws {
    let world = try TwoWriters(kind)
    let pot = Pot(in: world.first)
    let lid = Lid(in: world.first, pot: pot)
    try world.first.save()
    #expect(try world.theirs(pot).lid != nil)
    let newLid = Lid(in: world.first, pot: pot)
    try world.first.delete(lid)
    try world.first.save()
    let moved = try world.theirs(newLid)
    moved.pot = Pot(in: world.second)
    let kept = Box(in: world.second, name: "kept")
    let discarded = try world.second.saveValidChanges()
    #expect(discarded.contains { $0.object.key == pot.objectID.key && $0.failures.map(\.rule) == [.required] })
    #expect(!kept.isInserted && moved.pot?.objectID == pot.objectID)
    #expect(try world.count(Box.where { $0.name == "kept" }) == 1)
    #expect(try world.count(Pot.all) == 1)
  }

  @Test("a delete that another writer's reference denies is taken back, and what else it deletes is deleted")
  func oneOfTwoDeletes() throws {
    let world = try TwoWriters(.sqlite)
    let (held, free) = (Box(in: world.first), Box(in: world.first))
    try world.first.save()
    try world.first.delete(held)
    try world.first.delete(free)
    _ = Lock(in: world.second, box: try world.theirs(held))
    try world.second.save()
    let discarded = try world.first.saveValidChanges()
    #expect(discarded.map(\.object.key) == [held.objectID.key] && discarded.map(\.kind) == [.delete])
    #expect(try world.first.fetch(Box.all) == [held])
  }
}
