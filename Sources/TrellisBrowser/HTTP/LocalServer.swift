import Foundation
import Synchronization
import TrellisModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

/// The reason why a server cannot listen.
package struct ServerError: Error, CustomStringConvertible {
  package let description: String
}

#if !os(Windows)

  /// A server for this machine: it listens on the loopback address only, and each connection has one request.
  ///
  /// One thread collects the requests of all connections, so that a connection which sends nothing takes no thread, and
  /// keeps no other one waiting. A request that is complete is answered by one of a few threads.
  final class LocalServer: Sendable {
    /// The greatest number of connections whose requests are not complete. A further one takes the place of the oldest.
    static let mostConnections = 128
    /// The greatest number of requests that are answered at a time. Further ones wait.
    static let mostAnswers = 16
    /// The greatest number of requests that wait to be answered. Until there are fewer, no connection is accepted.
    static let mostWaiting = 128
    /// The number of seconds in which a request has to be complete.
    static let patience = Duration.seconds(15)
    /// The number of seconds in which a response has to be received.
    static let patienceForReading = Duration.seconds(300)

    /// The port that the server listens on.
    let port: UInt16
    private let descriptor: Int32
    private let refuse: @Sendable (HTTPRequest) -> HTTPResponse?
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse
    private let work = Locked(Work())
    private let isStopped = Atomic(false)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any free one.
    ///   - refuse: the response to a request whose body is not even read; nil if it is.
    ///   - answer: answers a request, on any thread.
    /// - Throws: ``ServerError`` if the port is taken.
    init(
      port: UInt16, refuse: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
      answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(ServerError) {
      // A peer that has gone away must not end the process.
      signal(SIGPIPE, SIG_IGN)
      #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
      #else
        let kind = SOCK_STREAM
      #endif
      descriptor = socket(AF_INET, kind, 0)
      guard descriptor >= 0 else { throw ServerError(description: "No socket can be made: \(Self.reason).") }
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = self.descriptor
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
            && getsockname(descriptor, pointer, &length) == 0
        }
      }
      guard isBound else {
        let reason = Self.reason
        close(descriptor)
        throw ServerError(description: "The port \(port) cannot be listened on: \(reason).")
      }
      // A connection that is gone by the time it is accepted must not keep the others waiting.
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      self.port = UInt16(bigEndian: address.sin_port)
      self.refuse = refuse
      self.answer = answer
    }

    deinit { close(descriptor) }

    private static var reason: String { String(cString: strerror(errno)) }

    /// Answers requests until ``stop()``.
    func run() {
      var peers: [Peer] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      defer { for peer in peers { close(peer.connection) } }
      while !isStopped.load(ordering: .relaxed) {
        let accepts = work.withLock { $0.waiting.count < Self.mostWaiting }
        var polled = peers.map { pollfd(fd: $0.connection, events: Int16(POLLIN), revents: 0) }
        if accepts { polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
        let count = poll(&polled, nfds_t(polled.count), 250)
        if isStopped.load(ordering: .relaxed) { return }
        guard count >= 0 || errno == EINTR else { return }
        let now = ContinuousClock.now
        var open: [Peer] = []
        for (place, peer) in peers.enumerated() {
          var peer = peer
          let isReady = count > 0 && polled[place].revents != 0
          if isReady ? read(&peer, &buffer, now) : wait(for: &peer, now) { open.append(peer) }
        }
        peers = open
        if count > 0, accepts, polled[polled.count - 1].revents != 0 { accept(&peers, now) }
      }
    }

    /// Ends ``run()``.
    func stop() {
      isStopped.store(true, ordering: .relaxed)
      shutdown(descriptor, Int32(SHUT_RDWR))
    }

    // MARK: Requests

    /// A connection whose request is not complete, or that was refused and may still send something.
    private struct Peer {
      let connection: Int32
      var parser = HTTPRequestParser()
      var end: ContinuousClock.Instant
      var isRefused = false
      var isHeadKnown = false
    }

    private func accept(_ peers: inout [Peer], _ now: ContinuousClock.Instant) {
      while true {
        let connection = systemAccept(descriptor)
        guard connection >= 0 else {
          // A peer in the place of the oldest one is better than none.
          if (errno == EMFILE || errno == ENFILE), !peers.isEmpty { close(peers.removeFirst().connection) }
          return
        }
        if peers.count >= Self.mostConnections { close(peers.removeFirst().connection) }
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        peers.append(Peer(connection: connection, end: now + Self.patience))
      }
    }

    /// Reads what a peer has sent.
    ///
    /// - Returns: whether more has to be read.
    private func read(_ peer: inout Peer, _ buffer: inout [UInt8], _ now: ContinuousClock.Instant) -> Bool {
      let count = recv(peer.connection, &buffer, buffer.count, 0)
      if count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) { return wait(for: &peer, now) }
      guard count > 0 else {
        close(peer.connection)
        return false
      }
      // What a refused peer still sends is read: closing at once would reset the connection before the answer arrives.
      if peer.isRefused { return wait(for: &peer, now) }
      do throws(RefusedRequest) {
        let request = try peer.parser.add(buffer.prefix(count))
        if !peer.isHeadKnown, let head = peer.parser.headOfRequest {
          peer.isHeadKnown = true
          if let response = refuse(head) {
            refuse(&peer, response.bytes(withBody: head.method != .head), now)
            return true
          }
        }
        guard let request else { return wait(for: &peer, now) }
        begin(request, peer.connection)
        return false
      } catch {
        refuse(&peer, error, now)
        return true
      }
    }

    /// - Returns: whether the peer may still send something.
    private func wait(for peer: inout Peer, _ now: ContinuousClock.Instant) -> Bool {
      if now < peer.end { return true }
      if !peer.isRefused && !peer.parser.isEmpty {
        refuse(&peer, RefusedRequest(.requestTimeout, "The request takes too long."), now)
        return true
      }
      close(peer.connection)
      return false
    }

    private func refuse(_ peer: inout Peer, _ refusal: RefusedRequest, _ now: ContinuousClock.Instant) {
      refuse(&peer, HTTPResponse(HTML.refusal(refusal.message), refusal.status).bytes(withBody: true), now)
    }

    /// The response is short, so it has room in the connection's buffer.
    private func refuse(_ peer: inout Peer, _ response: [UInt8], _ now: ContinuousClock.Instant) {
      _ = response.withUnsafeBytes { systemSend(peer.connection, $0) }
      shutdown(peer.connection, Int32(SHUT_WR))
      peer.parser = HTTPRequestParser()
      peer.isRefused = true
      peer.end = now + .seconds(2)
    }

    // MARK: Responses

    /// The requests that are complete.
    private struct Work {
      var waiting: [(request: HTTPRequest, connection: Int32)] = []
      var threads = 0
    }

    private func begin(_ request: HTTPRequest, _ connection: Int32) {
      let hasPlace = work.withLock { work in
        guard work.threads < Self.mostAnswers else {
          work.waiting.append((request, connection))
          return false
        }
        work.threads += 1
        return true
      }
      guard hasPlace else { return }
      let thread = Thread { [self] in
        var next: (request: HTTPRequest, connection: Int32)? = (request, connection)
        while let (request, connection) = next {
          send(answer(request).bytes(withBody: request.method != .head), connection)
          close(connection)
          next = work.withLock { work in
            if !work.waiting.isEmpty { return work.waiting.removeFirst() }
            work.threads -= 1
            return nil
          }
        }
      }
      thread.stackSize = 4 << 20
      thread.start()
    }

    private func send(_ bytes: [UInt8], _ connection: Int32) {
      let end = ContinuousClock.now + Self.patienceForReading
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemSend(connection, $0) }
        if count > 0 {
          rest = rest.dropFirst(count)
          continue
        }
        guard count < 0, errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK, .now < end else { return }
        var polled = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
        // A peer that reads nothing for so long is gone.
        guard poll(&polled, 1, 15_000) != 0 else { return }
      }
    }
  }

  private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

  private func systemSend(_ connection: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    return send(connection, start, bytes.count, flags)
  }

#endif
