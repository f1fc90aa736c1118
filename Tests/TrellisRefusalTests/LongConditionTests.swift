import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// Whether the wind blows from left or right makes no difference to a chain.
enum Fold: CaseIterable {
  case left, right
}

@Suite("Conditions of any length, and of a bounded depth") struct LongConditionTests {
  /// 100,000 in long runs.
  private static let length = TestSettings.number("TRELLIS_CONDITIONS", or: 5_000)
  private static let columns = Book.Columns(PropertyPath(variable: 0))

  private func pages(_ number: Int) -> QueryCondition { Self.columns.pages != Int64(-number) }

  private func request(_ condition: QueryCondition) -> FetchRequest<Book.Columns> { Book.where { _ in condition } }

  private func chain(
    _ fold: Fold, _ count: Int, _ join: (QueryCondition, QueryCondition) -> QueryCondition,
    _ term: (Int) -> QueryCondition
  ) -> QueryCondition {
    var all = term(1)
    for number in 2...count { all = fold == .left ? join(all, term(number)) : join(term(number), all) }
    return all
  }

  private func filled(_ kind: StoreKind) throws -> (place: TestContainer, context: ManagedObjectContext) {
    let place = try TestContainer(.library, kind)
    let context = place.container.newContext()
    for number in 0..<3 { _ = Book(in: context, title: "t\(number)", pages: Int64(number)) }
    try context.save()
    return (place, context)
  }

  @Test("100,000 conditions are one flat list", .ends, arguments: Fold.allCases)
  func flat(_ fold: Fold) throws {
    guard case .and(let terms) = chain(fold, 100_000, { $0 && $1 }, pages).predicate else {
      Issue.record("no list")
      return
    }
    #expect(terms.count == 100_000)
    guard case .or(let others) = chain(fold, 100_000, { $0 || $1 }, pages).predicate else {
      Issue.record("no list")
      return
    }
    #expect(others.count == 100_000)
    // In the order in which they were written.
    #expect(terms.first == pages(fold == .left ? 1 : 100_000).predicate)
    #expect(others.last == pages(fold == .left ? 100_000 : 1).predicate)
  }

  @Test("a long chain is answered", .ends, arguments: StoreKind.allCases, Fold.allCases)
  func answered(_ kind: StoreKind, _ fold: Fold) throws {
    let (place, context) = try filled(kind)
    defer { withExtendedLifetime(place) {} }
    let count = kind == .sqlite ? 5000 : Self.length
    let all = chain(fold, count, { $0 && $1 }, pages)
    #expect(try context.fetch(Book.where { _ in all }).count == 3)
    let one = chain(fold, count, { $0 || $1 }) { Self.columns.pages == Int64($0) }
    #expect(try context.fetch(Book.where { _ in one }).map(\.pages) == [1, 2])
    // With unsaved changes the context answers in memory.
    _ = Book(in: context, pages: 7)
    #expect(try context.fetch(Book.where { _ in one }).map(\.pages) == [1, 2, 7])
  }

  @Test("a request may be refined as often as one likes", .ends, arguments: StoreKind.allCases)
  func refined(_ kind: StoreKind) throws {
    let (place, context) = try filled(kind)
    defer { withExtendedLifetime(place) {} }
    let count = kind == .sqlite ? 2000 : Self.length
    var request = Book.all
    for number in 1...count { request = request.where { $0.pages != Int64(-number) } }
    #expect(try context.fetch(request).count == 3)
    var either = Book.where { $0.pages == 0 }
    for number in 2...count { either = either.or { $0.pages == Int64(number) } }
    #expect(try context.fetch(either).map(\.pages) == [0, 2])
    var formats = Book.all
    for number in 1...1000 { formats = formats.where("pages != %d", -number) }
    #expect(try context.fetch(formats).count == 3)
    for number in 1...1000 { formats = formats.or("title == %@", "none \(number)") }
    #expect(try context.fetch(formats.where { $0.pages > 1 }).map(\.pages) == [2])
  }

  @Test("formats and conditions keep their sides of an or")
  func sides() throws {
    let context = try filled(.memory).context
    let request = Book.where { $0.pages == 0 }.where("title == 't0'").or { $0.pages == 2 }
    #expect(try context.fetch(request).map(\.pages) == [0, 2])
    #expect(try context.fetch(request.where("title == 't2'")).map(\.pages) == [2])
    #expect(try context.fetch(Book.where("pages == 1").or("pages == 2").or { $0.pages == 0 }).count == 3)
    #expect(try context.fetch(Book.all.or { $0.pages == 0 }).count == 3)
    #expect(request.predicate == nil && Book.all.predicate == nil)
  }

  /// Ways to nest a condition by one level.
  static let nesting: [@Sendable (QueryCondition) -> QueryCondition] = [
    { !$0 },
    { ($0 && columns.pages == 1) || columns.pages == 2 },
    { inner in !(columns.title == "a" && inner) },
    { inner in Author.Columns(PropertyPath(variable: 0)).books.any { _ in inner } },
  ]

  @Test("what is nested too deep is refused, however deep it is", .ends, arguments: nesting.indices, StoreKind.allCases)
  func nested(_ number: Int, _ kind: StoreKind) throws {
    let (place, context) = try filled(kind)
    defer { withExtendedLifetime(place) {} }
    var condition = pages(1)
    for _ in 0..<100_000 { condition = Self.nesting[number](condition) }
    let request = request(condition)
    let error = try #require(throws: StoreError.self) { try context.fetch(request) }
    #expect(error.code == .limit)
    #expect(throws: StoreError.self) { try context.live(request) }
    _ = Book(in: context)
    #expect(throws: StoreError.self) { try context.count(request) }
  }

  @Test("conditions are nested as deep as the limit says", arguments: StoreKind.allCases)
  func nestedToTheLimit(_ kind: StoreKind) throws {
    let (place, context) = try filled(kind)
    defer { withExtendedLifetime(place) {} }
    var condition = pages(1)
    for _ in 1..<QueryPredicate.depthLimit { condition = !condition }
    #expect(try context.count(request(condition)) == 0)
    condition = !condition
    let error = try #require(throws: StoreError.self) { try context.count(request(condition)) }
    #expect(error.code == .limit)
  }

  @Test("as many sort keys as the limit says are used, and one more is refused", arguments: StoreKind.allCases)
  func sortKeys(_ kind: StoreKind) throws {
    let (place, context) = try filled(kind)
    defer { withExtendedLifetime(place) {} }
    let most = StoreRequest.sortKeyLimit
    let request = Book.where { $0.author.name == "" || $0.pages < 5 }
    let sorted = request.sorted { book in
      return (0..<most).map { _ in book.author.name.ascending }
    }
    #expect(try context.fetch(sorted).count == 3)
    let mixed = request.sorted { book in
      return [book.pages.descending] + (0..<(most - 2)).map { _ in book.title.ascending } + [book.author.name.ascending]
    }
    #expect(try context.fetch(mixed).map(\.pages) == [2, 1, 0])
    let tooMany = request.sorted { book in
      return (0...most).map { _ in book.author.name.ascending }
    }
    for ask: () throws -> Void in [
      { _ = try context.fetch(tooMany) }, { _ = try context.live(tooMany) }, { _ = try context.ids(of: tooMany) },
    ] {
      let error = try #require(throws: StoreError.self) { try ask() }
      #expect(error.code == .limit && error.message.contains("\(most)"))
    }
  }
}
