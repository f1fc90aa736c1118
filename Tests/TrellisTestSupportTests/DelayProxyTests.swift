import Foundation
import Testing
import TrellisModel

@testable import TrellisTestSupport

@Suite("A proxy with a slow network", .timeLimit(.minutes(60))) struct DelayProxyTests {
  private let server: EchoServer
  private let proxy: DelayProxy

  init() throws {
    server = try EchoServer()
    proxy = try DelayProxy(to: server.port)
  }

  // MARK: Delays

  @Test("bytes pass unchanged in both directions, and so do the ends")
  func bytes() throws {
    let client = try Client(proxy.port)
    let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
    let heard = Locked<[UInt8]>([])
    let reader = Thread.started { heard.withLock { $0 = client.readToEnd() ?? [] } }
    client.write(sent)
    client.end()
    reader.wait()
    #expect(heard.withLock { $0 } == sent)
    #expect(proxy.traffic.map(\.bytesFromClient) == [sent.count])
    #expect(proxy.traffic.map(\.bytesFromServer) == [sent.count])
    #expect(proxy.traffic.map(\.isCut) == [false])
  }

  @Test("each direction takes its time", arguments: [200, 5_000, 30_000])
  func delay(microseconds: Int) throws {
    proxy.microseconds = microseconds
    let client = try Client(proxy.port)
    var times: [Duration] = []
    for _ in 0..<20 { times.append(ContinuousClock().measure { _ = client.ask("a") }) }
    let least = try #require(times.min())
    #expect(times.allSatisfy { $0 >= .microseconds(2 * microseconds) })
    // Only the fastest one says something: the machine may be busy.
    #expect(least < .microseconds(2 * microseconds) + .milliseconds(20))
  }

  @Test("a long way is not a narrow one: what is sent together arrives together")
  func pipelined() throws {
    proxy.microseconds = 50_000
    let client = try Client(proxy.port)
    let time = ContinuousClock().measure {
      for _ in 0..<200 {
        client.write(Array("x".utf8))
        Thread.sleep(forTimeInterval: 0.0005)
      }
      #expect(client.read(200)?.count == 200)
    }
    // One after the other, they would take twenty seconds.
    #expect(time >= .milliseconds(100) && time < .seconds(10))
  }

  @Test("much data over a long way takes little longer than the way")
  func wide() throws {
    proxy.microseconds = 50_000
    let client = try Client(proxy.port)
    let size = 20_000_000
    let time = ContinuousClock().measure {
      let writer = Thread.started { client.write([UInt8](repeating: 7, count: size)) }
      #expect(client.read(size)?.count == size)
      writer.wait()
    }
    // A chunk at a time, it would take half a minute.
    #expect(time < .seconds(10))
  }

  // MARK: Round trips

  @Test("a round trip begins when the client sends after the server has, however many pieces it sends")
  func roundTrips() throws {
    let client = try Client(proxy.port)
    #expect(proxy.roundTrips == 0)
    for count in 1...5 {
      #expect(client.ask("abc") == "abc")
      #expect(proxy.roundTrips == count)
    }
    let slow = try DelayProxy(to: server.port, microseconds: 100_000)
    let other = try Client(slow.port)
    for _ in 0..<10 {
      other.write(Array("ab".utf8))
      Thread.sleep(forTimeInterval: 0.005)
    }
    #expect(other.read(20)?.count == 20)
    #expect(slow.roundTrips == 1)
    #expect(try Client(proxy.port).ask("d") == "d")
    #expect(proxy.traffic.map(\.roundTrips) == [5, 1])
    #expect(proxy.roundTrips == 6)
  }

  // MARK: Broken connections

  @Test("cut connections are reset for their clients, and end for the server; new ones are not affected")
  func cutAll() throws {
    let clients = [try Client(proxy.port), try Client(proxy.port)]
    for client in clients { #expect(client.ask("a") == "a") }
    proxy.cutAll()
    for client in clients { #expect(client.read(1) == nil) }
    server.waitForEnds(2)
    #expect(try Client(proxy.port).ask("b") == "b")
    #expect(proxy.traffic.map(\.isCut) == [true, true, false])
  }

  @Test("a connection is cut while its client does not read")
  func cutUnread() throws {
    let client = try Client(proxy.port)
    let writer = Thread.started { client.write([UInt8](repeating: 1, count: 100_000_000)) }
    Thread.sleep(forTimeInterval: 0.1)
    proxy.cutAll()
    writer.wait()
    server.waitForEnds(1)
  }

  @Test("one connection is cut after as many bytes as were asked for", arguments: [0, 1, 4, 7, 9, 10])
  func cutAfterBytes(count: Int) throws {
    let client = try Client(proxy.port)
    #expect(client.ask("before") == "before")
    proxy.cut(afterBytesFromClient: count)
    for part in ["abcd", "efg", "hij"] {
      client.write(Array(part.utf8))
      _ = client.read(part.utf8.count)
    }
    #expect(client.readToEnd() == nil)
    server.waitForEnds(1)
    #expect(server.heard == ["before" + "abcdefghij".prefix(count)])
    #expect(try Client(proxy.port).ask("0123456789abc") == "0123456789abc")
  }

  @Test("a connection is cut before or after bytes from its client that are the reason, and answers go nowhere")
  func cutAtRequest() throws {
    for (moment, heard) in [(DelayProxy.Moment.beforeForwarding, "begin"), (.afterForwarding, "begincommit")] {
      let server = try EchoServer()
      let proxy = try DelayProxy(to: server.port)
      let client = try Client(proxy.port)
      proxy.cut(moment) { bytes, direction in direction == .toServer && bytes.elementsEqual("commit".utf8) }
      #expect(client.ask("begin") == "begin")
      client.write(Array("commit".utf8))
      #expect(client.readToEnd() == nil)
      server.waitForEnds(1)
      #expect(server.heard == [heard])
      #expect(try Client(proxy.port).ask("commit") == "commit")
    }
  }

  @Test("a connection is cut before or after the server's answer")
  func cutAtAnswer() throws {
    for (moment, answer) in [(DelayProxy.Moment.beforeForwarding, nil), (.afterForwarding, "done")] {
      let client = try Client(proxy.port)
      #expect(client.ask("work") == "work")
      proxy.cut(moment) { bytes, direction in direction == .toClient && bytes.elementsEqual("done".utf8) }
      #expect(client.ask("done") == answer)
      #expect(client.read(1) == nil)
    }
    server.waitForEnds(2)
    #expect(server.heard == ["workdone", "workdone"])
  }

  @Test("connections are refused as long as it is asked for, and open ones stay")
  func refuse() throws {
    let client = try Client(proxy.port)
    for _ in 0..<5 {
      proxy.refuse = true
      #expect(proxy.refuse)
      let failure = #expect(throws: SystemCallFailure.self) { try Client(proxy.port) }
      #expect(failure?.description.contains("refused") == true)
      #expect(client.ask("still here") == "still here")
      proxy.refuse = false
      #expect(!proxy.refuse)
      #expect(try Client(proxy.port).ask("again") == "again")
    }
  }

  @Test("a server that ends a connection ends it for the client, and one that is not there resets it")
  func endedByServer() throws {
    let client = try Client(proxy.port)
    #expect(client.ask("a") == "a")
    client.write(Array("bye".utf8))
    #expect(client.readToEnd() == Array("bye".utf8))
    let nobody = try LocalSocket.listening()
    close(nobody.socket)
    let lonely = try DelayProxy(to: nobody.port)
    #expect(try Client(lonely.port).read(1) == nil)
  }

  @Test("a proxy that nobody has any more breaks its connections and frees its port")
  func released() throws {
    var proxy: DelayProxy? = try DelayProxy(to: server.port)
    let port = try #require(proxy?.port)
    let client = try Client(port)
    #expect(client.ask("a") == "a")
    proxy = nil
    #expect(client.read(1) == nil)
    #expect(throws: SystemCallFailure.self) { try Client(port) }
    close(try LocalSocket.listening(on: port))
  }
}

@Suite(
  "A proxy before PostgreSQL", .timeLimit(.minutes(60)),
  .enabled(if: PostgresCluster.canStart, "needs PostgreSQL's initdb"))
struct PostgresProxyTests {
  /// The proxy needs a server of this machine, and a named one may be elsewhere.
  private static let started = Result { try PostgresCluster.start() }

  private let cluster: PostgresCluster
  private let proxy: DelayProxy
  private let database: String

  init() throws {
    cluster = try Self.started.get()
    proxy = try DelayProxy(to: cluster.port)
    database = try cluster.makeDatabase()
    _ = try cluster.psql("CREATE TABLE rows (number int)", database: database)
  }

  private func run(_ sql: String) throws -> String { try cluster.psql(sql, database: database, port: proxy.port) }

  @Test("a client works as without it, in as many round trips as it has statements")
  func statements() throws {
    #expect(try run("SELECT 1") == "1")
    let before = proxy.roundTrips
    #expect(try run("SELECT 1; SELECT 2; SELECT 3") == "1\n2\n3")
    #expect(proxy.roundTrips == 2 * before + 2)
    #expect(try run("SELECT repeat('x', 5000000)").utf8.count == 5_000_000)
    proxy.microseconds = 20_000
    // Nothing answers the last message.
    #expect(try ContinuousClock().measure { _ = try run("SELECT 1") } > .milliseconds(2 * 20 * (before - 1)))
  }

  @Test("a commit whose connection breaks before it arrives did not happen, and one whose answer is lost did")
  func commits() throws {
    let cuts: [(DelayProxy.Moment, DelayProxy.Direction, isDone: Bool)] = [
      (.beforeForwarding, .toServer, false), (.afterForwarding, .toServer, true), (.beforeForwarding, .toClient, true),
    ]
    for (number, (moment, side, isDone)) in cuts.enumerated() {
      proxy.cut(moment) { bytes, direction in direction == side && bytes.contains("COMMIT".utf8) }
      #expect(throws: PostgresFailure.self) { try run("BEGIN; INSERT INTO rows VALUES (\(number)); COMMIT") }
      // The server acts after the client has heard of the end.
      while try cluster.psql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)'") != "0" {
        Thread.sleep(forTimeInterval: 0.01)
      }
      let found = try run("SELECT count(*) FROM rows WHERE number = \(number)")
      #expect(found == (isDone ? "1" : "0"), "cut \(moment), \(side)")
    }
  }
}

/// A server that sends back what it hears, and ends a connection that says "bye".
private final class EchoServer: Sendable {
  private struct State {
    var heard: [Int32: [UInt8]] = [:]
    var order: [Int32] = []
    var ends = 0
  }

  let port: UInt16
  private let listener: Int32
  private let waker: (own: Int32, thread: Int32)
  private let state = Shared(State())

  private final class Shared<Value>: Sendable {
    let value: Locked<Value>
    init(_ value: sending Value) { self.value = Locked(value) }
  }

  init() throws {
    (listener, port) = try LocalSocket.listening()
    waker = try LocalSocket.pair()
    let (listener, thread, state) = (listener, waker.thread, state)
    Thread.detachNewThread {
      var number: Int32 = 0
      while let client = LocalSocket.accepted(by: listener, unless: thread) {
        let connection = number
        number += 1
        state.value.withLock { $0.order.append(connection) }
        Thread.detachNewThread { Self.serve(client, connection, state) }
      }
      close(listener)
      close(thread)
    }
  }

  deinit { close(waker.own) }

  private static func serve(_ client: Int32, _ connection: Int32, _ state: Shared<State>) {
    while let bytes = LocalSocket.read(client), !bytes.isEmpty {
      state.value.withLock { $0.heard[connection, default: []] += bytes }
      guard LocalSocket.write(bytes, to: client), !bytes.elementsEqual("bye".utf8) else { break }
    }
    close(client)
    state.value.withLock { $0.ends += 1 }
  }

  /// What each connection has sent.
  var heard: [String] {
    state.value.withLock { state in state.order.map { String(decoding: state.heard[$0] ?? [], as: UTF8.self) } }
  }

  /// Waits until as many connections have ended.
  func waitForEnds(_ count: Int) {
    while state.value.withLock({ $0.ends }) < count { Thread.sleep(forTimeInterval: 0.005) }
  }
}

/// A client of the echo server.
private final class Client: Sendable {
  private let socket: Int32
  /// The system tells only once that a connection is broken, whatever is done then.
  private let isBroken = Locked(false)

  init(_ port: UInt16) throws { socket = try LocalSocket.connected(to: port) }

  deinit { close(socket) }

  func write(_ bytes: [UInt8]) {
    let isWritten = LocalSocket.write(bytes, to: socket)
    if !isWritten { isBroken.withLock { $0 = true } }
  }

  func end() { shutdown(socket, Int32(SHUT_WR)) }

  /// As many bytes, or fewer at the end; nil if the connection is broken.
  func read(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard let more = LocalSocket.read(socket, atMost: min(count - bytes.count, 65_536)) else {
        isBroken.withLock { $0 = true }
        return nil
      }
      if more.isEmpty { return isBroken.withLock { $0 } ? nil : bytes }
      bytes += more
    }
    return bytes
  }

  func readToEnd() -> [UInt8]? { read(1 << 30) }

  /// What comes back; nil if the connection is broken.
  func ask(_ text: String) -> String? {
    write(Array(text.utf8))
    return read(text.utf8.count).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Thread {
  /// A thread that can be waited for.
  fileprivate static func started(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let end = DispatchSemaphore(value: 0)
    detachNewThread {
      body()
      end.signal()
    }
    return end
  }
}
