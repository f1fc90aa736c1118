import Dispatch
import Synchronization
import Testing
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("The creation of a store on a server", .enabled(if: TestServer.isThere, "needs a server")) struct CreationTests {
  @Test("programs that create a store at once share it", arguments: 0..<4) func atOnce(_ turn: Int) throws {
    let schema = TestServer.newSchema()
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { number in
      do {
        let shelf = try Shelf(schema: schema, timeout: 60)
        try shelf.insert("\(number)")
        shelf.store.close()
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try Shelf(schema: schema).names().count == 6)
  }
}
