import Testing
import Trellis
import TrellisTestSupport

/// A one-to-one that is its own inverse lies in the rows of both partners.
@Suite("Couples of a one-to-one that is its own inverse") struct CoupleTests {
  private let folder: TestFolder
  private let container: PersistentContainer

  private init(_ kind: StoreKind) throws {
    folder = try TestFolder()
    container = try PersistentContainer(model: .village, store: kind.configuration(in: folder)) { _ in }
  }

  init() throws { try self.init(.memory) }

  private func makeVillagers(_ count: Int, in context: ManagedObjectContext) throws -> [Villager] {
    let all = (0..<count).map { Villager(in: context, label: "\($0)") }
    try context.save()
    return all
  }

  /// The partners of villagers by their numbers, and whether each partner has the villager.
  private static func partners(_ all: [Villager]) -> [Int?] {
    all.map { one in all.firstIndex { $0 === one.spouse } }
  }

  private static func isAgreed(_ all: [Villager]) -> Bool {
    all.allSatisfy { one in one.spouse.map { $0.spouse === one } ?? true }
  }

  private func same(_ all: [Villager], in context: ManagedObjectContext) throws -> [Villager] {
    try all.map { try #require(try context.object(with: $0.objectID)) }
  }

  /// A pair of villagers, by their numbers, that becomes a couple; the second is nil if the first loses its partner.
  struct Match: Sendable, CustomTestStringConvertible {
    let first: Int
    let second: Int?
    var testDescription: String { "\(first) = \(second.map(String.init) ?? "nil")" }

    func carryOut(_ all: [Villager]) { all[first].spouse = second.map { all[$0] } }

    static let all: [Match] = (0..<4).flatMap { first in
      let others: [Int?] = [nil, 0, 1, 2, 3]
      return others.filter { $0 != first }.map { Match(first: first, second: $0) }
    }
  }

  /// How the context meets what others saved.
  enum Meeting: CaseIterable, Sendable { case merge, fetch, refresh, child }

  @Test(
    "both ends agree after a merge, whatever was set here and elsewhere", arguments: StoreKind.allCases,
    Meeting.allCases)
  func merged(kind: StoreKind, meeting: Meeting) throws {
    let place = try CoupleTests(kind)
    let matches = kind == .memory ? Match.all : Match.all.filter { $0.first < 2 && $0.second != 3 }
    var turn = CoupleTurn()
    for opening in [[], [Match(first: 0, second: 1)], [Match(first: 0, second: 1), Match(first: 2, second: 3)]] {
      for mine in matches {
        for theirs in matches {
          if turn.isSkipped() { continue }
          try place.merge(opening, mine, theirs, meeting, "\(opening), here \(mine), there \(theirs)")
        }
      }
    }
  }

  private func merge(
    _ opening: [Match], _ mine: Match, _ theirs: Match, _ meeting: Meeting, _ place: Comment
  ) throws {
    let other = container.newContext()
    let there = try makeVillagers(4, in: other)
    for match in opening { match.carryOut(there) }
    try other.save()
    let parent = container.newContext()
    let context = meeting == .child ? parent.newChildContext() : parent
    let here = try same(there, in: context)
    _ = Self.partners(here)
    mine.carryOut(here)
    let wanted = Self.partners(here)
    theirs.carryOut(there)
    try other.save()
    switch meeting {
    case .merge, .child: context.mergeChanges()
    case .fetch: _ = try context.fetch(Villager.where { $0.label == "0" })
    case .refresh: for one in here { try context.refresh(one) }
    }
    #expect(Self.isAgreed(here), "\(place): \(Self.partners(here))")
    // What was set here and nobody else has set otherwise stays.
    if here[mine.first].hasChanges(\.spouse) { #expect(Self.partners(here)[mine.first] == wanted[mine.first], place) }
    context.rollback()
    parent.rollback()
    #expect(!context.hasChanges && Self.partners(here) == Self.partners(there), place)
  }

  @Test(
    "both ends agree after a save, under every policy, merged before or not", arguments: MergePolicy.allCases,
    [false, true])
  func saved(policy: MergePolicy, isMerged: Bool) throws {
    var turn = CoupleTurn()
    for opening in [[], [Match(first: 0, second: 1)], [Match(first: 0, second: 1), Match(first: 2, second: 3)]] {
      for mine in Match.all {
        for theirs in Match.all where mine.first < 2 || theirs.first < 2 {
          if turn.isSkipped() { continue }
          try save(opening, mine, theirs, policy, isMerged)
        }
      }
    }
    #expect(try container.check().isEmpty)
  }

  private func save(
    _ opening: [Match], _ mine: Match, _ theirs: Match, _ policy: MergePolicy, _ isMerged: Bool
  ) throws {
    let place: Comment = "\(opening), here \(mine), there \(theirs)"
    let other = container.newContext()
    let there = try makeVillagers(4, in: other)
    for match in opening { match.carryOut(there) }
    try other.save()
    let context = container.newContext()
    let here = try same(there, in: context)
    _ = Self.partners(here)
    mine.carryOut(here)
    theirs.carryOut(there)
    try other.save()
    if isMerged { context.mergeChanges() }
    let before = Self.partners(here)
    do {
      try context.save(mergePolicy: policy)
      #expect(!context.hasChanges, place)
    } catch is SaveConflict {
      #expect(policy == .error, place)
      if isMerged { #expect(Self.partners(here) == before, place) }
      context.mergeChanges()
    }
    #expect(Self.isAgreed(here), "\(place): \(Self.partners(here))")
    let reading = container.newContext()
    let stored = try same(there, in: reading)
    #expect(Self.isAgreed(stored), "\(place): \(Self.partners(stored)) in the store")
    if !context.hasChanges { #expect(Self.partners(here) == Self.partners(stored), place) }
  }

  @Test("a partner that others took is here without one, and a rollback of the one property gives it back")
  func rollbackOfProperty() throws {
    let other = container.newContext()
    let there = try makeVillagers(3, in: other)
    let context = container.newContext()
    let here = try same(there, in: context)
    here[0].spouse = here[2]
    there[0].spouse = there[1]
    try other.save()
    context.mergeChanges()
    #expect(Self.partners(here) == [2, nil, 0])
    try here[0].rollback(\.spouse)
    #expect(Self.partners(here) == [1, 0, nil] && !context.hasChanges)
  }

  @Test(
    "an undo takes a partner back from an object that is not in memory", arguments: StoreKind.allCases, [false, true])
  func undoOfLostPartner(kind: StoreKind, isMerged: Bool) throws {
    let place = try CoupleTests(kind)
    let other = place.container.newContext()
    let there = try place.makeVillagers(3, in: other)
    let context = place.container.newContext()
    let two = try place.same(Array(there[..<2]), in: context)
    context.undo.enable()
    two[1].spouse = two[0]
    context.undo.endStep()
    two[0].spouse = nil
    there[1].spouse = there[2]
    try other.save()
    if isMerged { context.mergeChanges() }
    try context.undo.undo()
    let here = try place.same(there, in: context)
    #expect(Self.partners(here) == [1, 0, nil])
    try context.save(mergePolicy: .objectTrump)
    other.mergeChanges()
    #expect(Self.partners(there) == [1, 0, nil])
  }

  @Test(
    "what a parent rolls back is gone from both ends in its child", arguments: StoreKind.allCases, [false, true])
  func parentRollback(kind: StoreKind, isRead: Bool) throws {
    let place = try CoupleTests(kind)
    let parent = place.container.newContext()
    let above = try place.makeVillagers(3, in: parent)
    let child = parent.newChildContext()
    let here = try place.same(above, in: child)
    try child.delete(here[2])
    try child.save()
    try parent.save()
    here[0].spouse = here[1]
    try child.save()
    if isRead { #expect(Self.partners(Array(above[..<2])) == [1, 0]) }
    parent.rollback()
    child.mergeChanges()
    #expect(Self.partners(Array(here[..<2])) == [nil, nil] && !child.hasChanges)
  }
}

/// Which combinations a run tries.
private struct CoupleTurn {
  /// One in so many is tried; 1 for all of them.
  private static let part = TestSettings.number("TRELLIS_COUPLES_PART", or: 11)
  private var number = 0

  mutating func isSkipped() -> Bool {
    number += 1
    return !number.isMultiple(of: Self.part)
  }
}
