import Foundation

/// A request, as far as a page of forms and links needs it.
struct HTTPRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
  }

  let method: Method
  /// The parts of the path between slashes, decoded.
  let path: [String]
  /// The fields of the query, in their order.
  let query: FormFields
  /// The fields of headers, by name in lowercase.
  let headers: [String: String]
  var body: [UInt8] = []

  /// The fields of a posted form.
  var form: FormFields { FormFields(String(decoding: body, as: UTF8.self)) }
}

/// The reason why a request is refused before any page sees it.
struct RefusedRequest: Error, Hashable {
  let status: HTTPStatus
  let message: String

  init(_ status: HTTPStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}

// MARK: - Parsing

/// Collects the bytes of a connection until they are a whole request.
///
/// The bytes may come from any program on the machine, so every length is bounded.
struct HTTPRequestParser {
  static let mostHeadBytes = 16_384
  static let mostHeaders = 100
  static let mostBodyBytes = 8 << 20

  private var bytes: [UInt8] = []
  private var head: (request: HTTPRequest, bodyStart: Int, bodyCount: Int)?

  var isEmpty: Bool { bytes.isEmpty }
  /// The request without its body; nil as long as its head is not complete.
  var headOfRequest: HTTPRequest? { head?.request }

  /// Adds bytes of the connection.
  ///
  /// - Returns: the request; nil as long as it is not complete.
  /// - Throws: ``RefusedRequest``.
  mutating func add(_ more: some Sequence<UInt8>) throws(RefusedRequest) -> HTTPRequest? {
    bytes += more
    if head == nil { head = try findHead() }
    guard let (request, start, count) = head else { return nil }
    guard bytes.count - start >= count else { return nil }
    var complete = request
    complete.body = Array(bytes[start..<(start + count)])
    return complete
  }

  private func findHead() throws(RefusedRequest) -> (HTTPRequest, Int, Int)? {
    let end = Array("\r\n\r\n".utf8)
    let window = bytes.prefix(Self.mostHeadBytes + end.count)
    guard let start = window.firstRange(of: end) else {
      if bytes.count > Self.mostHeadBytes {
        throw RefusedRequest(.headersTooLarge, "The head of the request is too long.")
      }
      return nil
    }
    guard let text = String(validating: bytes[..<start.lowerBound], as: UTF8.self) else {
      throw RefusedRequest(.badRequest, "The head of the request is not UTF-8.")
    }
    var lines = text.components(separatedBy: "\r\n")[...]
    let line = lines.removeFirst()
    let headers = try Self.headers(lines)
    let request = try Self.request(line, headers)
    return (request, start.upperBound, try Self.bodyLength(request, headers))
  }

  private static func headers(_ lines: ArraySlice<String>) throws(RefusedRequest) -> [String: String] {
    guard lines.count <= mostHeaders else {
      throw RefusedRequest(.headersTooLarge, "The request has too many headers.")
    }
    var headers: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else { throw RefusedRequest(.badRequest, "A header has no name.") }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
      // Two hosts or lengths would be read in two ways.
      guard headers.updateValue(value, forKey: name) == nil || !["host", "content-length"].contains(name) else {
        throw RefusedRequest(.badRequest, "The header \(name) is given twice.")
      }
    }
    return headers
  }

  private static func request(_ line: String, _ headers: [String: String]) throws(RefusedRequest) -> HTTPRequest {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(String(parts[2])) else {
      throw RefusedRequest(.badRequest, "The request is no request of HTTP 1.1.")
    }
    guard let method = HTTPRequest.Method(rawValue: String(parts[0])) else {
      throw RefusedRequest(.methodNotAllowed, "The method is not known here.")
    }
    guard parts[1].hasPrefix("/") else { throw RefusedRequest(.badRequest, "The target of the request is no path.") }
    let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path: [String] = []
    for part in target[0].split(separator: "/", omittingEmptySubsequences: true) {
      guard let decoded = FormFields.decoded(part, plusIsSpace: false) else {
        throw RefusedRequest(.badRequest, "The path of the request is not encoded as it should be.")
      }
      path.append(decoded)
    }
    return HTTPRequest(
      method: method, path: path, query: FormFields(target.count > 1 ? String(target[1]) : ""), headers: headers)
  }

  private static func bodyLength(
    _ request: HTTPRequest, _ headers: [String: String]
  ) throws(RefusedRequest) -> Int {
    guard headers["transfer-encoding"] == nil else {
      throw RefusedRequest(.lengthRequired, "A body needs a length.")
    }
    guard let text = headers["content-length"] else {
      if request.method == .post { throw RefusedRequest(.lengthRequired, "A body needs a length.") }
      return 0
    }
    guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int(text) else {
      throw RefusedRequest(.badRequest, "The length of the body is no number.")
    }
    guard length <= mostBodyBytes else { throw RefusedRequest(.contentTooLarge, "The body is too large.") }
    return length
  }
}

// MARK: - Form fields

/// The fields of a query or of a form, in their order.
struct FormFields: Sendable {
  private let fields: [(name: String, value: String)]

  /// Reads `application/x-www-form-urlencoded` text. Fields that are not encoded as they should be are left out.
  init(_ text: String) {
    fields = text.split(separator: "&").prefix(10_000).compactMap { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
        return nil
      }
      return (name, value)
    }
  }

  /// The first value of a field; nil if there is none.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// All values of a field.
  func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// The text with its percent signs replaced; nil if it is not encoded as it should be, or is no UTF-8.
  static func decoded(_ text: Substring, plusIsSpace: Bool = true) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The text as a part of a path or a query.
  static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return encoded
  }
}
