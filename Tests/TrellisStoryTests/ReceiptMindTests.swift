import Foundation
import Testing
import Trellis
import TrellisReceiptMindModel
import TrellisTestSupport

@Suite("The story of ReceiptMind") struct ReceiptMindTests {
  /// Books with a coffee on them.
  private final class World {
    let shelf: TestContainer
    let context: ManagedObjectContext
    let ledger: Ledger
    let coffee: Receipt

    init(_ kind: StoreKind) throws {
      shelf = try TestContainer(.receiptMind, kind)
      context = shelf.container.newContext()
      ledger = Ledger.open("우리집", in: context)
      coffee = Receipt(
        in: context, price: Money(amount: 4.5), memo: "라떼", ledger: ledger, category: ledger.categories[5])
      try context.save()
    }

    func category(_ kind: Kind, _ name: String) throws -> Category {
      try #require(ledger.categories(for: kind).first { $0.name == name })
    }
  }

  @Test("a new ledger offers each kind its options, with icons, in their order", arguments: StoreKind.inPlace)
  func options(kind: StoreKind) throws {
    let world = try World(kind)
    #expect(Kind.allCases == [.income, .expense] && Kind.allCases.map(\.icon) == ["💰", "💸"])
    let fresh = world.shelf.container.newContext()
    let ledger = try #require(try fresh.first(Ledger.all))
    for kind in Kind.allCases {
      #expect(ledger.categories(for: kind).map(\.name) == kind.options.map(\.name))
      #expect(ledger.categories(for: kind).map(\.icon) == kind.options.map(\.icon))
    }
    #expect(ledger.receipts.first?.category?.icon == "☕️")
  }

  @Test("one form makes a receipt and edits it", arguments: StoreKind.inPlace)
  func form(kind: StoreKind) throws {
    let world = try World(kind)
    let form = ReceiptForm(newIn: world.ledger, in: world.context)
    #expect(form.isNew && form.choices.map(\.name) == Kind.expense.options.map(\.name))
    #expect(try form.problems() == ["price.amount": "must be at least 0.01", "category": "must be set"])
    form.receipt.choose(.income)
    form.receipt.price.amount = 3_000_000
    form.receipt.category = form.choices.first
    #expect(try form.problems().isEmpty)
    try form.save()
    #expect(!form.isNew && world.ledger.receipts.count == 2 && world.ledger.balance == Decimal(string: "2999995.5"))

    let again = ReceiptForm(editing: world.coffee)
    again.receipt.price.amount = 5
    again.receipt.memo = nil
    again.receipt.picture = Data(repeating: 7, count: 200_000)
    #expect(!again.isNew && world.coffee.price.amount == 5)
    try again.save()
    let fresh = world.shelf.container.newContext()
    let read = try #require(try fresh.object(with: world.coffee.objectID))
    #expect(read.price.amount == 5 && read.memo == nil && read.picture == Data(repeating: 7, count: 200_000))
    #expect(read.ledger?.balance == 2_999_995)
  }

  @Test("a form that is discarded leaves nothing behind, and other edits alone", arguments: StoreKind.inPlace)
  func discarding(kind: StoreKind) throws {
    let world = try World(kind)
    world.ledger.name = "새집"
    let new = ReceiptForm(newIn: world.ledger, in: world.context)
    new.receipt.category = try world.category(.expense, "교통")
    try new.discard()
    #expect(new.receipt.managedObjectContext == nil && world.ledger.receipts.objects == [world.coffee])
    #expect(try world.category(.expense, "교통").receipts.isEmpty)

    let edit = ReceiptForm(editing: world.coffee)
    edit.receipt.choose(.income)
    edit.receipt.price.amount = 9
    edit.receipt.memo = "?"
    #expect(edit.receipt.category == nil)
    try edit.discard()
    #expect(world.coffee.kind == .expense && world.coffee.price.amount == 4.5 && world.coffee.memo == "라떼")
    #expect(world.coffee.category == (try world.category(.expense, "커피")) && !world.coffee.hasChanges)
    #expect(world.context.updatedObjects == [world.ledger] && world.ledger.name == "새집")
  }

  @Test("the category belongs to the kind: at the insert, at each edit, and when the category changes")
  func rule() throws {
    let world = try World(.memory)
    let (context, coffee) = (world.context, world.coffee)
    let salary = try world.category(.income, "월급")
    let wrong = Receipt(in: context, kind: .expense, price: Money(amount: 1), ledger: world.ledger, category: salary)
    #expect(try ReceiptForm(editing: wrong).problems() == ["category": "must belong to the kind of the receipt"])
    #expect(throws: ValidationError.self) { try context.save() }
    wrong.kind = .income
    try context.save()

    coffee.kind = .income
    #expect(try ReceiptForm(editing: coffee).problems().keys.sorted() == ["category"])
    coffee.category = salary
    try context.save()

    salary.kind = .expense
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.property) == ["kind"])
    for receipt in salary.receipts { receipt.kind = .expense }
    try context.save()
    #expect(world.ledger.balance == -5.5)
  }

  @Test("a receipt and its category lie in the same books")
  func books() throws {
    let world = try World(.memory)
    let other = Ledger.open("회사", in: world.context)
    world.coffee.category = other.categories(for: .expense).first
    #expect(
      try ReceiptForm(editing: world.coffee).problems() == ["category": "must belong to the ledger of the receipt"])
    try world.coffee.rollback()
    try world.context.save()
    #expect(try world.context.count(Category.where { $0.ledger.name == "회사" && $0.kind == .expense }) == 4)
  }

  @Test("a category in use stays; books go with everything in them", arguments: StoreKind.inPlace)
  func deleting(kind: StoreKind) throws {
    let world = try World(kind)
    let coffee = try world.category(.expense, "커피")
    let refusal = try #require(throws: ValidationError.self) { try world.context.validateForDelete(coffee) }
    #expect(refusal.failures.map(\.property) == ["receipts"])
    try world.context.delete(coffee)
    #expect(throws: refusal) { try world.context.save() }
    try world.context.delete(world.ledger)
    try world.context.save()
    let fresh = world.shelf.container.newContext()
    #expect(try fresh.count(Ledger.all) == 0 && fresh.count(Category.all) == 0 && fresh.count(Receipt.all) == 0)
  }

  @Test("amounts are exact, and compared as numbers", arguments: StoreKind.inPlace)
  func amounts(kind: StoreKind) throws {
    let world = try World(kind)
    let food = try world.category(.expense, "식비")
    for text in ["0.1", "0.2", "9", "10", "99999999999999999999999999999999999.99"] {
      _ = Receipt(
        in: world.context, price: Money(amount: try #require(Decimal(string: text))), ledger: world.ledger,
        category: food)
    }
    try world.context.save()
    let context = world.shelf.container.newContext()
    let sorted = try context.fetch(Receipt.where { $0.category.name == "식비" }.sorted { $0.price.amount.descending })
    #expect(
      sorted.map { "\($0.price.amount)" } == ["99999999999999999999999999999999999.99", "10", "9", "0.2", "0.1"])
    #expect(try context.count(Receipt.where { $0.price.amount > 9 }) == 2)
    #expect(sorted.suffix(2).reduce(0) { $0 + $1.price.amount } == Decimal(string: "0.3"))
  }

  @Test("two categories of a kind have different names in one ledger")
  func names() throws {
    let world = try World(.sqlite)
    _ = Category(in: world.context, kind: .income, name: "커피", ledger: world.ledger)
    try world.context.save()
    _ = Category(in: world.context, kind: .expense, name: "커피", ledger: world.ledger)
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    #expect(error?.failures.map(\.rule) == [.unique] && error?.failures.first?.blockers.count == 1)
  }

  @Test("an edit is undone and done again")
  func undo() throws {
    let world = try World(.memory)
    world.context.undo.enable()
    world.context.undo.group("Choose the kind") {
      world.coffee.choose(.income)
      world.coffee.category = world.ledger.categories(for: .income).first
    }
    try world.context.save()
    try world.context.undo.undo()
    #expect(world.coffee.kind == .expense && world.coffee.category?.name == "커피")
    try world.context.save()
    try world.context.undo.redo()
    #expect(world.coffee.kind == .income && world.coffee.category?.name == "월급")
  }

  @Test("months keep their totals, in the currency of the ledger", arguments: StoreKind.inPlace)
  func months(kind: StoreKind) throws {
    let world = try World(kind)
    world.coffee.date = try day(2026, 3, 31)
    func add(_ kind: Kind, _ amount: Decimal, _ currency: Currency = .krw, in month: Int, _ name: String) throws {
      _ = Receipt(
        in: world.context, kind: kind, price: Money(amount: amount, currency: currency), date: try day(2026, month, 1),
        ledger: world.ledger, category: try world.category(kind, name))
    }
    try add(.income, 3_000_000, in: 3, "월급")
    try add(.expense, 20, .usd, in: 3, "식비")
    try add(.expense, 9_000, in: 4, "식비")
    try add(.expense, 1_000, in: 4, "교통")
    try world.context.save()
    #expect(world.ledger.balance == Decimal(string: "2989995.5"))
    let months = try world.ledger.newestMonths()
    #expect(months.map(\.start) == [try day(2026, 4, 1), try day(2026, 3, 1)])
    #expect(months.map(\.expense) == [10_000, 4.5] && months.map(\.income) == [0, 3_000_000])
    #expect(months.map(\.receiptCount) == [2, 3])

    // A receipt that moves takes its amount with it, and a month without receipts is not listed.
    for receipt in months[0].receipts { receipt.date = try day(2026, 3, 2) }
    try world.context.save()
    #expect(try world.ledger.newestMonths().map(\.expense) == [Decimal(string: "10004.5")])
    #expect(try world.shelf.container.newContext().count(Month.where { $0.expense > 10_000 }) == 1)
    #expect(try world.shelf.container.check().isEmpty)
  }

  @Test("sums by month, category and currency come from the store", arguments: StoreKind.inPlace)
  func sums(kind: StoreKind) throws {
    let world = try World(kind)
    world.coffee.date = try day(2026, 3, 31)
    for (amount, currency, month) in [(5, Currency.krw, 3), (7, .krw, 4), (2, .usd, 4), (3, .krw, 4)] {
      _ = Receipt(
        in: world.context, price: Money(amount: Decimal(amount), currency: currency), date: try day(2026, month, 2),
        ledger: world.ledger, category: try world.category(.expense, "커피"))
    }
    try world.context.save()
    let sums = try world.ledger.sums(of: .expense, in: Self.seoul)
    #expect(sums.map(\.month.start) == [try day(2026, 3, 1), try day(2026, 4, 1), try day(2026, 4, 1)])
    #expect(sums.map(\.category) == ["커피", "커피", "커피"] && sums.map(\.count) == [2, 2, 1])
    #expect(
      sums.map(\.total) == [
        Money(amount: 9.5), Money(amount: 10), Money(amount: 2, currency: .usd),
      ])
    #expect(try world.ledger.sums(of: .income).isEmpty)
  }

  @Test("categories are in the order of Korean readers", arguments: StoreKind.inPlace) func order(kind: StoreKind)
    throws
  {
    let world = try World(kind)
    for name in ["방 10", "방 2", "Netflix", "가스"] {
      _ = Category(in: world.context, kind: .expense, name: name, ledger: world.ledger)
    }
    let names = try world.ledger.categories(inOrderOf: Locale(identifier: "ko")).map(\.name)
    #expect(names == ["가스", "교통", "기타", "기타", "방 2", "방 10", "식비", "용돈", "월급", "커피", "Netflix"])
  }

  private static let seoul: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Asia/Seoul") ?? .gmt
    return calendar
  }()

  private func day(_ year: Int, _ month: Int, _ day: Int) throws -> Date {
    try #require(Self.seoul.date(from: DateComponents(year: year, month: month, day: day)))
  }
}
