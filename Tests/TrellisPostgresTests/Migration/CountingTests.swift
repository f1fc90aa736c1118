import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("What a migration on PostgreSQL counts", .enabled(if: TestServer.isThere, "needs a server"))
struct CountingTests {
  private let store: FormerSchema

  init() throws { store = try FormerSchema(rows: 20) }

  /// Opens the store with a model, and calls a closure before each statement of the migration.
  private func open(_ model: Model, _ willRun: @escaping @Sendable (_ process: Int32, _ statement: String) -> Void)
    throws
  {
    var options = store.options()
    options.willPrepare = willRun
    try PostgresOpening(model, options).open(nil).close()
  }

  /// A connection of another program, which waits for no lock.
  private func other() throws -> Unchecked {
    let other = try ServerConnection(ServerAddress(TestServer.url).keywords(timeout: 10), preparesStatements: false)
    try other.run(ServerStatement("SET lock_timeout = 20"))
    return Unchecked(connection: other)
  }

  /// A connection that is used on the thread of the migration only.
  private struct Unchecked: @unchecked Sendable { let connection: ServerConnection }

  private static func isCount(_ statement: String) -> Bool {
    statement.hasPrefix("SELECT count(*) FROM") && !statement.contains("pg_locks") || statement.contains("array_agg")
  }

  @Test("others read and write while it counts", arguments: [true, false])
  func others(isRefused: Bool) throws {
    var model = try FormerSchema.model([FormerSchema.title], removed: isRefused ? [] : ["mood"]).description
    model.entities[0].uniqueKeys = [["title"]]
    let current = try Model(model)
    let (other, entries) = (try other(), "\"\(store.schema)\".\"Entry\"")
    let counts = Locked<[String]>([])
    let failures = Locked<[String]>([])
    let open = {
      try self.open(current) { _, statement in
        guard Self.isCount(statement) else { return }
        counts.withLock { $0.append(statement) }
        do throws(ServerError) {
          try other.connection.runAll([
            "UPDATE \(entries) SET \"mood\" = 'sad' WHERE \"_id\" = 3", "SELECT \"mood\" FROM \(entries)",
          ])
        } catch {
          failures.withLock { $0.append("\(statement): \(error)") }
        }
      }
    }
    if isRefused {
      let refusal = #expect(throws: StoreError.self) { try open() }
      #expect(refusal?.code == .dataLoss && refusal?.message.contains("20 values") == true, "\(refusal as Any)")
    } else {
      try open()
    }
    #expect(failures.withLock { $0 } == [])
    // Lost values, and values of the key. What needs no answer is not counted again.
    #expect(counts.withLock { $0.count } == 2, "\(counts.withLock { $0 })")
  }

  @Test("what others write after its counts is not lost, and is told as what it had found before")
  func changes() throws {
    try store.sql("UPDATE SCHEMA.\"Entry\" SET \"mood\" = NULL")
    var model = try FormerSchema.model([FormerSchema.title]).description
    model.entities[0].uniqueKeys = [["title"]]
    let current = try Model(model)
    let (other, entries) = (try other(), "\"\(store.schema)\".\"Entry\"")
    for (change, code, text) in [
      ("\"mood\" = 'sad'", StoreError.Code.dataLoss, "there is 1 value"),
      ("\"title\" = '4'", .notUnique, "Entry.title"),
    ] {
      let isDone = Locked(false)
      let refusal = try #require(throws: StoreError.self) {
        try open(current) { _, statement in
          // The first statement with locks.
          guard statement.hasPrefix("LOCK TABLE"), statement.contains("IN ACCESS EXCLUSIVE MODE"),
            !isDone.withLock({ isDone in
              defer { isDone = true }
              return isDone
            })
          else { return }
          _ = try? other.connection.run(ServerStatement("UPDATE \(entries) SET \(change) WHERE \"_id\" = 3"))
        }
      }
      #expect(isDone.withLock { $0 })
      #expect(refusal.code == code && refusal.message.contains(text), "\(refusal)")
      #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\" WHERE \(change) AND _id = 3") == 1)
      try store.sql("UPDATE SCHEMA.\"Entry\" SET \"mood\" = NULL, \"title\" = \"_id\"::text")
    }
    try open(current) { _, _ in }
    #expect(try store.number("SELECT count(DISTINCT \"title\") FROM SCHEMA.\"Entry\"") == 20)
  }
}
