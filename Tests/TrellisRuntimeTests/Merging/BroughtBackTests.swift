import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("An object that was deleted here comes back, as others have edited it") struct BroughtBackTests {
  @Test(
    "members that others gave it stay", arguments: StoreKind.inPlace,
    [MergePolicy.storeTrump, .rollback])
  func pairs(_ kind: StoreKind, _ policy: MergePolicy) throws {
    for isOneContainer in [true, false] {
      for isRead in [true, false] {
        let world = try Pair(kind, isOneContainer: isOneContainer)
        let person = Person(in: world.mine, name: "p")
        let friend = Person(in: world.mine, name: "f")
        let hobby = Hobby(in: world.mine)
        let medal = Medal(in: world.mine)
        try world.mine.save()
        if isRead { _ = (person.hobbies.count, person.friends.count, hobby.people.count, friend.friends.count) }
        try world.mine.delete(person)
        let theirs = try #require(try world.theirs.object(with: person.objectID))
        theirs.nick = "n"
        try world.theirs.object(with: hobby.objectID)?.people.append(theirs)
        theirs.friends = ToMany(try world.theirs.fetch(Person.where { $0.name == "f" }))
        theirs.medals = ToMany(try world.theirs.fetch(Medal.all))
        try world.theirs.save()
        if isRead {
          world.mine.mergeChanges()
          _ = (hobby.people.count, friend.friends.count, medal.name)
        }
        try world.mine.save(mergePolicy: policy)
        let place: Comment = "one container: \(isOneContainer), read: \(isRead)"
        #expect(!person.isDeleted && !world.mine.hasChanges, place)
        // A store in memory does not tell of another container's saves.
        if kind == .sqlite || isOneContainer {
          #expect(person.hobbies.count == 1 && hobby.people.count == 1, place)
          #expect(person.friends.count == 1 && friend.friends.count == 1 && person.medals.count == 1, place)
        }
        let reader = world.container.newContext()
        let stored = try reader.first(Person.where { $0.name == "p" })
        #expect(stored?.nick == "n" && stored?.hobbies.count == 1, place)
        #expect(stored?.friends.count == 1 && stored?.medals.count == 1, place)
        #expect(try world.container.check() == [], place)
      }
    }
  }

  /// Two contexts of one container or of two.
  private struct Pair {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext
    private let file = TemporaryFile()

    init(_ kind: StoreKind, isOneContainer: Bool) throws {
      let store: StoreConfiguration =
        kind == .memory ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
      container = try PersistentContainer(model: .rivals, store: store) { _ in }
      let other = isOneContainer ? container : try PersistentContainer(model: .rivals, store: store) { _ in }
      (mine, theirs) = (container.newContext(), other.newContext())
    }
  }
}
