import Testing
import Trellis
import TrellisTestSupport

/// A child reads its parent's objects as they are, so also what the parent rolls back later.
@Suite("What a child has read of its parent's unsaved changes") struct ChildReadingTests {
  /// How the child reads what its parent has changed since the child's last merge.
  enum Reading: CaseIterable, Sendable { case refresh, discard, fault, fetch }

  private struct Family {
    let parent: ManagedObjectContext
    let child: ManagedObjectContext
    let above: (one: Villager, two: Villager, house: House, band: Band)
    let here: (one: Villager, two: Villager, house: House, band: Band)

    init(_ container: PersistentContainer) throws {
      parent = container.newContext()
      above = (Villager(in: parent), Villager(in: parent), House(in: parent), Band(in: parent))
      try parent.save()
      child = parent.newChildContext()
      here = (
        try #require(try child.object(with: above.one.objectID)),
        try #require(try child.object(with: above.two.objectID)),
        try #require(try child.object(with: above.house.objectID)),
        try #require(try child.object(with: above.band.objectID))
      )
    }

    func change() {
      above.one.label = "changed"
      above.one.spouse = above.two
      above.one.house = above.house
      above.one.friends.append(above.two)
      above.band.players.append(contentsOf: [above.two, above.one])
      above.house.label = "changed"
    }

    func read(_ reading: Reading) throws {
      let objects: [ManagedObject] = [here.one, here.two, here.house, here.band]
      switch reading {
      case .refresh: for object in objects { try child.refresh(object) }
      case .discard: for object in objects { try child.refresh(object, discardingChanges: true) }
      case .fault: break
      case .fetch: _ = try child.fetch(Villager.all)
      }
    }

    /// What the child shows, as numbers of partners.
    var shown: [Int] {
      [
        here.one.spouse === here.two ? 1 : 0, here.two.spouse === here.one ? 1 : 0, here.one.house == nil ? 0 : 1,
        here.house.dwellers.count, here.one.friends.count, here.two.friends.count, here.band.players.count,
        here.one.bands.count, here.two.bands.count, here.one.label.isEmpty ? 0 : 1, here.house.label.isEmpty ? 0 : 1,
      ]
    }

    static let unchanged = Array(repeating: 0, count: 11)
    static let changed = [1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
  }

  @Test(
    "it is gone at the next merge after the parent has rolled it back", arguments: Reading.allCases, [false, true])
  func rollback(reading: Reading, isEach: Bool) throws {
    let family = try Family(TestContainer(.village).container)
    if reading == .fault { family.child.refreshAll() } else { #expect(family.shown == Family.unchanged) }
    family.change()
    try family.read(reading)
    #expect(family.shown == Family.changed)
    if isEach {
      for object in family.parent.updatedObjects { try object.rollback() }
    } else {
      family.parent.rollback()
    }
    family.child.mergeChanges()
    #expect(family.shown == Family.unchanged)
    #expect(!family.child.hasChanges && family.child.linkViolations(hasMerged: true) == [])
  }

  @Test("it stays when the parent saves it", arguments: Reading.allCases)
  func save(reading: Reading) throws {
    let family = try Family(TestContainer(.village).container)
    if reading == .fault { family.child.refreshAll() } else { _ = family.shown }
    family.change()
    try family.read(reading)
    #expect(family.shown == Family.changed)
    try family.parent.save()
    family.child.mergeChanges()
    #expect(family.shown == Family.changed)
    #expect(!family.child.hasChanges && family.child.linkViolations(hasMerged: true) == [])
  }

  @Test("it is gone after an undo of the parent's", arguments: Reading.allCases)
  func undo(reading: Reading) throws {
    let family = try Family(TestContainer(.village).container)
    family.parent.undo.enable()
    if reading == .fault { family.child.refreshAll() } else { _ = family.shown }
    family.change()
    try family.read(reading)
    #expect(family.shown == Family.changed)
    try family.parent.undo.undo()
    family.child.mergeChanges()
    #expect(family.shown == Family.unchanged)
    #expect(!family.child.hasChanges && family.child.linkViolations(hasMerged: true) == [])
  }
}
