/// The status of a response.
enum HTTPStatus: Int, Sendable {
  case ok = 200
  case seeOther = 303
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case conflict = 409
  case lengthRequired = 411
  case contentTooLarge = 413
  case misdirected = 421
  case unprocessable = 422
  case headersTooLarge = 431
  case serverError = 500
  case unavailable = 503

  var reason: String {
    switch self {
    case .ok: "OK"
    case .seeOther: "See Other"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .conflict: "Conflict"
    case .lengthRequired: "Length Required"
    case .contentTooLarge: "Content Too Large"
    case .misdirected: "Misdirected Request"
    case .unprocessable: "Unprocessable Content"
    case .headersTooLarge: "Request Header Fields Too Large"
    case .serverError: "Internal Server Error"
    case .unavailable: "Service Unavailable"
    }
  }
}

/// A response with its body.
struct HTTPResponse: Sendable {
  var status = HTTPStatus.ok
  var contentType = "text/html; charset=utf-8"
  var body: [UInt8] = []
  /// The address to go on with, for ``HTTPStatus/seeOther``.
  var location: String?
  /// The name under which a browser saves the body instead of showing it; nil if it shows it.
  var fileName: String?
  /// Whether the body is a picture of the model, which has its style within.
  var hasOwnStyle = false

  init(_ page: HTML, _ status: HTTPStatus = .ok) {
    self.status = status
    body = Array(page.text.utf8)
  }

  init(_ text: String, _ contentType: String) {
    self.contentType = contentType
    body = Array(text.utf8)
  }

  init(data: [UInt8], _ contentType: String) {
    self.contentType = contentType
    body = data
  }

  init(goOnAt location: String) {
    status = .seeOther
    self.location = location
  }

  /// The bytes of the response.
  ///
  /// No script runs in a page, nothing is loaded from elsewhere, no other page may show it in a frame, and the address
  /// with its token goes to no other server.
  func bytes(withBody: Bool) -> [UInt8] {
    var lines = [
      "HTTP/1.1 \(status.rawValue) \(status.reason)",
      "Content-Type: \(contentType)",
      "Content-Length: \(body.count)",
      "Connection: close",
      "Cache-Control: no-store",
      "Content-Security-Policy: default-src 'none'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        + "frame-ancestors 'none'; style-src \(hasOwnStyle ? "'unsafe-inline'" : "'self'")",
      "Cross-Origin-Opener-Policy: same-origin",
      "Cross-Origin-Resource-Policy: same-origin",
      // With `no-referrer`, a browser would hide from a form of this site where it comes from.
      "Referrer-Policy: same-origin",
      "X-Content-Type-Options: nosniff",
    ]
    if let location { lines.append("Location: \(location)") }
    if let fileName { lines.append("Content-Disposition: attachment; filename=\"\(fileName)\"") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (withBody ? body : [])
  }
}
