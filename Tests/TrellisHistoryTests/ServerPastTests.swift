import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis
@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

/// Former rows on a server, where any program may write.
@Suite("Former rows on a server", .enabled(if: TestServer.isThere, "needs a server")) struct ServerPastTests {
  private let model = """
    { "model": "Shop", "history": "values", "entities": { "Item": {
      "attributes": { "name": "string", "price": { "type": "int64", "default": 0 }, "moment": "string?" } } } }
    """

  @Test("What other programs change is kept, whatever the statement") func foreign() throws {
    let shop = try DynamicShop(model, kind: .postgres)
    let program = try ServerProgram(shop.container)
    var keys: [Int64] = []
    for name in ["a", "b", "c"] { keys.append(try shop.insert(name: name)) }
    var moments: [(HistoryToken, [String])] = []
    func note(_ statements: String...) throws {
      // A save of another object makes a moment of its own.
      try shop.insert(name: "mark \(moments.count)")
      let token = try shop.container.historyToken()
      moments.append((token, try shop.names(shop.container.newContext())))
      for statement in statements { try program.run(statement) }
    }
    try note("UPDATE SCHEMA.\"Item\" SET name = 'x' || name")
    try note("UPDATE SCHEMA.\"Item\" SET _id = _id + 1000000 WHERE _id = \(keys[0])")
    try note(
      "BEGIN", "INSERT INTO SCHEMA.\"Item\" (name) VALUES ('new')",
      "UPDATE SCHEMA.\"Item\" SET name = 'newer' WHERE name = 'new'",
      "DELETE FROM SCHEMA.\"Item\" WHERE _id = \(keys[1])", "COMMIT")
    try note(
      "BEGIN", "DELETE FROM SCHEMA.\"Item\"", "ROLLBACK", "DELETE FROM SCHEMA.\"Item\" WHERE _id = \(keys[2])",
      "INSERT INTO SCHEMA.\"Item\" (_id, name) VALUES (\(keys[2]), 'again')")
    try note(
      "INSERT INTO SCHEMA.\"Item\" (_id, name) VALUES (\(keys[2]), 'merged') ON CONFLICT (_id) DO UPDATE SET name = excluded.name"
    )
    try note("TRUNCATE SCHEMA.\"Item\"")
    try note()
    for (token, names) in moments {
      #expect(try shop.names(shop.container.newContext(asOf: token)) == names, "\(token)")
    }
    #expect(try shop.container.check().isEmpty)
  }

  @Test("An object's versions tell what others have changed, without an author") func versions() throws {
    let notebook = try Notebook(.notebook, .postgres)
    let label = try notebook.save(by: "ada") { Label(in: $0, name: "red").objectID }
    try ServerProgram(notebook.container).run("UPDATE SCHEMA.\"Label\" SET name = 'blue', _version = _version + 1")
    try notebook.save(by: "eve") { try #require(try $0.object(with: label)).name = "green" }
    let versions = try notebook.container.history(of: label)
    #expect(versions.map(\.values?.name) == ["red", "blue", "green"])
    #expect(versions.map(\.author) == ["ada", nil, "eve"])
  }

  @Test("A context of the past sees nothing of a transaction that ends later") func unsettled() throws {
    let notebook = try Notebook(.notebook, .postgres)
    let container = notebook.container
    let label = try notebook.save { Label(in: $0, name: "a").objectID }
    let slow = try ServerProgram(container)
    try slow.run("BEGIN", "INSERT INTO SCHEMA.\"Label\" (name) VALUES ('slow')")
    let context = container.newContext()
    try #require(try context.object(with: label)).name = "b"
    try context.save()
    func names(_ context: ManagedObjectContext) throws -> [String] { try context.fetch(Label.all).map(\.name).sorted() }
    // The save is of no moment yet, as a transaction with a lower number is in progress.
    let past = try container.newContext(asOf: container.historyToken())
    #expect(try names(past) == ["a"])
    #expect(try container.history(of: label).map(\.values?.name) == ["a"])
    try slow.run("COMMIT")
    try container.settle()
    #expect(try names(past) == ["a"])
    #expect(try names(container.newContext(asOf: container.historyToken())) == ["b", "slow"])
    #expect(try container.history(of: label).map(\.values?.name) == ["a", "b"])
  }

  /// `TRELLIS_PAST_STEPS` sets the number of steps, `TRELLIS_HISTORY_SEED` the seed.
  @Test("As of each transaction, a row is what the last change by it or an earlier one made of it") func random() throws
  {
    let steps = TestSettings.number("TRELLIS_PAST_STEPS", or: 400)
    let seed = TestSettings.seed("TRELLIS_HISTORY_SEED")
    var random = SeededGenerator(seed: seed)
    let shop = try DynamicShop(model, kind: .postgres)
    var world = try InterleavedWriters(shop.container)
    for _ in 0..<steps { try world.step(&random) }
    try world.end()
    let differences = try world.differences()
    #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5).joined(separator: "\n"))")
    print("former rows: \(world.summary)")
    #expect(world.outOfOrder > 0 || steps < 400, "seed \(seed)")
  }

  @Test("Triggers that were dropped end the former values, and the next opening makes new ones") func dropped() throws {
    let shop = try DynamicShop(model, kind: .postgres)
    let key = try shop.insert(name: "a")
    let then = try shop.container.historyToken()
    let program = try ServerProgram(shop.container)
    try program.run("DROP TRIGGER \"_past.update\" ON SCHEMA.\"Item\"")
    try shop.rename(key, "b")
    let again = try DynamicShop(model, shop.folder, kind: .postgres)
    expect(.historyExpired) { _ = try again.container.newContext(asOf: then) }
    let now = try again.container.historyToken()
    try again.rename(key, "c")
    #expect(try again.names(again.container.newContext(asOf: now)) == ["b"])
    #expect(
      try program.lines(
        "SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'SCHEMA.\"Item\"'::regclass AND tgname LIKE '\\_past%'"
      ).count == 4)
  }

  @Test("A schema with another name keeps its former values once the owner has opened it") func renamedSchema() throws {
    let shop = try DynamicShop(model, kind: .postgres)
    let key = try shop.insert(name: "a")
    shop.container.close()
    let program = try ServerProgram(DynamicShop(model, shop.folder, kind: .postgres).container)
    let other = try TestFolder()
    try program.run("ALTER schema SCHEMA RENAME TO \"\(other.url.lastPathComponent)\"")
    let again = try DynamicShop(model, other, kind: .postgres)
    let now = try again.container.historyToken()
    try again.rename(key, "b")
    #expect(try again.names(again.container.newContext(asOf: now)) == ["a"])
    #expect(try again.names(again.container.newContext()) == ["b"])
  }

  @Test("Additive migrations carry former values along while a former program writes") func additive() throws {
    let shop = try DynamicShop(model, kind: .postgres)
    let key = try shop.insert(name: "a")
    let then = try shop.container.historyToken()
    try shop.rename(key, "b")
    let wider = model.replacingOccurrences(
      of: "\"price\"", with: "\"color\": { \"type\": \"string\", \"default\": \"white\" }, \"price\"")
    let newer = try DynamicShop(wider, shop.folder, kind: .postgres)
    #expect(try newer.names(newer.container.newContext(asOf: then)) == ["a"])
    #expect(try newer.names(newer.container.newContext(asOf: then), "Item", "color") == ["white"])
    let between = try newer.container.historyToken()
    let context = newer.container.newContext()
    try #require(try context.object("Item", key)).set("color", .text("red"))
    try context.save()
    try newer.container.settle()
    let red = try newer.container.historyToken()
    // The former program is still at work.
    try shop.rename(key, "c")
    #expect(try shop.names(shop.container.newContext(asOf: then)) == ["a"])
    #expect(try newer.names(newer.container.newContext(asOf: between), "Item", "color") == ["white"])
    #expect(try newer.names(newer.container.newContext(asOf: red), "Item", "color") == ["red"])
    #expect(try newer.names(newer.container.newContext(asOf: red)) == ["b"])
  }
}

/// Transactions of several connections that change the same few rows, one after the other.
private struct InterleavedWriters {
  private struct Writer {
    let program: ServerProgram
    /// The number of the transaction; nil outside of one.
    var number: Int64?
    var changes: [(key: Int, value: Int?)] = []
  }

  private static let keys = 1...6

  private let container: PersistentContainer
  private var writers: [Writer]
  private var values: [Int: Int] = [:]
  /// The transaction that holds each row.
  private var holders: [Int: Int] = [:]
  /// The committed changes of each row, in their order.
  private var changes: [Int: [(number: Int64, value: Int?)]] = [:]
  private var next = 0
  private var numbers: Set<Int64> = []
  private(set) var outOfOrder = 0

  init(_ container: PersistentContainer) throws {
    self.container = container
    writers = try (0..<4).map { _ in Writer(program: try ServerProgram(container)) }
  }

  var summary: String { "\(numbers.count) transactions, \(next) changes, \(outOfOrder) out of order" }

  mutating func step(_ random: inout SeededGenerator) throws {
    let number = random.below(writers.count)
    guard let transaction = writers[number].number else {
      try writers[number].program.run("BEGIN")
      writers[number].number = Int64(try writers[number].program.lines("SELECT pg_current_xact_id()::text")[0])
      return
    }
    if random.below(4) == 0 { return try close(number, transaction, commits: random.below(5) > 0) }
    let key = Self.keys.lowerBound + random.below(Self.keys.count)
    // A row that another transaction has changed would be waited for.
    guard holders[key] == nil || holders[key] == number else { return }
    let program = writers[number].program
    next += 1
    let own = writers[number].changes.last { $0.key == key }
    let present = own.map(\.value) ?? values[key]
    var value: Int? = next
    if present == nil {
      try program.run("INSERT INTO SCHEMA.\"Item\" (_id, name) VALUES (\(key), '\(next)')")
    } else if random.below(3) == 0 {
      try program.run("DELETE FROM SCHEMA.\"Item\" WHERE _id = \(key)")
      value = nil
    } else {
      try program.run("UPDATE SCHEMA.\"Item\" SET name = '\(next)' WHERE _id = \(key)")
    }
    holders[key] = number
    writers[number].changes.append((key, value))
  }

  private mutating func close(_ number: Int, _ transaction: Int64, commits: Bool) throws {
    try writers[number].program.run(commits ? "COMMIT" : "ROLLBACK")
    if commits, !writers[number].changes.isEmpty {
      numbers.insert(transaction)
      for (key, value) in writers[number].changes {
        if let last = changes[key]?.last, last.number > transaction { outOfOrder += 1 }
        changes[key, default: []].append((transaction, value))
        values[key] = value
      }
    }
    for key in holders.keys.filter({ holders[$0] == number }) { holders[key] = nil }
    writers[number].number = nil
    writers[number].changes = []
  }

  mutating func end() throws {
    for number in writers.indices {
      if let transaction = writers[number].number { try close(number, transaction, commits: true) }
    }
  }

  func differences() throws -> [String] {
    let store = try #require(container.core.store as? PostgresStore)
    let table = try #require(store.history?.former.table(of: "Item"))
    var found: [String] = []
    for number in numbers.sorted() {
      let rows = FormerRows(store.setup).rows(of: table, asOf: number)
      let past = try writers[0].program.lines("SELECT _id || ' ' || name FROM \(rows) AS r ORDER BY _id")
      let expected = changes.sorted { $0.key < $1.key }.compactMap { key, changes in
        changes.last { $0.number <= number }?.value.map { "\(key) \($0)" }
      }
      if past != expected { found.append("as of \(number): \(past), not \(expected)") }
    }
    let present = try writers[0].program.lines("SELECT _id || ' ' || name FROM SCHEMA.\"Item\" ORDER BY _id")
    let expected = values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    if present != expected { found.append("\(present), not \(expected)") }
    return found
  }
}
