import Dispatch
import Foundation
import Testing
import TrellisModel
import TrellisStoreTesting
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Functions and operators with the names of the server's own, which a role without rights has made where it may. One that
/// is called would run with the rights of the program's role.
@Suite("Planted functions and operators", .serialized, .enabled(if: PostgresCluster.canStart, "needs initdb"))
struct PlantedNamesTests {
  private static let types = ["integer", "bigint", "text", "varchar", "name", "anyelement"]
  private static let sign = "PLANTED"
  /// One in so many rules of stores is tried; 1 for all of them.
  private static let part = TestSettings.number("TRELLIS_PLANTED_PART", or: 4)

  @Test("none is called, whatever a store does", arguments: [false, true])
  func calls(behindPool: Bool) throws {
    if behindPool && !PgBouncer.isAvailable { return }
    let cluster = try PostgresCluster.start(settings: ["log_statement": "all"])
    let plain = try cluster.makeDatabase()
    try use(cluster.url(database: plain), isPooled: false)
    let words = try self.words(in: cluster)
    let planted = try cluster.makeDatabase()
    let count = try plant(words, in: planted, of: cluster)
    print("\(count) functions and operators are planted")
    #expect(count > 1_000)
    let pool = behindPool ? try PgBouncer(before: cluster, size: 3) : nil
    let url = pool?.url(database: planted) ?? cluster.url(database: planted)
    try migrate(url, isPooled: behindPool)
    // An owner may have put other schemas before the server's own.
    _ = try cluster.psql("ALTER DATABASE \(planted) SET search_path = public, pg_catalog")
    try use(url, isPooled: behindPool)
    let log = try String(contentsOf: #require(cluster.log), encoding: .utf8)
    let called = log.split(separator: "\n").filter { $0.contains("LOG:  \(Self.sign) ") }
    #expect(Set(called.map { String($0.split(separator: " ").last ?? "") }) == [])
    // A session that names no path calls them.
    let error = #expect(throws: PostgresFailure.self) {
      try cluster.psql("SET search_path = DEFAULT; SELECT hashtextextended('a'::text, 0)", database: planted)
    }
    #expect(error?.description.contains(Self.sign) == true)
  }

  /// All that a store does: creation, saves, reads, queries, history, migrations, a check, listening.
  private func use(_ url: String, isPooled: Bool) throws {
    let conformance = StoreConformance(limits: ConformanceTests.limits) { model in
      try StoreConfiguration.postgres(
        url, schema: TestServer.newSchema(), connections: 2, timeout: 60, throughTransactionPool: isPooled
      ).open(model)
    }
    let cases = StoreConformance.cases.enumerated().filter { $0.offset.isMultiple(of: Self.part) }.map(\.element)
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      for number in stride(from: worker, to: cases.count, by: 4) {
        #expect(conformance.run(cases[number]) == [], "\(cases[number])")
      }
    }
    #expect(conformance.runDifferential(seed: 3, queries: 60) == [])
    try migrate(url, isPooled: isPooled)
    try keep(url, isPooled: isPooled)
  }

  /// Derived values and searches, whose functions also run for other programs.
  private func keep(_ url: String, isPooled: Bool) throws {
    let schema = TestServer.newSchema()
    let model = try Model(
      ModelDescription(
        name: "Shelf",
        entities: [
          EntityDescription(
            "Item",
            attributes: [
              AttributeDescription("name", .string, searchable: true),
              AttributeDescription("length", .int64, derived: "length(name)", stored: true),
            ])
        ]))
    let configuration = StoreConfiguration.postgres(url, schema: schema, throughTransactionPool: isPooled)
    let store = try #require(try configuration.open(model) as? PostgresStore)
    defer { store.close() }
    let request = SaveRequest()
    let key = try store.reserveKeys(1).lowerBound
    request.inserts = [.init(entity: 0, records: [PlainRecord(model.entities[0], key: key, ["name": .text("커피")])])]
    let connection = try #require(try store.connect() as? PostgresConnection)
    try connection.save(request)
    #expect(store.features.derived.tables.count == 1 && store.features.searches.indexes.count == 1)
    try connection.check { Issue.record("\($0)") }
  }

  private func migrate(_ url: String, isPooled: Bool) throws {
    for migrated in [try FormerSchema.currentModel(), try FormerSchema.writtenModel()] {
      let configuration = StoreConfiguration.postgres(
        url, schema: TestServer.newSchema(), timeout: 60, throughTransactionPool: isPooled)
      try configuration.open(FormerSchema.formerModel()).close()
      _ = try configuration.plan(migrated)
      let store = try #require(try configuration.open(migrated) as? PostgresStore)
      let connection = try #require(try store.connect() as? PostgresConnection)
      connection.beginToHear()
      try connection.check { Issue.record("\($0)") }
      store.close()
    }
  }

  /// The words and the signs of all statements that the server has run.
  private func words(in cluster: PostgresCluster) throws -> Set<String> {
    let log = try String(contentsOf: #require(cluster.log), encoding: .utf8)
    return Set(log.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { $0.lowercased() })
  }

  private func plant(_ words: Set<String>, in database: String, of cluster: PostgresCluster) throws -> Int {
    let list = words.filter { $0.count < 64 }.map { "'\($0)'" }.joined(separator: ",")
    let found = try cluster.psql(
      """
      SELECT DISTINCT proname || ' ' || pronargs FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
        AND pronargs BETWEEN 1 AND 3 AND proname IN (\(list))
      """, database: database)
    var statements: [String] = ["SET check_function_bodies = off", "SET client_min_messages = error"]
    func body(_ name: String) -> String {
      "LANGUAGE plpgsql AS $$ BEGIN RAISE LOG '\(Self.sign) \(name)'; RAISE EXCEPTION '\(Self.sign) \(name)'; END $$"
    }
    for line in found.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let count = Int(parts[1]) else { continue }
      for arguments in Self.arguments(count) {
        statements.append(
          "CREATE FUNCTION public.\"\(parts[0])\"(\(arguments.joined(separator: ", "))) RETURNS bigint \(body(String(parts[0])))"
        )
      }
    }
    statements.append(
      "CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint \(body("hashtextextended"))")
    for (number, sign) in ["=", "<>", "<", ">", "<=", ">=", "||", "+", "-", "*", "~~"].enumerated() {
      for (place, arguments) in Self.arguments(2).enumerated() {
        let name = "planted_\(number)_\(place)"
        statements.append(
          "CREATE FUNCTION public.\(name)(\(arguments.joined(separator: ", "))) RETURNS boolean \(body(name))")
        statements.append(
          "CREATE OPERATOR public.\(sign) (FUNCTION = public.\(name), LEFTARG = \(arguments[0]), RIGHTARG = \(arguments[1]))"
        )
      }
    }
    // One that exists already, with the same types, is enough.
    let text = statements.map { statement in
      statement.hasPrefix("SET")
        ? "\(statement);" : "DO $do$ BEGIN \(statement); EXCEPTION WHEN duplicate_function THEN END $do$;"
    }
    _ = try cluster.psql(text.joined(separator: "\n"), database: database)
    return statements.count
  }

  private static func arguments(_ count: Int) -> [[String]] {
    switch count {
    case 1: types.map { [$0] }
    case 2: types.flatMap { first in types.map { [first, $0] } }
    default:
      types.map { Array(repeating: $0, count: count) } + [
        ["text", "text", "boolean"], ["text", "integer", "integer"],
      ]
    }
  }
}
