import Foundation
import Synchronization

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

  /// A server for this machine: it listens on the loopback address only. Each connection has one request, and a thread of
  /// its own.
  final class LocalServer: Sendable {
    /// The greatest number of connections at a time. Further ones wait.
    static let mostConnections = 32
    /// The number of seconds in which a request has to be complete.
    static let patience: TimeInterval = 15

    /// The port that the server listens on.
    let port: UInt16
    private let descriptor: Int32
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse
    private let places = DispatchSemaphore(value: LocalServer.mostConnections)
    private let isStopped = Atomic(false)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any free one.
    ///   - answer: answers a request, on any thread.
    /// - Throws: ``ServerError`` if the port is taken.
    init(port: UInt16, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws(ServerError) {
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
      self.port = UInt16(bigEndian: address.sin_port)
      self.answer = answer
    }

    deinit { close(descriptor) }

    private static var reason: String { String(cString: strerror(errno)) }

    /// Answers requests until ``stop()``.
    func run() {
      while !isStopped.load(ordering: .relaxed) {
        places.wait()
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          places.signal()
          if errno == EINTR || errno == ECONNABORTED || errno == EMFILE || errno == EAGAIN { continue }
          return
        }
        let thread = Thread { [self] in
          serve(connection)
          close(connection)
          places.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
      }
    }

    /// Ends ``run()``.
    func stop() {
      isStopped.store(true, ordering: .relaxed)
      shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func serve(_ connection: Int32) {
      var limit = timeval(tv_sec: Int(Self.patience), tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
      setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
      do throws(RefusedRequest) {
        guard let request = try receive(connection) else { return }
        send(answer(request).bytes(withBody: request.method != .head), connection)
      } catch {
        send(HTTPResponse(HTML.refusal(error.message), error.status).bytes(withBody: true), connection)
        drain(connection)
      }
    }

    /// The request of a connection; nil if the peer sends none.
    private func receive(_ connection: Int32) throws(RefusedRequest) -> HTTPRequest? {
      let end = Date().addingTimeInterval(Self.patience)
      var parser = HTTPRequestParser()
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = recv(connection, &buffer, buffer.count, 0)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return nil }
        if let request = try parser.add(buffer.prefix(count)) { return request }
        if Date() > end { throw RefusedRequest(.requestTimeout, "The request takes too long.") }
      }
    }

    private func send(_ bytes: [UInt8], _ connection: Int32) {
      var rest = bytes[...]
      while !rest.isEmpty {
        #if canImport(Darwin)
          let flags: Int32 = 0
        #else
          let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = rest.withUnsafeBytes { systemSend(connection, $0.baseAddress, $0.count, flags) }
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    }

    /// Reads what a refused peer still sends: closing at once would reset the connection before the answer arrives.
    private func drain(_ connection: Int32) {
      shutdown(connection, Int32(SHUT_WR))
      var buffer = [UInt8](repeating: 0, count: 65_536)
      for _ in 0..<64 where recv(connection, &buffer, buffer.count, 0) <= 0 { return }
    }
  }

  private func systemSend(_ connection: Int32, _ start: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(connection, start, count, flags)
  }

#endif
