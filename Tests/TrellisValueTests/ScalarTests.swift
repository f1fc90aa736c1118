import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("Own types of single values") struct ScalarTests {
  private let isbn = ISBN(rawValue: "9783161484100")

  @discardableResult private func receipt(
    _ title: String, _ context: ManagedObjectContext, isbn: ISBN? = nil, day: Date? = nil, weight: Double? = nil
  ) -> Receipt {
    Receipt(
      in: context, price: Money(), title: title, isbn: isbn, codes: [isbn].compactMap(\.self),
      day: day.map(Day.init), weight: weight.map(Grams.init))
  }

  @Test("values are of the type after a round trip through a store", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let container = try TestContainer(.till, kind)
    let context = container.container.newContext()
    let one = receipt("a", context, isbn: isbn, day: Date(timeIntervalSince1970: 1.123_456_78), weight: 2.5)
    receipt("b", context)
    try context.save()
    let other = container.container.newContext()
    let read = try #require(try other.fetch(Receipt.where { $0.id == one.id }).first)
    #expect(read.isbn == isbn && read.codes == [isbn].compactMap(\.self) && read.weight?.value == 2.5)
    #expect(read.day == one.day && read.day.start == Date(timeIntervalSince1970: 1.123_457))
    #expect(read.snapshot == one.snapshot)
    let plain = try #require(try other.fetch(Receipt.where { $0.title == "b" }).first)
    #expect(plain.isbn == nil && plain.day.start == Date(timeIntervalSince1970: 1_577_836_800))
  }

  @Test("conditions, sorts, groups and values have the type", arguments: StoreKind.allCases)
  func requests(_ kind: StoreKind) throws {
    let container = try TestContainer(.till, kind)
    let context = container.container.newContext()
    receipt("a", context, isbn: isbn, day: Date(timeIntervalSince1970: 9), weight: 1)
    receipt("b", context, day: Date(timeIntervalSince1970: 5), weight: 3)
    try context.save()
    func titles(_ condition: (Receipt.Columns) -> QueryCondition) throws -> [String] {
      try context.values(of: Receipt.where { condition($0) }.sorted { $0.day }) { $0.title }
    }
    #expect(try titles { $0.isbn == isbn } == ["a"] && titles { $0.isbn == nil } == ["b"])
    #expect(try titles { $0.isbn.stored.hasPrefix("978") } == ["a"])
    #expect(try titles { $0.weight > Grams(stored: 2) } == ["b"] && titles { $0.weight.stored < 2 } == ["a"])
    #expect(try titles { $0.day.isIn([Day(stored: Date(timeIntervalSince1970: 5))]) } == ["b"])
    #expect(try titles { $0.title != "" } == ["b", "a"])
    #expect(try context.values(of: Receipt.all.sorted { $0.day }) { $0.isbn } == [nil, isbn])
    let groups = try context.grouped(Receipt.all, by: { $0.isbn }) { $0.count }
    #expect(Set(groups.map(\.key)) == [nil, isbn])
    #expect(try context.fetch(Receipt.where("isbn == %@", isbn)).map(\.title) == ["a"])
  }

  @Test("a snapshot is encoded with the stored forms") func snapshots() throws {
    let context = try TestContainer(.till).container.newContext()
    let one = receipt("a", context, isbn: isbn)
    let data = try JSONEncoder().encode(one.snapshot)
    #expect(String(decoding: data, as: UTF8.self).contains(#""isbn":"9783161484100""#))
    #expect(String(decoding: data, as: UTF8.self).contains(#""codes":["9783161484100"]"#))
    #expect(String(decoding: data, as: UTF8.self).contains(#""price.amount":0"#))
    #expect(try JSONDecoder().decode(Receipt.Snapshot.self, from: data) == one.snapshot)
  }

  @Test("a stored value that the type refuses is reported, and stays in the store") func refused() throws {
    let folder = try TestFolder()
    let file = folder.file("store.json")
    do {
      let container = try PersistentContainer(model: .till, store: .json(at: file))
      let context = container.newContext()
      receipt("a", context, isbn: isbn)
      try context.save()
      container.close()
    }
    let text = try String(contentsOf: file, encoding: .utf8)
    try text.replacingOccurrences(of: "9783161484100", with: "refused").write(
      to: file, atomically: true, encoding: .utf8)
    let container = try PersistentContainer(model: .till, store: .json(at: file))
    let context = container.newContext()
    let error = #expect(throws: StoreError.self) { try context.fetch(Receipt.all) }
    #expect(
      error?.code == .unreadableValue && error?.message.contains("is no ISBN") == true, "\(String(describing: error))")
    #expect(try context.values(of: Receipt.all) { $0.title } == ["a"])
    _ = Bill(in: context, number: 1, total: Money())
    try context.save()
    container.close()
    #expect(try String(contentsOf: file, encoding: .utf8).contains("refused"))
  }
}
