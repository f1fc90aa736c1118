/// What carries the messages of a replica to a server, and the answers back.
///
/// Messages may get lost, come twice, late and in another order: a replica and a server see that by themselves.
public protocol SyncTransport: Sendable {
  /// Sends a message, and waits for the answer.
  ///
  /// - Parameter message: The bytes, for ``SyncServer/answer(to:from:)``.
  /// - Returns: the bytes of the answer.
  /// - Throws: any error if there is no answer. The replica sends the same message at the next exchange.
  func answer(to message: [UInt8]) async throws -> [UInt8]

  /// The number of bytes from which on large data is sent in several messages. A message has twice as many at most, unless
  /// a single object has. The default is a megabyte (1,048,576); a transport whose messages take long has more.
  var messageSize: Int { get }
}

extension SyncTransport {
  public var messageSize: Int { 1 << 20 }
}

/// A server in the same process.
public struct LocalTransport: SyncTransport {
  private let server: SyncServer
  private let user: String?

  /// Creates the transport to a server.
  ///
  /// - Parameter user: The user from whom the messages come; nil if there are no users.
  public init(to server: SyncServer, from user: String? = nil) { (self.server, self.user) = (server, user) }

  /// Passes the message on.
  public func answer(to message: [UInt8]) async throws -> [UInt8] { server.answer(to: message, from: user) }
}
