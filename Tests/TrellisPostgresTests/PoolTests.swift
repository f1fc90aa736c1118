import Dispatch
import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("The connections of a store on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct PoolTests {
  @Test("a hundred threads read and save over two connections") func manyThreads() throws {
    let shelf = try Shelf(connections: 2, timeout: 60)
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 100) { number in
      do {
        try shelf.insert("item \(number)")
        #expect(try shelf.store.connect().count(shelf.all) > 0)
      } catch {
        failures.add(error)
      }
    }
    #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
    #expect(try shelf.names().count == 100)
  }

  @Test("a caller that waits too long is told how many connections are in use") func timeout() throws {
    let shelf = try Shelf(connections: 1, timeout: 0.2, statementTimeout: 60)
    let holder = try shelf.store.connect()
    try holder.pin()
    defer { holder.unpin() }
    let (done, failures) = (DispatchSemaphore(value: 0), Failures())
    // Another thread, because this one would wait for itself and gets a second connection.
    Thread.detachNewThread {
      do { _ = try shelf.store.connect().count(shelf.all) } catch { failures.add(error) }
      done.signal()
    }
    done.wait()
    let error = try #require(failures.all.first as? StoreError)
    #expect(error.code == .busy && error.message.contains("All 1 connections"), "\(error)")
  }

  @Test("a thread that reads inside a read of another context gets a second connection") func nested() throws {
    let shelf = try Shelf(connections: 1, timeout: 1, statementTimeout: 60)
    try shelf.insert("a", "b")
    var counts: [Int] = []
    try shelf.store.connect().fetch(shelf.all) { _ in counts.append(try shelf.store.connect().count(shelf.all)) }
    #expect(counts == [2, 2])
  }

  @Test("a pinned connection shows one moment while others save") func pinned() throws {
    let shelf = try Shelf()
    try shelf.insert("a")
    let reader = try shelf.store.connect()
    try reader.pin()
    try shelf.insert("b")
    #expect(try reader.count(shelf.all) == 1)
    reader.unpin()
    #expect(try reader.count(shelf.all) == 2)
  }

  @Test("an idle connection that the server has closed is replaced") func closedByServer() throws {
    let shelf = try Shelf()
    try shelf.insert("a")
    try shelf.endSession()
    #expect(try shelf.names() == ["a"])
    try shelf.endSession()
    try shelf.insert("b")
    #expect(try shelf.names() == ["a", "b"])
  }

  @Test("a closed store says so") func closed() throws {
    let shelf = try Shelf()
    let connection = try shelf.store.connect()
    shelf.store.close()
    #expect(throws: StoreError.self) { try connection.count(shelf.all) }
  }

  @Test("a save is one round trip, whatever its size", arguments: [1, 10, 2_000])
  func roundTrips(_ count: Int) throws {
    let shelf = try Shelf(connections: 1)
    try shelf.insert("warm")
    let request = try shelf.inserting((0..<count).map { "item \($0)" })
    let connection = try shelf.store.connect()
    let before = try shelf.store.pool.withConnection { $0.roundTrips }
    try connection.save(request)
    #expect(try shelf.store.pool.withConnection { $0.roundTrips } - before == 1)
  }

  @Test("after a change that only adds, a save of a former program is one round trip again") func expanded() throws {
    let shelf = try Shelf(connections: 1)
    try shelf.insert("before")
    let setup = shelf.store.setup
    let metadata = setup.layout.names.metadata
    _ = try setup.connect().run(
      ServerStatement(
        "UPDATE \(metadata) SET \"value\" = \"value\" || ' \(setup.storageChecksum)@0' "
          + "WHERE \"key\" = 'migrations'"))
    let requests = try ["first", "second"].map { try shelf.inserting([$0]) }
    let connection = try shelf.store.connect()
    let trips = try requests.map { request in
      let before = try shelf.store.pool.withConnection { $0.roundTrips }
      try connection.save(request)
      return try shelf.store.pool.withConnection { $0.roundTrips } - before
    }
    // The refused transaction, its end, and two that ask.
    #expect(trips == [4, 1])
    #expect(try shelf.names() == ["before", "first", "second"])
  }

  @Test("a save of former rows changes nothing, and says which they are") func conflict() throws {
    let shelf = try Shelf(connections: 1)
    try shelf.insert("a", "b")
    var items: [PlainRecord] = []
    try shelf.store.connect().fetch(shelf.all) {
      items.append(
        PlainRecord(shelf.model.entities[0], key: $0.key, version: $0.version, ["name": .text("new " + $0.text(0))]))
    }
    let request = SaveRequest()
    request.updates = [SaveRequest.Updates(entity: 0, records: items, masks: items.map { _ in ColumnMask(only: 0) })]
    request.inserts = [SaveRequest.Inserts(entity: 0, records: [try shelf.item("c")])]
    try shelf.store.connect().save(request)
    request.inserts = [SaveRequest.Inserts(entity: 0, records: [try shelf.item("d")])]
    let conflict = try #require(throws: SaveConflict.self) { try shelf.store.connect().save(request) }
    #expect(conflict.rows.map(\.key) == items.map(\.storedKey))
    #expect(try shelf.names() == ["c", "new a", "new b"])
  }
}

extension Shelf {
  /// Ends the session that the next call of the store uses, as an administrator does.
  func endSession() throws {
    let connection = try store.setup.connect()
    for process in try processes() {
      var parameters = ServerParameters()
      parameters.add(Int64(process))
      try connection.run(ServerStatement("SELECT pg_terminate_backend($1::int, 5000)", parameters))
    }
  }

  /// The processes of the server that serve the store.
  private func processes() throws -> [Int32] { [try store.pool.withConnection { $0.processID }] }
}

/// Errors of several threads.
final class Failures: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var found: [any Error] = []

  func add(_ error: any Error) { lock.withLock { found.append(error) } }
  var all: [any Error] { lock.withLock { found } }

  @Test("a plan that scans a small table does not ask for an index that a unique key has")
  func indexAdvice() throws {
    let shelf = try Shelf()
    try shelf.insert("one")
    let connection = try shelf.store.connect()
    func plan(of property: Int) throws -> QueryPlan {
      let isOne = Comparison(
        .path(PropertyPath(variable: 0).appending(property)), .equal, .value(.text("one")), kind: .text)
      return try connection.plan(of: StoreRequest(entity: 0, predicate: .comparison(isOne)))
    }
    let properties = shelf.model.entities[0].properties
    let (name, list) = try (
      #require(properties.first { $0.name == "name" }), #require(properties.first { $0.name == "list" })
    )
    let (ofKey, ofAnother) = try (plan(of: name.index), plan(of: list.index))
    #expect(ofKey.missingIndex == nil)
    #expect(ofAnother.scansWholeTable && ofAnother.missingIndex?.properties == ["list"])
  }
}
