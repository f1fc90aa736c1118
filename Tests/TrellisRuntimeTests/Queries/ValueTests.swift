import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// The stores that every answer is asked of.
enum AnsweringStore: String, CaseIterable, Sendable {
  case memory, sqlite
}

/// Entries of a ledger, in a store of one's own.
struct EntryWorld {
  private let file = TemporaryFile()
  let container: PersistentContainer
  let context: ManagedObjectContext
  let ledger: Ledger

  init(_ store: AnsweringStore) throws {
    container = try PersistentContainer(
      model: .rules, store: store == .memory ? .memory : .sqlite(at: file.url, durability: .relaxed))
    context = container.newContext()
    ledger = Ledger(in: context, name: "home")
    ledger.owners.append(Owner(in: context, name: "me"))
    let food = Category(in: context, name: "food")
    for (amount, memo, category) in [("0.1", "a", food), ("0.2", nil, food), ("10", "a", nil), ("2.50", "b", food)] {
      add(amount, memo, category)
    }
    try context.save()
  }

  @discardableResult func add(_ amount: String, _ memo: String? = nil, _ category: Category? = nil) -> Entry {
    let entry = Entry(in: context, ledger: ledger)
    entry.amount = Decimal(string: amount) ?? 0
    entry.memo = memo
    entry.category = category
    return entry
  }
}

@Suite("Chosen values and aggregates", .serialized) struct ValueTests {
  @Test(
    "identities, one property, and several as a tuple come in the request's order", arguments: AnsweringStore.allCases)
  func values(_ store: AnsweringStore) throws {
    let world = try EntryWorld(store)
    let context = world.context
    let request = Entry.all.sorted { $0.amount.descending }
    #expect(try context.ids(of: request) == context.fetch(request).map(\.objectID))
    #expect(try context.values(of: request) { $0.memo } == ["a", "b", nil, "a"])
    let pairs = try context.values(of: request.limit(2)) { ($0.amount, $0.category.name.optional) }
    #expect(pairs.map(\.0) == [10, 2.5] && pairs.map(\.1) == [nil, "food"])
    let owners = try context.values(of: request) { ($0.ledger, $0.amount, $0.memo) }
    #expect(owners.allSatisfy { $0.0 == world.ledger.objectID } && owners.count == 4)
  }

  @Test(
    "distinct leaves out what came before, and limit and offset count what is left", arguments: AnsweringStore.allCases)
  func distinct(_ store: AnsweringStore) throws {
    let context = try EntryWorld(store).context
    #expect(try context.values(of: Entry.all, distinct: true) { $0.memo } == ["a", nil, "b"])
    #expect(try context.values(of: Entry.all.offset(1).limit(1), distinct: true) { $0.memo } == [nil])
    #expect(try context.values(of: Entry.all.limit(0), distinct: true) { $0.memo }.isEmpty)
    #expect(try context.values(of: Entry.all, distinct: true) { ($0.memo, $0.category) }.count == 4)
  }

  @Test(
    "a path through nil is an error unless the property is asked for as optional", arguments: AnsweringStore.allCases)
  func nilOnTheWay(_ store: AnsweringStore) throws {
    let context = try EntryWorld(store).context
    let error = #expect(throws: StoreError.self) { try context.values(of: Entry.all) { $0.category.name } }
    #expect(error?.code == .unreadableValue)
    #expect(error?.description.contains("Entry.category.name") == true)
    #expect(try context.values(of: Entry.all) { $0.category.name.optional } == ["food", "food", nil, "food"])
  }

  @Test(
    "sums of decimals are exact, and averages, extremes and counts leave nil out", arguments: AnsweringStore.allCases)
  func aggregates(_ store: AnsweringStore) throws {
    let context = try EntryWorld(store).context
    #expect(try context.aggregate(Entry.all) { $0.amount.sum } == Decimal(string: "12.8"))
    #expect(try context.aggregate(Entry.all) { $0.amount.average } == Decimal(string: "3.2"))
    let (all, memos, different) = try context.aggregate(Entry.all) { ($0.count, $0.memo.count, $0.memo.distinctCount) }
    #expect((all, memos, different) == (4, 3, 2))
    let (least, greatest) = try context.aggregate(Entry.all) { ($0.memo.minimum, $0.amount.maximum) }
    #expect(least == "a" && greatest == 10)
    let nothing = Entry.where { $0.memo == "none" }
    let (count, sum, average, minimum) = try context.aggregate(nothing) {
      ($0.count, $0.amount.sum, $0.amount.average, $0.amount.minimum)
    }
    #expect(count == 0 && sum == 0 && average == nil && minimum == nil)
    #expect(try context.aggregate(Entry.all.sorted { $0.amount.descending }.limit(2)) { $0.amount.sum } == 12.5)
  }

  @Test("groups come in the order of their keys, nil first", arguments: AnsweringStore.allCases)
  func groups(_ store: AnsweringStore) throws {
    let context = try EntryWorld(store).context
    let groups = try context.grouped(Entry.all, by: { $0.memo }) { ($0.count, $0.amount.sum) }
    #expect(groups.map(\.key) == [nil, "a", "b"])
    #expect(groups.map(\.value.0) == [1, 2, 1])
    #expect(groups.filter { $0.value.0 > 1 }.map(\.value.1) == [Decimal(string: "10.1")])
    let names = try context.grouped(Entry.all, by: { $0.category.name.optional }) { $0.count }
    #expect(names.map(\.key) == [nil, "food"] && names.map(\.value) == [1, 3])
  }

  @Test(
    "unsaved changes are seen by all of them, and not where only the stored is wanted",
    arguments: AnsweringStore.allCases)
  func pending(_ store: AnsweringStore) throws {
    let world = try EntryWorld(store)
    let context = world.context
    world.add("100", "c")
    try context.delete(#require(try context.first(Entry.where { $0.amount == 10 })))
    #expect(try context.aggregate(Entry.all) { $0.amount.sum } == Decimal(string: "102.8"))
    #expect(try context.values(of: Entry.all, distinct: true) { $0.memo } == ["a", nil, "b", "c"])
    #expect(try context.ids(of: Entry.all).count == 4)
    #expect(try context.aggregate(Entry.all.storedOnly()) { $0.amount.sum } == Decimal(string: "12.8"))
    #expect(try context.count(Entry.where { $0.memo == "c" }.storedOnly()) == 0)
    #expect(try !context.exists(Entry.where { $0.memo == "c" }.storedOnly()))
    #expect(try context.exists(Entry.where { $0.memo == "c" }))
  }

  @Test(
    "a sum that is too large is an error, whatever the order of what fits in between",
    arguments: AnsweringStore.allCases)
  func overflow(_ store: AnsweringStore) throws {
    let file = TemporaryFile()
    let container = try PersistentContainer(model: .shapes, store: store == .memory ? .memory : .sqlite(at: file.url))
    let context = container.newContext()
    for rank in [Int64.max, 1, -2] { _ = Node(in: context, name: "\(rank)", rank: rank) }
    try context.save()
    #expect(try context.aggregate(Node.all) { $0.rank.sum } == Int64.max - 1)
    let error = #expect(throws: StoreError.self) { try context.aggregate(Node.where { $0.rank > 0 }) { $0.rank.sum } }
    #expect(error?.code == .limit)
    #expect(try context.aggregate(Node.where { $0.rank > 0 }) { $0.rank.average } == 0x1p62)
    let world = try EntryWorld(store)
    world.add("99999999999999999999999999999999999999")
    // A decimal is rounded to its 38 digits.
    let rounded = Decimal(string: "100000000000000000000000000000000000010")
    #expect(try world.context.aggregate(Entry.all) { $0.amount.sum } == rounded)
  }

  @Test("subentities are left out where they are not wanted", arguments: AnsweringStore.allCases)
  func subentities(_ store: AnsweringStore) throws {
    let file = TemporaryFile()
    let container = try PersistentContainer(model: .shop, store: store == .memory ? .memory : .sqlite(at: file.url))
    let context = container.newContext()
    let customer = Customer(in: context, name: "c", home: Address(street: "", city: ""))
    _ = Order(in: context, number: 1, customer: customer)
    _ = GiftOrder(in: context, number: 2, customer: customer)
    for _ in 0..<2 {
      #expect(try context.count(Order.all) == 2)
      #expect(try context.fetch(Order.all.withoutSubentities()).map(\.number) == [1])
      #expect(try context.values(of: Order.all.withoutSubentities()) { $0.number } == [1])
      try context.save()
    }
  }
}
