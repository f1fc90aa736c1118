import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Full-text search on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct SearchIndexTests {
  private let yard: Yard

  init() throws { yard = try Yard() }

  private static let indexes =
    "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'SCHEMA'::regnamespace AND c.relkind = 'i' "
    + "AND starts_with(c.relname, '_search.') AND NOT starts_with(c.relname, '_search._trigrams.') ORDER BY 1"

  private func found(_ words: String, _ container: PersistentContainer) throws -> Int {
    try container.newContext().count(Parcel.where { $0.memo.matching(words) })
  }

  @Test("an index finds the rows, which are tested in memory") func plans() throws {
    let container = try yard.open()
    defer { container.close() }
    let context = container.newContext()
    let depot = Depot(in: context, name: "north")
    for memo in ["아이스커피를 들고", "Coffee, decaf", "a CAFÉ", "nothing", "🍵 and shop커피shop", "\u{378}ab", nil] {
      _ = Parcel(in: context, title: "x", memo: memo, depot: depot)
    }
    try context.save()
    #expect(try yard.sql(Self.indexes) == ["_search.Parcel.memo"])
    for (words, count) in [
      ("커피", 2), ("cof", 1), ("fee", 0), ("cafe", 1), ("shop 피", 1), ("🍵", 1), ("?!", 0), ("ab", 1),
    ] {
      #expect(try found(words, container) == count, "\(words)")
    }
    let plan = try context.explain(Parcel.where { $0.memo.matching("커피") && $0.title == "x" })
    #expect(plan.statement?.contains("trellis_tokens(t0.\"memo\") @@ $1::tsquery") == true, "\(plan)")
    #expect(plan.steps.last == "tests the rows in memory")
    // Below a negation all rows are tested.
    let negated = Parcel.where { !$0.memo.matching("커피") }
    #expect(try context.explain(negated).statement?.contains("tokens") == false)
    #expect(try context.count(negated) == 5)
    let some = Depot.where { $0.parcels.any { $0.memo.matching("cof") } }
    #expect(try context.explain(some).statement?.contains("tokens") == true)
    #expect(try context.count(some) == 1)
    #expect(try context.count(Depot.where("NONE parcels.memo MATCHING 'cof'")) == 0)
    #expect(try context.count(Depot.where("NONE parcels.memo MATCHING 'zzz'")) == 1)
    #expect(try context.count(Depot.where("parcels.@count > 9 OR ANY parcels.memo MATCHING 'cof'")) == 1)
  }

  @Test("the server serves a rare word by the index, whoever has written the row") func index() throws {
    let container = try yard.open()
    defer { container.close() }
    try yard.sql(
      """
      INSERT INTO SCHEMA."Parcel" (_id, _version, title, memo)
      SELECT n, 1, 'x', '오늘은 산책을 했다 ' || n || CASE WHEN n % 5000 = 0 THEN ' 아이스커피' ELSE '' END
      FROM generate_series(1, 20000) AS n;
      UPDATE SCHEMA._keys SET next = 20001;
      ANALYZE SCHEMA."Parcel"
      """)
    #expect(try found("커피", container) == 4)
    let plan = try container.newContext().explain(Parcel.where { $0.memo.matching("커피") })
    #expect(plan.steps.contains { $0.contains("_search.Parcel.memo") }, "\(plan)")
    #expect(!plan.scansWholeTable)
    // A text with more words than an index takes is found with every word, and tested.
    let words = "(SELECT string_agg('word' || n, ' ') FROM generate_series(1, 200000) AS n)"
    try yard.sql("UPDATE SCHEMA.\"Parcel\" SET memo = \(words) || ' 커피' WHERE _id = 7")
    #expect(try found("커피", container) == 5)
    #expect(try found("word199999", container) == 1)
    #expect(try container.check().isEmpty)
  }

  /// Notes with a body, and letters, which are notes.
  private func model(isSearchable: Bool = true, _ more: AttributeDescription...) -> ObjectModel {
    ObjectModel(
      dynamic: ModelDescription(
        name: "Notes",
        entities: [
          EntityDescription(
            "Note", attributes: [AttributeDescription("body", .string, optional: true, searchable: isSearchable)]),
          EntityDescription("Letter", parent: "Note", attributes: more),
        ]))
  }

  @Test("an index comes and goes with the word in the model") func models() throws {
    func count(_ entity: String, _ format: String, _ container: PersistentContainer) throws -> Int {
      try container.newContext().objects(entity, where: format).count
    }
    let address = AttributeDescription("address", .string, optional: true, searchable: true)
    var container = try yard.open(model(isSearchable: false))
    let context = container.newContext()
    for body in ["아이스커피", "Coffee"] { _ = try context.insert("Note", ["body": .text(body)]) }
    try context.save()
    #expect(try yard.sql(Self.indexes).isEmpty)
    #expect(try count("Note", "body MATCHING '커피'", container) == 1)
    container.close()
    try yard.waitForEnd()
    for _ in 0..<2 {
      container = try yard.open(model(address))
      #expect(try yard.sql(Self.indexes) == ["_search.Letter.address", "_search.Note.body"])
      #expect(try count("Note", "body MATCHING '커피'", container) == 1)
      // One that another program drops is missed until the next opening, by speed alone.
      try yard.sql("DROP INDEX SCHEMA.\"_search.Note.body\"")
      #expect(try count("Note", "body MATCHING '커피'", container) == 1)
      container.close()
      try yard.waitForEnd()
    }
    container = try yard.open(
      model(isSearchable: false, address, AttributeDescription("stamp", .string, optional: true)))
    defer { container.close() }
    #expect(try yard.sql(Self.indexes) == ["_search.Letter.address"])
    #expect(try count("Note", "body MATCHING '커피'", container) == 1)
  }
}
