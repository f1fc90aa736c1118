import Foundation
import Testing
import Trellis

@Suite("Arithmetic in typed conditions", .serialized) struct ArithmeticTests {
  @Test("decimals: with values, with each other, and in sums over members", arguments: AnsweringStore.allCases)
  func decimals(_ store: AnsweringStore) throws {
    let world = try EntryWorld(store)
    let context = world.context
    #expect(try context.count(Entry.where { $0.amount * 2 > 4 }) == 2)
    #expect(try context.count(Entry.where { $0.amount / 2 + 1 == 6 }) == 1)
    #expect(try context.count(Entry.where { $0.amount - 0.1 == 0 }) == 1)
    #expect(try context.count(Entry.where { -$0.amount < -5 }) == 1)
    #expect(try context.count(Entry.where { $0.amount * $0.amount > $0.amount }) == 2)
    #expect(try context.count(Entry.where { $0.amount < $0.amount * $0.amount }) == 2)
    #expect(try context.count(Entry.where { $0.amount.raised(to: 2) == 100 && $0.amount.rounded == 10 }) == 1)
    #expect(try context.count(Entry.where { $0.amount.roundedUp - $0.amount.roundedDown == 1 }) == 3)
    #expect(try context.count(Ledger.where { $0.entries.sum { $0.amount * 2 } == 25.6 }) == 1)
    #expect(try context.count(Ledger.where { $0.entries.maximum { $0.amount } >= $0.entries.sum { $0.amount } }) == 0)
    #expect(try context.count(Entry.where { $0.amount / 0 == 0 || $0.amount / 0 != 1 }) == 4)
  }

  @Test("dates: seconds are added and taken away")
  func dates() throws {
    let context = try EntryWorld(.sqlite).context
    let day = try #require(try context.first(Entry.all)).day
    #expect(try context.count(Entry.where { $0.day + 3600 > day }) == 4)
    #expect(try context.count(Entry.where { $0.day - 0.5 >= $0.day }) == 0)
    #expect(try context.count(Entry.where { $0.day < $0.day + 0.000_001 }) == 4)
  }

  @Test("whole numbers, optional ones beside them, and numbers of other kinds when asked for")
  func integers() throws {
    let context = try PersistentContainer(model: .conflicts, store: .memory).newContext()
    for (words, least) in [(7, 2), (9, 3), (1, 0)] {
      _ = Essay(in: context, title: "\(words)", words: Int64(words), least: Int64(least))
    }
    let move = Move(in: context, name: "hop", level: 3, power: 6)
    _ = Move(in: context, name: "sit")
    _ = Species(in: context, number: 2, name: "Á", height: 0.5)
    try context.save()
    #expect(try context.values(of: Essay.where { $0.words / $0.least == 3 }) { $0.title } == ["7", "9"])
    #expect(try context.count(Essay.where { $0.words.real / $0.least.real > 3 }) == 1)
    #expect(try context.count(Essay.where { $0.words.decimal * 0.1 == 0.7 }) == 1)
    #expect(try context.count(Essay.where { $0.title.length + $0.words == 8 }) == 1)
    #expect(try context.fetch(Move.where { $0.level * 2 == $0.power }) == [move])
    #expect(try context.fetch(Move.where { $0.power == $0.level * 2 }) == [move])
    #expect(try context.count(Move.where { $0.level + 1 != 4 }) == 1)
    #expect(try context.count(Species.where { $0.number.real * $0.height == 1 && $0.name.lowercased == "á" }) == 1)
  }
}
