import Foundation
import TrellisModel

/// A TCP proxy before a server of this machine, which makes its network slow, counts what goes through, and breaks
/// connections at a chosen moment.
///
/// Each direction is a delay line: what arrives at a moment leaves a fixed time later, however much it is, so a long
/// way does not become a narrow one.
package final class DelayProxy: Sendable {
  package enum Direction: Sendable {
    case toServer
    case toClient
  }

  /// When a connection is cut, seen from the bytes that are the reason.
  package enum Moment: Sendable {
    /// The bytes do not arrive.
    case beforeForwarding
    /// The bytes arrive, and nothing after them.
    case afterForwarding
  }

  /// What went through one connection.
  package struct Traffic: Sendable {
    /// How often the client began to send after the server had, or at the beginning.
    package fileprivate(set) var roundTrips = 0
    package fileprivate(set) var bytesFromClient = 0
    package fileprivate(set) var bytesFromServer = 0
    /// Whether the proxy has broken the connection.
    package fileprivate(set) var isCut = false
  }

  /// The port of the proxy on 127.0.0.1.
  package let port: UInt16
  private let entrance: ProxyEntrance

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - server: the port of the server on 127.0.0.1.
  ///   - microseconds: how long each direction takes.
  package init(to server: UInt16, microseconds: Int = 0) throws {
    let (listener, port) = try LocalSocket.listening()
    self.port = port
    entrance = try ProxyEntrance(listener, port: port, server: server)
    self.microseconds = microseconds
  }

  deinit {
    entrance.shut()
    cutAll()
  }

  /// How long each direction takes, for what arrives from now on.
  package var microseconds: Int {
    get { entrance.rules.microseconds }
    set { entrance.rules.microseconds = newValue }
  }

  /// Whether new connections are refused, as by a server that does not run. Open ones stay.
  package var refuse: Bool {
    get { !entrance.isOpen }
    set { newValue ? entrance.shut() : entrance.open() }
  }

  /// What went through each connection, in the order of their beginnings.
  package var traffic: [Traffic] { entrance.relays.map(\.traffic) }

  /// The round trips of all connections.
  package var roundTrips: Int { traffic.reduce(0) { $0 + $1.roundTrips } }

  /// Breaks all connections. Their clients get a reset.
  package func cutAll() { for relay in entrance.relays { relay.cut() } }

  /// Breaks one connection, as soon as its client has sent this many bytes from now on. They arrive, and no more.
  package func cut(afterBytesFromClient count: Int) { entrance.rules.cut(.bytesFromClient(count)) }

  /// Breaks one connection as soon as bytes go through it that are a reason. The client gets a reset. The server gets
  /// what came before, can act on it, and finds the end of the connection; its answer goes nowhere.
  ///
  /// - Parameters:
  ///   - moment: whether the bytes still arrive.
  ///   - isReason: gets the bytes as they come, which may be several messages or a part of one. It must not use the
  ///     proxy.
  package func cut(
    _ moment: Moment = .afterForwarding, when isReason: @escaping @Sendable (ArraySlice<UInt8>, Direction) -> Bool
  ) { entrance.rules.cut(.bytes(isReason, moment)) }
}

/// What holds for all connections.
private final class ProxyRules: Sendable {
  enum Reason {
    case bytesFromClient(Int)
    case bytes(@Sendable (ArraySlice<UInt8>, DelayProxy.Direction) -> Bool, DelayProxy.Moment)
  }

  private struct State {
    var microseconds = 0
    /// Why one connection will be cut.
    var reason: Reason?
    /// What each connection has sent since the reason is there.
    var sent: [ObjectIdentifier: Int] = [:]
  }

  private let state = Locked(State())

  var microseconds: Int {
    get { state.withLock { $0.microseconds } }
    set { state.withLock { $0.microseconds = newValue } }
  }

  func cut(_ reason: Reason) { state.withLock { ($0.reason, $0.sent) = (reason, [:]) } }

  /// How many of the bytes are forwarded before the connection is cut; nil if it is not.
  func bytesBeforeCut(_ bytes: [UInt8], _ direction: DelayProxy.Direction, of relay: ProxyRelay) -> Int? {
    if bytes.isEmpty { return nil }
    return state.withLock { state in
      switch state.reason {
      case .bytesFromClient(let count) where direction == .toServer:
        let sent = state.sent[ObjectIdentifier(relay), default: 0]
        state.sent[ObjectIdentifier(relay)] = sent + bytes.count
        guard sent + bytes.count >= count else { return nil }
        state.reason = nil
        return count - sent
      case .bytes(let isReason, let moment):
        guard isReason(bytes[...], direction) else { return nil }
        state.reason = nil
        return moment == .afterForwarding ? bytes.count : 0
      default: return nil
      }
    }
  }
}

/// Accepts connections, on a thread of its own.
private final class ProxyEntrance: @unchecked Sendable {
  let rules = ProxyRules()
  private let port: UInt16
  private let server: UInt16
  private let waker: (own: Int32, thread: Int32)
  /// Protects what follows.
  private let condition = NSCondition()
  private var made: [ProxyRelay] = []
  private var isListening = true

  init(_ listener: Int32, port: UInt16, server: UInt16) throws {
    (self.port, self.server) = (port, server)
    waker = try LocalSocket.pair()
    Thread.detachNewThread { self.accept(listener) }
  }

  deinit {
    close(waker.own)
    close(waker.thread)
  }

  var relays: [ProxyRelay] { condition.withLock { made } }

  var isOpen: Bool { condition.withLock { isListening } }

  func open() {
    condition.withLock {
      guard !isListening, let listener = try? LocalSocket.listening(on: port) else { return }
      isListening = true
      Thread.detachNewThread { self.accept(listener) }
    }
  }

  /// Returns when nobody listens any more.
  func shut() {
    condition.withLock {
      guard isListening else { return }
      LocalSocket.write([0], to: waker.own)
      while isListening { condition.wait() }
      _ = LocalSocket.read(waker.thread, atMost: 1)
    }
  }

  private func accept(_ listener: Int32) {
    while let client = LocalSocket.accepted(by: listener, unless: waker.thread) {
      guard let other = try? LocalSocket.connected(to: server) else {
        LocalSocket.breakAtClose(client)
        close(client)
        continue
      }
      let relay = ProxyRelay(client: client, server: other, rules: rules)
      condition.withLock { made.append(relay) }
      relay.start()
    }
    close(listener)
    condition.withLock {
      isListening = false
      condition.broadcast()
    }
  }
}

/// One connection, with a thread that reads and one that writes for each direction.
private final class ProxyRelay: Sendable {
  private struct State {
    var traffic = DelayProxy.Traffic()
    var isClientsTurn = true
    /// How many threads use each socket.
    var users: [Int32: Int]
  }

  private let client: Int32
  private let server: Int32
  private let rules: ProxyRules
  private let toServer = DelayLine()
  private let toClient = DelayLine()
  private let state: Locked<State>

  init(client: Int32, server: Int32, rules: ProxyRules) {
    (self.client, self.server, self.rules) = (client, server, rules)
    state = Locked(State(users: [client: 2, server: 2]))
  }

  var traffic: DelayProxy.Traffic { state.withLock { $0.traffic } }

  func start() {
    for direction in [DelayProxy.Direction.toServer, .toClient] {
      Thread.detachNewThread { self.read(direction) }
      Thread.detachNewThread { self.write(direction) }
    }
  }

  /// Breaks the connection to the client, and ends the one to the server after what has been written.
  func cut() {
    state.withLock { state in
      guard !state.traffic.isCut, state.users[client] != nil else { return }
      state.traffic.isCut = true
      // This ends the wait of the thread that reads, and the client does not notice.
      shutdown(client, Int32(SHUT_RD))
      toServer.close()
      toClient.close()
    }
  }

  private func read(_ direction: DelayProxy.Direction) {
    let (source, line) = direction == .toServer ? (client, toServer) : (server, toClient)
    var isMore = true
    while isMore {
      let bytes = LocalSocket.read(source) ?? []
      let departure = DispatchTime.now().uptimeNanoseconds + UInt64(rules.microseconds) * 1_000
      isMore = !bytes.isEmpty
      if isMore { count(bytes.count, direction) }
      line.append(bytes, departure)
    }
    release(source)
  }

  private func write(_ direction: DelayProxy.Direction) {
    let (target, line) = direction == .toServer ? (server, toServer) : (client, toClient)
    // No bytes are the end.
    while let bytes = line.next(), !bytes.isEmpty {
      let part = rules.bytesBeforeCut(bytes, direction, of: self)
      // The server may answer before this thread goes on.
      if part != nil && direction == .toServer { cut() }
      let isWritten = LocalSocket.write(bytes.prefix(part ?? bytes.count), to: target) {
        part == nil && traffic.isCut
      }
      if part != nil { cut() }
      if !isWritten { break }
    }
    line.close()
    // The end of a cut connection to a client is the reset.
    if direction == .toServer || !traffic.isCut { shutdown(target, Int32(SHUT_WR)) }
    release(target)
  }

  private func count(_ bytes: Int, _ direction: DelayProxy.Direction) {
    state.withLock { state in
      if direction == .toServer {
        state.traffic.bytesFromClient += bytes
        if state.isClientsTurn { state.traffic.roundTrips += 1 }
      } else {
        state.traffic.bytesFromServer += bytes
      }
      state.isClientsTurn = direction == .toClient
    }
  }

  /// The last thread that uses a socket closes it.
  private func release(_ socket: Int32) {
    state.withLock { state in
      state.users[socket, default: 1] -= 1
      guard state.users[socket] == 0 else { return }
      state.users[socket] = nil
      if socket == client && state.traffic.isCut { LocalSocket.breakAtClose(client) }
      close(socket)
    }
  }
}

/// What is on the way in one direction.
private final class DelayLine: @unchecked Sendable {
  /// How many bytes may be on the way. A sender that is ahead by more has to wait.
  private static let room = 64 << 20
  /// What is left of a wait when the thread stops sleeping, since it would sleep longer than it wants.
  private static let lastNanoseconds: UInt64 = 60_000

  /// Protects what follows.
  private let condition = NSCondition()
  private var chunks: [(bytes: [UInt8], departure: UInt64)] = []
  /// The number of the first chunk that is still there.
  private var first = 0
  private var size = 0
  private var isClosed = false

  /// Forgets what is on the way and what comes.
  func close() {
    condition.withLock {
      isClosed = true
      chunks = []
      condition.broadcast()
    }
  }

  func append(_ bytes: [UInt8], _ departure: UInt64) {
    condition.withLock {
      while size > Self.room && !isClosed { condition.wait() }
      guard !isClosed else { return }
      chunks.append((bytes, departure))
      size += bytes.count
      condition.broadcast()
    }
  }

  /// The next bytes when it is their time to leave; nil if the line is closed.
  func next() -> [UInt8]? {
    condition.lock()
    defer { condition.unlock() }
    while !isClosed {
      guard first < chunks.count else {
        condition.wait()
        continue
      }
      let (bytes, departure) = chunks[first]
      let now = DispatchTime.now().uptimeNanoseconds
      if now >= departure {
        removeFirst()
        return bytes
      }
      if departure - now > Self.lastNanoseconds {
        _ = condition.wait(until: Date(timeIntervalSinceNow: Double(departure - now - Self.lastNanoseconds) / 1e9))
      } else {
        condition.unlock()
        while DispatchTime.now().uptimeNanoseconds < departure {}
        condition.lock()
      }
    }
    return nil
  }

  private func removeFirst() {
    if size > Self.room { condition.broadcast() }
    size -= chunks[first].bytes.count
    chunks[first].bytes = []
    first += 1
    if first == chunks.count || first == 1_000 {
      chunks.removeFirst(first)
      first = 0
    }
  }
}
