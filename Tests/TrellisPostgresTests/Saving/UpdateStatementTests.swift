import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Changes of all rows on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct UpdateStatementTests {
  private let schema = TestServer.newSchema()
  private let model: Model
  private let store: PostgresStore

  init() throws {
    var description = ModelDescription(
      name: "Stock",
      entities: [
        EntityDescription(
          "Item",
          attributes: [
            AttributeDescription("name", .string), AttributeDescription("count", .int64),
            AttributeDescription("shelf", .int16), AttributeDescription("price", .decimal, optional: true),
          ])
      ])
    description.history = .changes
    model = try Model(description)
    store = try #require(try StoreConfiguration.postgres(TestServer.url, schema: schema).open(model) as? PostgresStore)
    let keys = try store.reserveKeys(3)
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: 0,
        records: keys.enumerated().map { number, key in
          PlainRecord(
            model.entities[0], key: key,
            [.text("item \(number)"), .integer(Int64(number)), .integer(1), .text("\(number).5")])
        })
    ]
    try store.connect().save(request)
  }

  private func path(_ name: String) throws -> Operand {
    .path(PropertyPath(variable: 0).appending(try #require(model.entities[0].property(named: name)).index))
  }

  private func update(
    _ name: String, _ value: Operand, refused: QueryPredicate? = nil, _ change: (inout StoreRequest) -> Void = { _ in }
  ) throws -> BatchUpdate {
    var request = StoreRequest(entity: 0)
    change(&request)
    let property = try #require(model.entities[0].property(named: name)).index
    return BatchUpdate(request: request, assignments: [.init(property: property, value: value)], refused: refused)
  }

  private func counts() throws -> [Int64] {
    var counts: [Int64] = []
    try store.connect().fetch(StoreRequest(entity: 0)) { counts.append($0.integer(1)) }
    return counts
  }

  @Test("a change that the server computes alike is one statement") func statements() throws {
    let sum = Operand.computed(.arithmetic(.add, try path("count"), .value(.integer(10))))
    let half = Operand.computed(.arithmetic(.divide, try path("price"), .value(.text("2"))))
    #expect(try UpdateStatement(update("count", sum), store) != nil)
    #expect(try UpdateStatement(update("price", half), store) != nil)
    #expect(try UpdateStatement(update("name", .value(.text("all"))), store) != nil)
    // A window needs an order, and a sum may not fit into 16 bits.
    #expect(try UpdateStatement(update("count", sum) { $0.limit = 1 }, store) == nil)
    #expect(
      try UpdateStatement(
        update("shelf", .computed(.arithmetic(.add, path("shelf"), .value(.integer(1))))), store) == nil)
    let outcome = try store.connect().updateAll(update("count", sum), in: model)
    #expect(outcome.found == 3 && outcome.updated.count == 3)
    #expect(try counts() == [10, 11, 12])
  }

  @Test("refused rows are named, and nothing is changed") func refused() throws {
    let isOne = QueryPredicate.comparison(Comparison(try path("count"), .equal, .value(.integer(1)), kind: .integer))
    let change = try update("count", .value(.integer(7)), refused: isOne)
    #expect(try UpdateStatement(change, store) != nil)
    let rows = try #require(throws: RefusedRows.self) { try store.connect().updateAll(change, in: model) }
    #expect(rows.keys.count == 1)
    #expect(try counts() == [0, 1, 2])
  }

  @Test("a value that a required attribute cannot have is refused by its object") func unfit() throws {
    let overflow = Operand.computed(.arithmetic(.add, try path("count"), .value(.integer(.max))))
    let error = try #require(throws: StoreError.self) {
      try store.connect().updateAll(update("count", overflow), in: model)
    }
    #expect(error.code == .unstorableValue && error.message.contains("Item"), "\(error)")
    #expect(try counts() == [0, 1, 2])
  }

  @Test("the history has the changed rows and the author") func history() throws {
    var change = try update("count", .value(.integer(7)))
    change.author = "clerk"
    let connection = try #require(try store.connect() as? PostgresConnection)
    let before = try connection.position(of: .now)
    _ = try connection.updateAll(change, in: model)
    var entries: [HistoryEntry] = []
    // A server tells a transaction when those before it have ended, also those of other tests.
    let end = ContinuousClock.now + .seconds(60)
    while entries.isEmpty && ContinuousClock.now < end {
      try connection.history(after: before, atMost: 5) {
        // The rows that were saved before may be told of later than the position.
        if $0.author != nil { entries.append($0) }
      }
      Thread.sleep(forTimeInterval: 0.05)
    }
    #expect(entries.map(\.author) == ["clerk"])
  }
}
