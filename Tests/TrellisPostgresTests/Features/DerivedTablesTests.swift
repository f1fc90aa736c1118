import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Stored derived attributes on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct DerivedTablesTests {
  private let yard: Yard

  init() throws { yard = try Yard() }

  @Test("conditions, sorts and values read the table, by its index; what the server does not compute has no column")
  func reads() throws {
    let container = try yard.open()
    defer { container.close() }
    let context = container.newContext()
    try yard.fill(context)
    let counted = try context.explain(Parcel.where { $0.pieceCount == 2 }.sorted { $0.weight.descending }.limit(3))
    #expect(counted.statement?.contains("\"_derived.Parcel.") == true, "\(counted)")
    #expect(!counted.steps.contains { $0.contains("in memory") }, "\(counted)")
    let capitals = try context.explain(Parcel.where { $0.capitals == "P3" })
    #expect(capitals.statement?.contains("_derived.") == false, "\(capitals)")
    // The planner uses an index for a table of this size only if sequential scans are disabled.
    let largest = try #require(try context.explain(Depot.all.sorted { $0.parcelCount.descending }.limit(1)).statement)
    let statement = largest.replacing(/\$\d/, with: "1")
    let steps = try yard.sql("SET enable_seqscan = off; SET enable_sort = off; EXPLAIN \(statement)")
    #expect(steps.contains { $0.contains("Index") && $0.contains("_derived.Depot") }, "\(steps)")
    #expect(
      try context.fetch(Parcel.all.sorted { $0.weight.descending }.limit(3)).map(\.title) == ["p19", "p15", "p18"])
    #expect(try context.count(Parcel.where { $0.pieces.any { $0.parcel.pieceCount == 3 } }) == 5)
    #expect(try container.check().isEmpty)
  }

  @Test("texts that mean something in SQL are values of expressions") func literals() throws {
    let container = try yard.open()
    defer { container.close() }
    let context = container.newContext()
    for title in ["it's", "a\\b", "$1", "it''s", "x"] { _ = Parcel(in: context, title: title) }
    try context.save()
    let known = try context.fetch(Parcel.where { $0.kind == "known" }.sorted { $0.title }).map(\.title)
    #expect(known == ["$1", "a\\b", "it's"])
    #expect(try yard.sql("SELECT count(*) FROM \(yard.tables("Parcel")[0]) WHERE kind = 'known'") == ["3"])
  }

  @Test("what another program writes counts from its commit") func otherProgram() throws {
    let container = try yard.open()
    defer { container.close() }
    let context = container.newContext()
    try yard.fill(context)
    func loads() throws -> [Decimal?] { try context.values(of: Depot.all.sorted { $0.name }) { $0.freight } }
    #expect(try loads() == [100])
    try yard.sql(
      """
      BEGIN;
      UPDATE SCHEMA."Piece" SET grams = grams + 1;
      DELETE FROM SCHEMA."Piece" WHERE text = '2.0';
      SAVEPOINT s;
      UPDATE SCHEMA."Depot" SET name = 'never';
      ROLLBACK TO s;
      COMMIT
      """)
    #expect(try loads() == [107])
    #expect(try context.count(Parcel.where { $0.depotName == "north" }) == 10)
    try yard.sql("TRUNCATE SCHEMA.\"Piece\"")
    #expect(try loads() == [0])
    #expect(try yard.sql("SELECT count(*) FROM SCHEMA.\"_derivedMarks\"") == ["0"])
    #expect(try container.check().isEmpty)
    // The values of a snapshot would be those of a former moment.
    let error = #expect(throws: (any Error).self) {
      try yard.sql("BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE SCHEMA.\"Depot\" SET rate = 3; COMMIT")
    }
    #expect("\(error as Any)".contains("must be READ COMMITTED"))
  }

  @Test("a wrong value is found, as is a trigger that does not run, and the advice mends it") func wrong() throws {
    var container = try yard.open()
    try yard.fill(container.newContext())
    let table = try #require(try yard.tables("Parcel").first)
    for damage in [
      "UPDATE \(table) SET \"pieceCount\" = 9 WHERE \"pieceCount\" = 3",
      "DELETE FROM \(table) WHERE \"pieceCount\" = 3",
      "INSERT INTO \(table) (_id) VALUES (100000)", "ALTER TABLE SCHEMA.\"Piece\" DISABLE TRIGGER ALL",
    ] {
      try yard.sql(damage)
      let findings = try container.check()
      let finding = try #require(findings.first, "\(damage)")
      #expect(findings.allSatisfy { $0.code == .indexDiffers })
      container.close()
      let advice = try #require(finding.repair.firstMatch(of: /COMMENT ON TABLE .* IS NULL/)?.output)
      try yard.sql("\(advice)")
      container = try yard.open()
      let left = try container.check()
      #expect(left.isEmpty, "\(damage): \(left)")
    }
    container.close()
  }

  @Test("a new value is no change of the object: no version, no conflict, no entry in the history") func noChange()
    throws
  {
    let container = try yard.open()
    defer { container.close() }
    let (one, two) = (container.newContext(), container.newContext())
    try yard.fill(one)
    let mine = try #require(try one.fetch(Parcel.where { $0.title == "p2" }).first)
    let theirs = try #require(try two.fetch(Piece.where { $0.text == "2.0" }).first)
    mine.title = "mine"
    theirs.grams = 500
    try two.save()
    try one.save()
    #expect(mine.weight == 502)
    #expect(try one.fetch(Parcel.all.sorted { $0.weight.descending }.limit(1)) == [mine])
    #expect(try yard.sql("SELECT _version FROM SCHEMA.\"Parcel\" WHERE title = 'mine'") == ["2"])
  }

  @Test("a row that becomes one of another entity has values of that one") func entities() throws {
    let model = ObjectModel(
      dynamic: ModelDescription(
        name: "Parties",
        entities: [
          EntityDescription(
            "Party",
            attributes: [
              AttributeDescription("name", .string),
              AttributeDescription("kind", .string, derived: "TERNARY(entity == 'Customer', 'c', 'p')", stored: true),
            ]),
          EntityDescription(
            "Customer", parent: "Party",
            attributes: [AttributeDescription("size", .int64, derived: "length(name)", stored: true)]),
        ]))
    let container = try yard.open(model)
    defer { container.close() }
    let context = container.newContext()
    for name in ["one", "three"] { _ = try context.insert("Party", ["name": .text(name)]) }
    try context.save()
    func customers() throws -> [Int] {
      let context = container.newContext()
      return try ["size == 5", "size > 0", "kind == 'c'", "kind == 'p'"].map {
        try context.objects($0.hasPrefix("size") ? "Customer" : "Party", where: $0).count
      }
    }
    #expect(try customers() == [0, 0, 0, 2])
    try yard.sql("UPDATE SCHEMA.\"Party\" SET _entity = 'Customer', _version = _version + 1 WHERE name = 'three'")
    #expect(try customers() == [1, 1, 1, 1])
    #expect(try container.check().isEmpty)
    try yard.sql("UPDATE SCHEMA.\"Party\" SET _entity = 'Party', _version = _version + 1")
    #expect(try customers() == [0, 0, 0, 2])
    #expect(try container.check().isEmpty)
  }

  @Test("a schema with another name gets functions and tables that know it at the next opening") func renamed() throws {
    let container = try yard.open()
    try yard.fill(container.newContext())
    container.close()
    try yard.waitForEnd()
    try yard.sql("ALTER schema SCHEMA RENAME TO \"\(yard.schema) new\"; CREATE schema SCHEMA")
    let again = try PersistentContainer(
      model: .depot, store: .postgres(TestServer.url, schema: yard.schema + " new", timeout: 60))
    let context = again.newContext()
    _ = Piece(in: context, text: "x", grams: 1, parcel: Parcel(in: context, title: "later"))
    try context.save()
    #expect(try context.count(Parcel.where { $0.weight == 1 && $0.pieceCount == 1 }) == 2)
    #expect(try again.check().isEmpty)
    again.close()
    try yard.sql("DROP schema \"\(yard.schema) new\" CASCADE")
  }

  // MARK: Several programs

  @Test("programs with other expressions have tables of their own, which the last one drops") func expressions() throws
  {
    func model(_ expression: String?, _ more: AttributeDescription...) -> ObjectModel {
      var attributes = [AttributeDescription("name", .string), AttributeDescription("size", .int64)] + more
      if let expression {
        attributes.append(AttributeDescription("total", .int64, optional: true, derived: expression, stored: true))
      }
      return ObjectModel(
        dynamic: ModelDescription(name: "Moved", entities: [EntityDescription("Thing", attributes: attributes)]))
    }
    func count(_ container: PersistentContainer, _ total: Int) throws -> Int {
      try container.newContext().objects("Thing", where: "total == \(total)").count
    }
    func insert(_ size: Int64, _ container: PersistentContainer) throws {
      let context = container.newContext()
      _ = try context.insert("Thing", ["name": .text("x"), "size": .integer(size)])
      try context.save()
    }
    let plain = try yard.open(model(nil))
    try insert(1, plain)
    let first = try yard.open(model("size + 1"))
    #expect(try count(first, 2) == 1)
    let second = try yard.open(model("size * 10"))
    try insert(2, plain)
    #expect(try count(first, 3) == 1)
    #expect(try count(second, 20) == 1)
    #expect(try yard.tables().count == 2)
    // A former program finds its table, or computes.
    let again = try yard.open(model("size + 1"))
    #expect(try count(again, 3) == 1)
    for container in [plain, first, second, again] { container.close() }
    try yard.waitForEnd()
    let last = try yard.open(model("size * 10"))
    #expect(try yard.tables().count == 1)
    try insert(3, last)
    #expect(try last.check().isEmpty)
    let former = try yard.open(model("size + 1"))
    #expect(try count(former, 4) == 1)
    former.close()
    last.close()
    try yard.waitForEnd()
    let none = try yard.open(model(nil, AttributeDescription("note", .string, optional: true)))
    defer { none.close() }
    #expect(try yard.tables().isEmpty)
    try insert(4, none)
  }

  @Test("a migration that writes tables again makes the values anew") func migration() throws {
    let folder = try TestFolder()
    var container = try yard.open()
    try yard.fill(container.newContext())
    container.close()
    var description = ObjectModel.depot.description
    let piece = try #require(description.entities.firstIndex { $0.name == "Piece" })
    let text = try #require(description.entities[piece].attributes.firstIndex { $0.name == "text" })
    description.entities[piece].attributes[text] = AttributeDescription("word", .string, renamedFrom: ["text"])
    container = try PersistentContainer(
      model: ObjectModel(dynamic: description),
      store: .postgres(TestServer.url, schema: yard.schema, timeout: 60, migration: .automatic.stoppingFormerPrograms())
    )
    defer { container.close() }
    #expect(try container.newContext().objects("Parcel", where: "pieceCount == 3").count == 5)
    #expect(try container.check().isEmpty)
    #expect(try yard.tables().count == 2)
    _ = folder
  }
}

/// Contexts that save at the same time.
///
/// `TRELLIS_DERIVED_SAVERS` is the number of runs, `TRELLIS_DERIVED_SEED` the first seed.
@Suite("Stored derived attributes under several writers", .enabled(if: TestServer.isThere, "needs a server"))
struct DerivedSaverTests {
  private static let runs: Int = TestSettings.number("TRELLIS_DERIVED_SAVERS", or: 3)
  private static let first: UInt64 = TestSettings.number("TRELLIS_DERIVED_SEED", or: 1)

  @Test("whoever saves last, each value is that of its expression") func savers() async throws {
    for seed in Self.first..<(Self.first + UInt64(Self.runs)) {
      let yard = try Yard()
      let container = try yard.open(connections: 8)
      try yard.fill(container.newContext())
      for number in 0..<4 { try add(number, container) }
      let saved = await withTaskGroup(of: Int.self) { group in
        for worker in 0..<6 {
          group.addTask { Self.work(container, seed &* 100 &+ UInt64(worker)) }
        }
        return await group.reduce(0, +)
      }
      #expect(saved > 60, "seed \(seed)")
      let findings = try container.check()
      #expect(findings.isEmpty, "seed \(seed), after \(saved) saves: \(findings.prefix(3))")
      container.close()
    }
  }

  private func add(_ number: Int, _ container: PersistentContainer) throws {
    let context = container.newContext()
    _ = Depot(in: context, name: "d\(number)", rate: Decimal(number))
    _ = Mark(in: context, name: number == 0 ? "none" : "m\(number)")
    try context.save()
  }

  /// - Returns: the number of saves that were not refused.
  private static func work(_ container: PersistentContainer, _ seed: UInt64) -> Int {
    var random = SeededGenerator(seed: seed)
    let context = container.newContext()
    var saved = 0
    for step in 0..<25 {
      do {
        try change(context, &random, "\(seed).\(step)")
        try context.save()
        saved += 1
      } catch {
        context.rollback()
      }
    }
    return saved
  }

  private static func change(_ context: ManagedObjectContext, _ random: inout SeededGenerator, _ name: String) throws {
    func one<Object>(_ all: [Object]) -> Object? { all.isEmpty ? nil : all[random.below(all.count)] }
    let depots = try context.fetch(Depot.all.sorted { $0.name })
    let parcels = try context.fetch(Parcel.all.sorted { $0.title })
    switch random.below(9) {
    case 0: _ = Parcel(in: context, title: name, depot: one(depots))
    case 1, 2: one(parcels)?.pieces.append(Piece(in: context, text: name, grams: Decimal(random.below(9))))
    case 3: one(parcels)?.depot = one(depots)
    case 4: one(depots)?.rate = Decimal(random.below(9))
    case 5: one(try context.fetch(Piece.all.sorted { $0.text }))?.parcel = one(parcels)
    case 6:
      if let mark = one(try context.fetch(Mark.all.sorted { $0.name })) { one(parcels)?.marks.append(mark) }
    case 7: if let parcel = one(parcels), parcels.count > 10 { try context.delete(parcel) }
    default: one(depots)?.name = name
    }
  }
}
