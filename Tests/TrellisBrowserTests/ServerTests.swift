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

    @Test("connections that send nothing, or little by little, keep no request waiting", .timeLimit(.minutes(60)))
    func silent() throws {
      let place = try BrowsedStore(isWritable: false)
      let running = try RunningSite(place.site)
      let thread = Thread { running.run() }
      thread.start()
      defer { running.stop() }
      let address = try #require(URL(string: running.address))
      let port = UInt16(try #require(address.port))
      var silent: [Int32] = []
      defer { for connection in silent { close(connection) } }
      for number in 0..<200 {
        let connection = try #require(Self.connect(port))
        if number % 2 == 0 { _ = "GET / HT".withCString { write(connection, $0, 8) } }
        silent.append(connection)
      }
      for _ in 0..<20 {
        let connection = try #require(Self.connect(port))
        defer { close(connection) }
        let request = Array("GET \(address.path())/ HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        #expect(write(connection, request, request.count) == request.count)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(connection, &buffer, buffer.count)
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
      }
    }

    private static func connect(_ port: UInt16) -> Int32? {
      #if canImport(Darwin)
        let number = socket(AF_INET, SOCK_STREAM, 0)
      #else
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isConnected = withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Foundation.connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      return isConnected ? number : nil
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
