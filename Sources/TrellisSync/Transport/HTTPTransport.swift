public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A server that is reached by HTTP: each message is the body of a `POST`, and the answer the body of the response.
///
/// ```swift
/// let transport = HTTPTransport(URL(string: "https://diary.example/sync")!) { request in
///   request.setValue("Bearer \(try await account.token())", forHTTPHeaderField: "Authorization")
/// }
/// try await replica.exchange(with: transport)
/// ```
/// A message is sent again after a pause if there is no answer, or one with a status that says that there may be one
/// later: 408, 425, 429, and those from 500 on but 501 and 505. A server asks for a longer pause by `Retry-After`. The
/// protocol allows each message to come twice. Other statuses throw at once. The transport can be used from any thread; a
/// call ends when its task is cancelled.
public struct HTTPTransport: SyncTransport {
  private let url: URL
  private let session: URLSession
  private let timeout: Duration
  private let attempts: Int
  private let prepare: @Sendable (inout URLRequest) async throws -> Void
  var backoff = Backoff(first: .milliseconds(500), longest: .seconds(30))
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// Creates a transport to an address.
  ///
  /// - Parameters:
  ///   - url: The address that the server answers messages at.
  ///   - session: What sends the requests. It decides about proxies, certificates and whether to wait for a network.
  ///   - timeout: The longest time without any byte from the server, for each attempt; more than 0.
  ///   - attempts: How often a message is sent at most before the call throws; at least 1.
  ///   - prepare: Changes each request before it is sent, such as by a header that says who asks. Its errors are thrown.
  public init(
    _ url: URL, session: URLSession = .shared, timeout: Duration = .seconds(60), attempts: Int = 4,
    prepare: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
  ) {
    self.url = url
    self.session = session
    self.timeout = timeout
    self.attempts = max(1, attempts)
    self.prepare = prepare
  }

  /// Sends a message, and waits for the answer.
  ///
  /// - Throws: ``SyncError`` with the code `unreachable` if there was no answer at any attempt, `notServed` if the address
  ///   does not answer such messages; `CancellationError`; errors of the closure that prepares requests.
  public func answer(to message: [UInt8]) async throws -> [UInt8] {
    var failures = 0
    while true {
      try Task.checkCancellation()
      let failure: Failure
      do throws(Failure) {
        return try await attempt(message)
      } catch {
        failure = error
      }
      switch failure {
      case .final(let error): throw error
      case .passing(let error, let wish):
        failures += 1
        guard failures < attempts else { throw error }
        try await sleep(max(backoff.pause(after: failures), min(wish ?? .zero, backoff.longest)))
      }
    }
  }

  private enum Failure: Error {
    case final(any Error)
    /// - Parameter wish: how long the server wants the next attempt to wait.
    case passing(SyncError, after: Duration?)
  }

  private func attempt(_ message: [UInt8]) async throws(Failure) -> [UInt8] {
    var request = URLRequest(
      url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: max(0.001, timeout / .seconds(1)))
    request.httpMethod = "POST"
    request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
    request.setValue("application/octet-stream", forHTTPHeaderField: "Accept")
    do { try await prepare(&request) } catch { throw .final(error) }
    request.httpBody = Data(message)
    let (body, response): (Data, URLResponse)
    do {
      (body, response) = try await session.data(for: request)
    } catch {
      if Task.isCancelled { throw .final(CancellationError()) }
      throw Self.failure(error)
    }
    guard let response = response as? HTTPURLResponse else {
      throw .final(SyncError.notServed("it is no web server"))
    }
    try Self.check(response)
    return [UInt8](body)
  }

  private static func failure(_ error: any Error) -> Failure {
    guard let error = error as? URLError else { return .passing(.unreachable("\(error)"), after: nil) }
    // The description of the error has the address, which may be a secret.
    let reason = "URLError \(error.code.rawValue)"
    let isFinal: [URLError.Code] = [
      .badURL, .unsupportedURL, .httpTooManyRedirects, .redirectToNonExistentLocation, .secureConnectionFailed,
      .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
      .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
      .userAuthenticationRequired, .appTransportSecurityRequiresSecureConnection,
    ]
    if isFinal.contains(error.code) { return .final(SyncError.notServed(reason)) }
    return .passing(.unreachable(reason), after: nil)
  }

  private static func check(_ response: HTTPURLResponse) throws(Failure) {
    switch response.statusCode {
    case 200...299:
      // Networks of hotels and trains answer any request by a page of their own.
      if response.mimeType == "text/html" { throw .passing(.unreachable("a web page came instead"), after: nil) }
    case 408, 425, 429, 500, 502, 503, 504, 506...599:
      let wish = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
      throw .passing(
        .unreachable("the status is \(response.statusCode)"), after: wish.map { .seconds(min(max(0, $0), 86_400)) })
    default: throw .final(SyncError.notServed("the status is \(response.statusCode)"))
    }
  }
}
