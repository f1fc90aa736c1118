import Foundation
import Testing
import Trellis

@Suite("Unique keys, and objects that become one") struct UniqueKeyTests {
  typealias Case = MergePolicyTests.Case
  static let all = MergePolicyTests.all
  static let places = WriterPair.Place.allCases

  private func refusal(_ context: ManagedObjectContext, _ policy: MergePolicy? = nil) throws -> [ValidationFailure] {
    try #require(throws: ValidationError.self) { try context.save(mergePolicy: policy) }.failures
  }

  @Test("a key that somebody else has taken meanwhile", arguments: all) func race(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let theirs = Species(in: pair.second, number: 25, name: "theirs", height: 4)
    try pair.second.save()
    let mine = Species(in: pair.first, number: 25, name: "mine", sprite: "mine")
    let other = Species(in: pair.first, number: 26, name: "other")
    if test.policy == .error {
      let failure = try #require(try refusal(pair.first).first)
      #expect(failure.rule == .unique && failure.property == "number" && failure.key == mine.objectID.key)
      #expect(failure.blockers.map(\.key) == [theirs.objectID.key])
      #expect(mine.isInserted && mine.replacedBy == nil && pair.first.insertedObjects == [mine, other])
      #expect(try pair.stored(Species.all).map(\.name) == ["theirs"])
      mine.number = 27
      try pair.first.save()
      return
    }
    try pair.first.save(mergePolicy: test.policy)
    let stored = try pair.stored(Species.where { $0.number == 25 })
    #expect(stored.map(\.objectID) == [theirs.objectID] && mine.replacedBy == theirs.objectID)
    #expect(mine.managedObjectContext == nil && !mine.isDeleted && mine.name == "mine" && !pair.first.hasChanges)
    let values = stored.map { [$0.name, "\($0.height)", $0.sprite] }.first
    switch test.policy {
    // What has a default and was not given is not moved, under a trump policy.
    case .objectTrump: #expect(values == ["mine", "4.0", "mine"])
    case .storeTrump: #expect(values == ["theirs", "4.0", "mine"])
    case .overwrite: #expect(values == ["mine", "1.0", "mine"])
    case .rollback, .error: #expect(values == ["theirs", "4.0", nil])
    }
    #expect(try pair.first.object(with: theirs.objectID)?.snapshot == stored.first?.snapshot)
    #expect(try pair.stored(Species.all).count == 2)
  }

  @Test("what was set after the initialiser counts as given", arguments: places)
  func assignedLater(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    _ = Species(in: pair.second, number: 1, name: "theirs", height: 4, sprite: "theirs")
    try pair.second.save()
    let mine = Species(in: pair.first, number: 1, name: "mine")
    mine.height = 1
    mine.sprite = nil
    try pair.first.save(mergePolicy: .objectTrump)
    let stored = try #require(try pair.stored(Species.all).first)
    #expect(stored.height == 1 && stored.sprite == nil)
  }

  @Test("references and members move to the object that stays, and no delete rule fires", arguments: all)
  func links(_ test: Case) throws {
    guard test.policy != .error else { return }
    let pair = try WriterPair(test.place)
    let theirs = Species(in: pair.second, number: 1, name: "theirs")
    let old = Trait(in: pair.second, name: "old")
    let shared = Trait(in: pair.second, name: "shared")
    theirs.traits = [old, shared]
    theirs.moves = [Move(in: pair.second, name: "old")]
    theirs.habitat = Habitat(in: pair.second, name: "sea")
    try pair.second.save()

    let mine = Species(in: pair.first, number: 1, name: "mine")
    mine.traits = [Trait(in: pair.first, name: "new"), Trait(in: pair.first, name: "shared")]
    mine.moves = [Move(in: pair.first, name: "new")]
    mine.habitat = Habitat(in: pair.first, name: "forest")
    let sighting = Sighting(in: pair.first, seen: mine)
    sighting.also = [mine]
    try pair.first.save(mergePolicy: test.policy)

    let stored = try #require(try pair.stored(Species.all).first)
    #expect(stored.objectID == theirs.objectID)
    let isTheirs = test.policy == .rollback
    #expect(Set(stored.traits.map(\.name)) == (isTheirs ? ["old", "shared", "new"] : ["old", "shared", "new"]))
    #expect(Set(stored.moves.map(\.name)) == ["old", "new"])
    let keepsTheirs = isTheirs || test.policy == .storeTrump
    #expect(stored.habitat?.name == (keepsTheirs ? "sea" : "forest"))
    #expect(try pair.stored(Trait.all).map(\.name).sorted() == ["new", "old", "shared"])
    let seen = try #require(try pair.stored(Sighting.all).first)
    #expect(seen.seen?.objectID == theirs.objectID && seen.also.map(\.objectID) == [theirs.objectID])
    #expect(sighting.seen?.objectID == theirs.objectID && !pair.first.hasChanges)
    let kept = try #require(try pair.first.object(with: theirs.objectID))
    #expect(Set(kept.traits.map(\.name)) == Set(stored.traits.map(\.name)))
    #expect(Set(kept.moves.map(\.name)) == Set(stored.moves.map(\.name)))
  }

  @Test("two new objects with one key", arguments: all) func twoNew(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let first = Species(in: pair.first, number: 1, name: "first")
    let second = Species(in: pair.first, number: 1, name: "second", sprite: "second")
    guard test.policy != .error else {
      let failures = try refusal(pair.first)
      #expect(
        failures.map(\.key) == [second.objectID.key] && failures.first?.blockers.map(\.key) == [first.objectID.key])
      return
    }
    try pair.first.save(mergePolicy: test.policy)
    let stored = try pair.stored(Species.all)
    #expect(stored.map(\.objectID) == [first.objectID] && second.replacedBy == first.objectID)
    #expect(first.replacedBy == nil && !first.isInserted)
    let mineWins = test.policy == .objectTrump || test.policy == .overwrite
    #expect(stored.first?.name == (mineWins ? "second" : "first"))
    #expect(stored.first?.sprite == (test.policy == .rollback ? nil : "second"))
  }

  @Test("a saved object that takes another one's key", arguments: all) func updated(_ test: Case) throws {
    let pair = try WriterPair(test.place)
    let mine = Species(in: pair.first, number: 1, name: "a")
    try pair.first.save()
    let theirs = Species(in: pair.second, number: 2, name: "b")
    try pair.second.save()
    (mine.number, mine.name) = (2, "mine")
    switch test.policy {
    case .error, .objectTrump, .overwrite:
      let failures = try refusal(pair.first, test.policy)
      #expect(failures.map(\.rule) == [.unique] && failures.first?.blockers.map(\.key) == [theirs.objectID.key])
      #expect(mine.number == 2 && mine.hasChanges)
    case .storeTrump, .rollback:
      try pair.first.save(mergePolicy: test.policy)
      #expect(mine.number == 1 && mine.name == (test.policy == .rollback ? "a" : "mine") && !mine.hasChanges)
    }
  }

  @Test("compound keys bind together, and one with a nil binds nobody", arguments: places)
  func compound(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    _ = Move(in: pair.second, name: "jump", level: 1, power: 5)
    _ = Move(in: pair.second, name: "jump")
    try pair.second.save()
    _ = Move(in: pair.first, name: "jump", level: 2)
    _ = Move(in: pair.first, name: "jump")
    _ = Move(in: pair.first, name: "swim", level: 1)
    try pair.first.save()
    let again = Move(in: pair.first, name: "jump", level: 1, power: 9)
    #expect(try refusal(pair.first).map(\.property) == ["name, level"])
    try pair.first.save(mergePolicy: .objectTrump)
    #expect(again.replacedBy != nil)
    #expect(try pair.stored(Move.where { $0.level == 1 && $0.name == "jump" }).map(\.power) == [9])
    #expect(try pair.stored(Move.all).count == 5)
  }

  @Test("a key binds the entities below, a child's key only its own subtree", arguments: places)
  func hierarchy(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    let theirs = Ship(in: pair.second, code: "1", hull: "steel")
    try pair.second.save()
    let raft = Raft(in: pair.first, code: "1")
    // Objects of different entities cannot become one, whatever the policy.
    for policy in MergePolicy.allCases { #expect(try refusal(pair.first, policy).map(\.key) == [raft.objectID.key]) }
    raft.code = "2"
    raft.hull = "steel"
    try pair.first.save()
    let mine = Ship(in: pair.first, code: "3", hull: "steel")
    try pair.first.save(mergePolicy: .objectTrump)
    #expect(mine.replacedBy == theirs.objectID)
    #expect(try Set(pair.stored(Craft.all).map(\.code)) == ["3", "2"])
  }

  @Test("keys may swap, and a deleted object's key is free, in one save", arguments: all) func free(_ test: Case) throws
  {
    let pair = try WriterPair(test.place)
    let (a, b, c) = (
      Species(in: pair.first, number: 1, name: "a"), Species(in: pair.first, number: 2, name: "b"),
      Species(in: pair.first, number: 3, name: "c")
    )
    try pair.first.save()
    (a.number, b.number) = (2, 1)
    try pair.first.delete(c)
    let new = Species(in: pair.first, number: 3, name: "new")
    try pair.first.save(mergePolicy: test.policy)
    #expect(new.replacedBy == nil)
    #expect(try pair.stored(Species.all.sorted { $0.number.ascending }).map(\.name) == ["b", "a", "new"])
  }

  @Test("when the save fails after objects have become one, they are two again", arguments: places)
  func failure(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    let theirs = Species(in: pair.second, number: 1, name: "theirs")
    try pair.second.save()
    let mine = Species(in: pair.first, number: 1, name: "mine")
    let trait = Trait(in: pair.first, name: "t")
    mine.traits = [trait]
    mine.moves = [Move(in: pair.first, name: "m")]
    let sighting = Sighting(in: pair.first, seen: mine)
    // Nothing settles this one.
    let craft = Ship(in: pair.second, code: "1")
    try pair.second.save()
    let raft = Raft(in: pair.first, code: "1")
    _ = try refusal(pair.first, .objectTrump)
    #expect(
      mine.isInserted && mine.managedObjectContext === pair.first && mine.replacedBy == nil && mine.name == "mine")
    #expect(Array(mine.traits) == [trait] && Array(trait.species) == [mine] && mine.moves.count == 1)
    #expect(sighting.seen === mine && pair.first.updatedObjects.isEmpty)
    raft.code = nil
    try pair.first.save(mergePolicy: .objectTrump)
    #expect(mine.replacedBy == theirs.objectID && trait.species.first?.objectID == theirs.objectID)
    #expect(craft.objectID.key != raft.objectID.key)
  }

  @Test("objects without links are new again after a save that fails, and the next one unites them", arguments: places)
  func revertedAlone(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    let gone = Species(in: pair.first, number: 99, name: "gone")
    try pair.first.save()
    for number in 0..<40 { _ = Counter(in: pair.second, name: "\(number)", value: 1) }
    try pair.second.delete(try pair.theirs(gone))
    try pair.second.save()
    let mine = (0..<40).map { Counter(in: pair.first, name: "\($0)", value: 2) }
    let free = Counter(in: pair.first, name: "free")
    // The store looks for the species after the keys.
    let sighting = Sighting(in: pair.first, place: "here", seen: gone)
    if place != .oneContainer {
      #expect(throws: (any Error).self) { try pair.first.save(mergePolicy: .objectTrump) }
      #expect(pair.first.insertedObjects.count == 42)
      for (number, counter) in mine.enumerated() {
        #expect(counter.isInserted && counter.replacedBy == nil && counter.managedObjectContext === pair.first)
        #expect(counter.name == "\(number)" && counter.value == 2)
        #expect(try pair.first.object(with: counter.objectID) === counter)
      }
    }
    try pair.first.delete(sighting)
    mine[0].value = 3
    try pair.first.save(mergePolicy: .objectTrump)
    #expect(mine.allSatisfy { $0.replacedBy != nil } && free.replacedBy == nil)
    let stored = try pair.stored(Counter.all.sorted { $0.value })
    #expect(stored.map(\.value) == [0] + Array(repeating: 2, count: 39) + [3])
  }

  @Test("a conflict that the policy does not settle leaves no object replaced", arguments: places)
  func refusedTogether(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    _ = Raft(in: pair.second, code: "raft")
    _ = Counter(in: pair.second, name: "a", value: 1)
    try pair.second.save()
    let counter = Counter(in: pair.first, name: "a", value: 2)
    let ship = Ship(in: pair.first, code: "raft")
    let failures = try refusal(pair.first, .objectTrump)
    #expect(failures.map(\.key) == [ship.objectID.key])
    #expect(counter.isInserted && counter.replacedBy == nil && ship.isInserted)
    ship.code = "ship"
    try pair.first.save(mergePolicy: .objectTrump)
    #expect(counter.replacedBy != nil && ship.replacedBy == nil)
    #expect(try pair.stored(Counter.all).map(\.value) == [2])
  }

  @Test("a to-one that was set to nil is nil afterwards, one that was not stays", arguments: places)
  func emptied(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    for number in [1, 2] as [Int16] {
      _ = Species(in: pair.second, number: number, name: "theirs", habitat: Habitat(in: pair.second, name: "\(number)"))
    }
    try pair.second.save()
    Species(in: pair.first, number: 1, name: "mine").habitat = nil
    _ = Species(in: pair.first, number: 2, name: "mine")
    try pair.first.save(mergePolicy: .objectTrump)
    let stored = try pair.stored(Species.all.sorted { $0.number.ascending })
    #expect(stored.map { $0.habitat?.name } == [nil, "2"])
  }

  @Test("importing the same again changes nothing twice", arguments: places)
  func reimport(_ place: WriterPair.Place) throws {
    let pair = try WriterPair(place)
    for round in 0..<3 {
      let context = round == 1 ? pair.second : pair.first
      for number in 0..<50 {
        let species = Species(in: context, number: Int16(number), name: "\(number) of \(round)")
        species.traits = ToMany((0..<3).map { Trait(in: context, name: "\((number + $0) % 10)") })
        species.moves = [Move(in: context, name: "\(number)", level: 1)]
      }
      try context.save(mergePolicy: .objectTrump)
      #expect(!context.hasChanges)
    }
    let stored = try pair.stored(Species.all)
    #expect(stored.count == 50 && stored.allSatisfy { $0.name.hasSuffix(" of 2") && $0.traits.count == 3 })
    #expect(stored.allSatisfy { $0.moves.count == 1 })
    #expect(try pair.stored(Trait.all).count == 10)
    #expect(try pair.stored(Move.all).count == 50)
  }
}
