#if !os(Windows)
  import Foundation
  import Testing
  import TrellisModel
  import TrellisTestSupport

  @testable import TrellisDynamic
  @testable import TrellisSync

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @Suite("Exchanges by HTTP") struct HTTPTransportTests {
    /// Answers by a list of responses, the last one again and again, and keeps what came.
    private final class Script: Sendable {
      private let responses: Locked<[TestWebServer.Response]>
      private let kept = Locked<[TestWebServer.Request]>([])

      init(_ responses: [TestWebServer.Response]) { self.responses = Locked(responses) }

      var requests: [TestWebServer.Request] { kept.withLock { $0 } }

      func answer(_ request: TestWebServer.Request) -> TestWebServer.Response {
        kept.withLock { $0.append(request) }
        return responses.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .hangUp }
      }
    }

    private func transport(
      _ server: TestWebServer, _ pauses: Pauses, timeout: Duration = .seconds(600), attempts: Int = 4,
      prepare: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
    ) -> HTTPTransport {
      var transport = HTTPTransport(server.url, timeout: timeout, attempts: attempts, prepare: prepare)
      transport.sleep = { pauses.add($0) }
      return transport
    }

    /// What a transport would have waited.
    final class Pauses: Sendable {
      private let kept = Locked<[Duration]>([])
      var all: [Duration] { kept.withLock { $0 } }
      func add(_ pause: Duration) { kept.withLock { $0.append(pause) } }
    }

    @Test("Replicas exchange with a server on the web") func exchange() async throws {
      let model = SyncModels.model(SyncModels.lists)
      let (office, phone, tablet) = (try SyncStore(model), try SyncStore(model), try SyncStore(model))
      let server = try office.server()
      let web = try TestWebServer { .bytes(server.answer(to: $0.body)) }
      try phone.save { context in _ = try context.insert("List", ["name": .text("a")]) }
      for store in [phone, tablet] { try await store.replica().exchange(with: HTTPTransport(web.url)) }
      #expect(try tablet.texts("List") == ["a"])
    }

    @Test("A message is the body of a POST, with what the program adds") func request() async throws {
      let script = Script([.bytes([1, 2])])
      let web = try TestWebServer { script.answer($0) }
      let transport = transport(web, Pauses()) { $0.setValue("Bearer x", forHTTPHeaderField: "Authorization") }
      let message = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
      #expect(try await transport.answer(to: message) == [1, 2])
      let request = try #require(script.requests.first)
      #expect(request.line.hasPrefix("POST /sync "))
      #expect(request.headers["authorization"] == "Bearer x")
      #expect(request.headers["content-type"] == "application/octet-stream")
      #expect(request.body == message)
    }

    @Test("A message is sent again after failures that pass, with longer and longer pauses")
    func repeats() async throws {
      let script = Script([.answer(503), .hangUp, .answer(429), .bytes([7])])
      let web = try TestWebServer { script.answer($0) }
      let pauses = Pauses()
      #expect(try await transport(web, pauses).answer(to: [1]) == [7])
      #expect(script.requests.map(\.body) == [[1], [1], [1], [1]])
      for (pause, longest) in zip(pauses.all, [500, 1_000, 2_000]) {
        #expect(pause >= .milliseconds(longest / 2) && pause <= .milliseconds(longest))
      }
      #expect(pauses.all.count == 3)
    }

    @Test("A server asks for a longer pause, and not for one without end")
    func retryAfter() async throws {
      let script = Script([
        .answer(503, headers: ["Retry-After": "20"]), .answer(503, headers: ["Retry-After": "9223372036854775807"]),
        .answer(503, headers: ["Retry-After": "-9"]), .bytes([7]),
      ])
      let web = try TestWebServer { script.answer($0) }
      let pauses = Pauses()
      #expect(try await transport(web, pauses).answer(to: [1]) == [7])
      #expect(pauses.all.prefix(2) == [.seconds(20), .seconds(30)])
    }

    @Test("After the last attempt, the server counts as unreachable") func gaveUp() async throws {
      let script = Script([.answer(500)])
      let web = try TestWebServer { script.answer($0) }
      let transport = transport(web, Pauses(), attempts: 2)
      let error = await #expect(throws: SyncError.self) { try await transport.answer(to: [1]) }
      #expect(error?.code == .unreachable)
      #expect(script.requests.count == 2)
    }

    @Test("A status that does not pass is thrown at once", arguments: [400, 401, 403, 404, 413, 501])
    func final(_ status: Int) async throws {
      let script = Script([.answer(status)])
      let web = try TestWebServer { script.answer($0) }
      let transport = transport(web, Pauses())
      let error = await #expect(throws: SyncError.self) { try await transport.answer(to: [1]) }
      #expect(error?.code == .notServed)
      #expect(script.requests.count == 1)
    }

    @Test("The page of a network that wants a login is no answer") func portal() async throws {
      let page = TestWebServer.Response.answer(200, headers: ["Content-Type": "text/html"], body: Array("<p>".utf8))
      let script = Script([page, .bytes([7])])
      let web = try TestWebServer { script.answer($0) }
      #expect(try await transport(web, Pauses()).answer(to: [1]) == [7])
    }

    @Test("A server that says nothing does not keep an exchange for ever") func silence() async throws {
      let web = try TestWebServer { _ in .silence }
      let transport = transport(web, Pauses(), timeout: .milliseconds(300), attempts: 2)
      let error = await #expect(throws: SyncError.self) { try await transport.answer(to: [1]) }
      #expect(error?.code == .unreachable)
    }

    @Test("A call ends when its task is cancelled") func cancelling() async throws {
      let hasCome = AsyncStream.makeStream(of: Void.self)
      let web = try TestWebServer { _ in
        hasCome.continuation.yield()
        return .silence
      }
      let transport = HTTPTransport(web.url, timeout: .seconds(3_600))
      let call = Task { try await transport.answer(to: [1]) }
      for await _ in hasCome.stream { break }
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("No server at the address is a failure that passes, and its message does not show the address")
    func nobody() async throws {
      let port = try TestWebServer { _ in .hangUp }.port
      let url = try #require(URL(string: "http://127.0.0.1:\(port)/secret"))
      var transport = HTTPTransport(url, attempts: 2)
      transport.sleep = { _ in }
      let error = await #expect(throws: SyncError.self) { try await transport.answer(to: [1]) }
      #expect(error?.code == .unreachable)
      #expect(error?.description.contains("secret") == false)
    }

    @Test("What the program throws while it prepares a request comes through") func preparing() async throws {
      struct NoAccount: Error {}
      let web = try TestWebServer { _ in .hangUp }
      let transport = transport(web, Pauses()) { _ in throw NoAccount() }
      await #expect(throws: NoAccount.self) { try await transport.answer(to: [1]) }
    }
  }
#endif

@Suite("Pauses after failures") struct BackoffTests {
  @Test("Pauses double up to the longest one, and are at least half of that") func doubling() {
    var generator = SeededGenerator(seed: 5)
    let backoff = Backoff(first: .seconds(1), longest: .seconds(300))
    for failures in 0..<2_000 {
      let pause = backoff.pause(after: failures, using: &generator)
      let longest = failures > 9 ? Duration.seconds(300) : min(.seconds(300), .seconds(1 << max(0, failures - 1)))
      #expect(pause >= longest * 0.49 && pause <= longest, "\(failures)")
    }
  }
}
