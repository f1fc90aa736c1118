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

  /// A socket that listens on the loopback address, and its port.
  ///
  /// - Parameter port: the port; 0 for any free one.
  static func listening(on port: UInt16) throws -> (socket: Int32, port: UInt16) {
    let descriptor = try new()
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = loopback(port)
    let result = withAddress(&address) { pointer, length in
      var length = length
      return bind(descriptor, pointer, length) == 0 && listen(descriptor, 128) == 0
        && getsockname(descriptor, pointer, &length) == 0
    }
    guard result else {
      let failure = SystemCallFailure("listening on port \(port)")
      close(descriptor)
      throw failure
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
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

  /// The next connection to a listening socket; nil once it is shut down.
  static func accepted(by listener: Int32) -> Int32? {
    while true {
      let descriptor = accept(listener, nil, nil)
      if descriptor >= 0 {
        keep(descriptor)
        sendAtOnce(descriptor)
        return descriptor
      }
      if errno != EINTR && errno != ECONNABORTED { return nil }
    }
  }

  /// Reads what has arrived, and waits until something has; empty at the end, also that of a broken connection.
  static func read(_ descriptor: Int32, atMost count: Int = 65_536) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var result = -1
      repeat { result = recv(descriptor, buffer.baseAddress, count, 0) } while result < 0 && errno == EINTR
      initialized = max(0, result)
    }
  }

  /// Whether all bytes were written.
  @discardableResult static func write(_ bytes: some Sequence<UInt8>, to descriptor: Int32) -> Bool {
    var rest = Array(bytes)[...]
    #if os(Linux)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
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
