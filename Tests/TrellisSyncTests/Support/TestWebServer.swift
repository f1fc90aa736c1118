#if !os(Windows)
  import Foundation
  import TrellisModel

  @testable import TrellisTestSupport

  /// A web server of this process, on the loopback address. Each connection has one request, and a thread of its own.
  final class TestWebServer: Sendable {
    struct Request: Sendable {
      var line = ""
      /// The fields of headers, by name in lowercase.
      var headers: [String: String] = [:]
      var body: [UInt8] = []
    }

    enum Response: Sendable {
      case answer(Int, headers: [String: String] = [:], body: [UInt8] = [])
      /// The connection ends without an answer.
      case hangUp
      /// Nothing comes until the server is released.
      case silence

      static func bytes(_ body: [UInt8]) -> Response {
        .answer(200, headers: ["Content-Type": "application/octet-stream"], body: body)
      }
    }

    let port: UInt16
    private let listener: Int32
    private let wakers: (mine: Int32, thread: Int32)

    init(_ answer: @escaping @Sendable (Request) -> Response) throws {
      (listener, port) = try LocalSocket.listening()
      wakers = try LocalSocket.pair()
      let (listener, waker, silent) = (listener, wakers.thread, SilentConnections())
      self.connections = silent
      Thread {
        while let connection = LocalSocket.accepted(by: listener, unless: waker) {
          Thread { Self.serve(connection, silent, answer) }.start()
        }
        close(listener)
        close(waker)
      }.start()
    }

    private let connections: SilentConnections

    private final class SilentConnections: Sendable {
      private let descriptors = Locked<[Int32]>([])
      func add(_ descriptor: Int32) { descriptors.withLock { $0.append(descriptor) } }
      deinit { for descriptor in descriptors.withLock({ $0 }) { close(descriptor) } }
    }

    deinit { close(wakers.mine) }

    var url: URL { URL(string: "http://127.0.0.1:\(port)/sync") ?? URL(filePath: "/") }

    private static func serve(
      _ connection: Int32, _ silent: SilentConnections, _ answer: @Sendable (Request) -> Response
    ) {
      var bytes: [UInt8] = []
      var request: Request?
      while request == nil, let more = LocalSocket.read(connection), !more.isEmpty {
        bytes += more
        request = Self.request(bytes)
      }
      guard let request else {
        close(connection)
        return
      }
      switch answer(request) {
      case .silence: silent.add(connection)
      case .hangUp: close(connection)
      case .answer(let status, let headers, let body):
        let fields = headers.map { "\($0): \($1)\r\n" }.joined()
        let head = "HTTP/1.1 \(status) X\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\(fields)\r\n"
        LocalSocket.write(Array(head.utf8) + body, to: connection)
        close(connection)
      }
    }

    /// - Returns: nil as long as the request is not complete.
    private static func request(_ bytes: [UInt8]) -> Request? {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
      var request = Request(line: lines.removeFirst())
      for line in lines {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { continue }
        request.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
      }
      let count = request.headers["content-length"].flatMap { Int($0) } ?? 0
      request.body = Array(bytes[end.upperBound...].prefix(count))
      return request.body.count == count ? request : nil
    }
  }
#endif
