import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisRuntime

@Suite("The keys of a to-many") struct MemberListTests {
  /// Compares a list with an array of the same keys, which is always searched from front to end.
  private struct Comparison {
    let list: MemberList
    var keys: ContiguousArray<Int64>

    func check(_ key: Int64, _ seed: UInt64) {
      #expect(list.keys == keys, "seed \(seed)")
      #expect(list.contains(key) == keys.contains(key), "seed \(seed), key \(key)")
      #expect(list.place(of: key) == keys.firstIndex(of: key), "seed \(seed), key \(key)")
    }
  }

  @Test("keys are found however many they are, in whatever order, however often they are asked for", arguments: 0..<40)
  func searches(round: Int) {
    let seed = TestSettings.seed() &+ UInt64(round)
    var generator = SeededGenerator(seed: seed)
    // Around 32 keys and 32 passes the way of searching changes.
    let range = [Int64(10), 40, 100, 1_000][round % 4]
    let list = MemberList(Self.relationship, isLoaded: false)
    let stored = ContiguousArray((1...range).filter { _ in Bool.random(using: &generator) })
    list.load(stored)
    var comparison = Comparison(list: list, keys: stored)
    for _ in 0..<200 {
      let key = Int64.random(in: 0...range + 2, using: &generator)
      change(&comparison, key, range, &generator)
      comparison.check(key, seed)
      comparison.check(Int64.random(in: 0...range + 2, using: &generator), seed)
    }
  }

  private func change(
    _ comparison: inout Comparison, _ key: Int64, _ range: Int64, _ generator: inout SeededGenerator
  ) {
    let list = comparison.list
    switch Int.random(in: 0..<12, using: &generator) {
    case 0...3:
      comparison.keys.removeAll { $0 == key }
      let place = Int.random(in: 0...comparison.keys.count, using: &generator)
      comparison.keys.insert(key, at: place)
      list.insert(key, at: place)
    case 4...5:
      comparison.keys.removeAll { $0 == key }
      comparison.keys.append(key)
      list.insert(key)
    case 6...8:
      comparison.keys.removeAll { $0 == key }
      list.remove(key)
    case 9:
      comparison.keys.removeAll { $0 % 7 == key % 7 }
      list.forget(Set((0...range + 2).filter { $0 % 7 == key % 7 }))
    case 10:
      comparison.keys.sort()
      list.reorder(comparison.keys)
    default: list.didSave()
    }
  }

  /// A change of a list, by calls that need not know its members.
  private enum Change: CaseIterable {
    case append, include, remove, hide, show
  }

  @Test(
    "what is changed before the members are read leads to the same members as what is changed afterwards",
    arguments: 0..<60)
  func sameForm(round: Int) {
    let seed = TestSettings.seed() &+ UInt64(round)
    var generator = SeededGenerator(seed: seed)
    for isOrdered in [false, true] {
      for _ in 0..<40 { compareForms(isOrdered, &generator, seed) }
    }
  }

  private func compareForms(_ isOrdered: Bool, _ generator: inout SeededGenerator, _ seed: UInt64) {
    let stored = ContiguousArray(
      (Int64(1)...7).filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator))
    let (early, late) = (list(isOrdered), list(isOrdered))
    late.load(stored)
    var text = "\(Array(stored))"
    var dead: Set<Int64> = []
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      let key = Int64.random(in: 1...9, using: &generator)
      let change = Change.allCases.randomElement(using: &generator) ?? .append
      // As the graph calls them: only what is a member is removed, only what is deleted returns.
      let isMember = late.contains(key)
      switch change {
      case .append where !dead.contains(key):
        early.insert(key, isStored: stored.contains(key))
        late.insert(key, isStored: stored.contains(key))
      case .include where !isMember && !dead.contains(key) && !stored.contains(key):
        early.include(key, isStored: false)
        late.include(key, isStored: false)
      case .remove where isMember:
        early.remove(key, isStored: stored.contains(key))
        late.remove(key, isStored: stored.contains(key))
      case .hide where isMember:
        dead.insert(key)
        early.hide(key)
        late.hide(key)
      case .show where dead.remove(key) != nil:
        early.show(key)
        late.show(key)
      default: continue
      }
      text += ", \(change) \(key)"
    }
    early.load(stored, hiding: dead.intersection(stored))
    let comment: Comment = "seed \(seed), \(isOrdered ? "ordered" : "unordered"): \(text)"
    if isOrdered {
      #expect(early.keys == late.keys, comment)
    } else {
      #expect(early.keys.sorted() == late.keys.sorted(), comment)
    }
    #expect(early.hasChanges == late.hasChanges, comment)
    #expect(Set(early.difference.added) == Set(late.difference.added), comment)
    #expect(Set(early.difference.removed) == Set(late.difference.removed), comment)
    #expect(early.hiddenKeys == late.hiddenKeys, comment)
    // Dropping the base loses no change.
    let keys = early.keys
    early.unload(keepingOrder: true) { _ in false }
    early.load(stored, hiding: dead.intersection(stored))
    #expect(isOrdered ? early.keys == keys : early.keys.sorted() == keys.sorted(), "\(comment), dropped and read again")
  }

  private func list(_ isOrdered: Bool) -> MemberList {
    MemberList(isOrdered ? Self.relationship : Self.unordered, isLoaded: false)
  }

  private static let unordered = Relationship(
    RelationshipDescription("members", to: "Member", toMany: true), index: 0, entity: 0, entityName: "Owner",
    destination: 0, inverse: nil, partnerRule: nil, home: .inverseColumn)

  private static let relationship = Relationship(
    RelationshipDescription("members", to: "Member", toMany: true, ordered: true), index: 0, entity: 0,
    entityName: "Owner", destination: 0, inverse: nil, partnerRule: nil, home: .inverseColumn)
}

@Suite("A filter of keys") struct KeyFilterTests {
  @Test("it tells apart most keys and no key that is in the set", arguments: 0..<10)
  func tellsApart(round: Int) {
    let seed = TestSettings.seed() &+ UInt64(round)
    var generator = SeededGenerator(seed: seed)
    let count = [0, 1, 5, 63, 64, 65, 1_000, 5_000, 10_000, 20_000][round]
    let keys = Set((0..<count).map { _ in Int64.random(in: .min ... .max, using: &generator) })
    let filter = KeyFilter(keys)
    #expect(keys.allSatisfy(filter.mayContain), "seed \(seed)")
    let others = (0..<1_000).map { _ in Int64.random(in: .min ... .max, using: &generator) }
    // At most one in eight, which a random sample exceeds by little.
    #expect(others.count(where: filter.mayContain) < 200, "seed \(seed)")
  }
}
