import Foundation

/// A call of the system that failed.
struct SystemCallFailure: Error, CustomStringConvertible {
  let description: String

  init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// Sockets of this machine. No other program inherits them, and a peer that has gone away is an error and no signal.
enum LocalSocket {
  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif

  /// Two ends of a connection.
  static func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    #if os(Linux)
      // Another thread may start a program between two calls.
      let kind = stream | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let kind = stream
    #endif
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemCallFailure("socketpair") }
    for end in ends { keep(end) }
    return (ends[0], ends[1])
  }

  /// A socket that listens on a port of the loopback address.
  static func listening(on port: UInt16) throws -> Int32 {
    let descriptor = try new()
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = loopback(port)
    guard withAddress(&address, { bind(descriptor, $0, $1) == 0 && listen(descriptor, 128) == 0 }) else {
      let failure = SystemCallFailure("listening on port \(port)")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// A socket that listens on a port that was free. The system gives none of these ports to outgoing connections, so
  /// who closes the socket and listens again finds the port free.
  static func listening() throws -> (socket: Int32, port: UInt16) {
    var tries = 0
    while true {
      let port = UInt16.random(in: 20_000..<32_000)
      do { return (try listening(on: port), port) } catch {
        tries += 1
        if tries == 100 { throw error }
      }
    }
  }

  /// A connection to a port of the loopback address.
  static func connected(to port: UInt16) throws -> Int32 {
    let descriptor = try new()
    var address = loopback(port)
    guard withAddress(&address, { connect(descriptor, $0, $1) == 0 }) else {
      let failure = SystemCallFailure("connecting to port \(port)")
      close(descriptor)
      throw failure
    }
    sendAtOnce(descriptor)
    return descriptor
  }

  /// The next connection to a listening socket. Nil if there is none and another socket has something to read.
  static func accepted(by listener: Int32, unless waker: Int32) -> Int32? {
    while true {
      var polled = [listener, waker].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&polled, 2, -1) >= 0 else { continue }
      if polled[0].revents == 0 { return nil }
      let descriptor = accept(listener, nil, nil)
      if descriptor >= 0 {
        keep(descriptor)
        sendAtOnce(descriptor)
        return descriptor
      }
    }
  }

  /// Reads what has arrived, and waits until something has.
  ///
  /// - Returns: the bytes. None at the end. Nil if the connection is broken.
  static func read(_ descriptor: Int32, atMost count: Int = 65_536) -> [UInt8]? {
    var result = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      repeat { result = recv(descriptor, buffer.baseAddress, count, 0) } while result < 0 && errno == EINTR
      initialized = max(0, result)
    }
    return result < 0 ? nil : bytes
  }

  /// Writes bytes, and waits until there is room for them.
  ///
  /// - Parameter isInVain: asked while there is no room, whether to stop waiting.
  /// - Returns: whether all were written.
  @discardableResult static func write(
    _ bytes: some Sequence<UInt8>, to descriptor: Int32, unless isInVain: () -> Bool = { false }
  ) -> Bool {
    var rest = Array(bytes)[...]
    #if os(Linux)
      let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    #else
      let flags = MSG_DONTWAIT
    #endif
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        if isInVain() { return false }
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&polled, 1, 10)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// Lets the next `close` break the connection: the peer gets a reset instead of an end.
  static func breakAtClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  private static func new() throws -> Int32 {
    #if os(Linux)
      let kind = stream | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let kind = stream
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw SystemCallFailure("socket") }
    keep(descriptor)
    return descriptor
  }

  private static func keep(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  /// Small messages do not wait for others.
  private static func sendAtOnce(_ descriptor: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func withAddress<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}
