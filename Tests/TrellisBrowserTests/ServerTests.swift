#if !os(Windows)
  import Foundation
  import Testing
  import TrellisTestSupport

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @testable import TrellisBrowser

  @Suite("The server of a site") struct ServerTests {
    @Test("answers many requests at once, and goes on after broken ones")
    func server() async throws {
      let place = try BrowsedStore(isWritable: false)
      let running = try RunningSite(place.site)
      let thread = Thread { running.run() }
      thread.start()
      defer { running.stop() }
      let address = try #require(URL(string: running.address))
      #expect(address.host() == "127.0.0.1")
      try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for number in 0..<40 {
          group.addTask {
            let (data, response) = try await URLSession.shared.data(
              from: number % 4 == 0 ? address.appending(path: "../wrong") : address)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
          }
        }
        var statuses: [Int: Int] = [:]
        for try await (status, text) in group {
          statuses[status, default: 0] += 1
          #expect(status == 404 || text.contains("Journal"))
        }
        #expect(statuses == [200: 30, 404: 10])
      }
    }

    @Test("a port that is taken is said")
    func takenPort() throws {
      let place = try BrowsedStore(isWritable: false)
      let running = try RunningSite(place.site)
      let port = try #require(URL(string: running.address)?.port)
      #expect(throws: ServerError.self) { _ = try RunningSite(place.site, port: UInt16(port)) }
      running.stop()
    }
  }
#endif
