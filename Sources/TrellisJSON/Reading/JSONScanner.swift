/// Scans strict JSON (RFC 8259) without building a tree: the caller states the value that must come next.
///
/// The bytes are valid UTF-8. Model files have another reader: it continues after a mistake to report all of them, and
/// keeps a tree for its checks. A document of many megabytes is read once instead, directly into rows, up to the first
/// mistake.
struct JSONScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  var offset = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// The length of a byte order mark, which some editors write at the start.
  static func markLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// Whether a text is one JSON value that is not nested too deeply for a document.
  static func isValue(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      scanner.skipSpace()
      // Two levels are reserved for the list and the objects around the value, and some for later formats.
      guard (try? scanner.skipValue(depth: 8)) != nil else { return false }
      scanner.skipSpace()
      return scanner.offset == bytes.count
    }
  }

  // MARK: Bytes

  @inline(__always) var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  @inline(__always) mutating func skipSpace() {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset += 1
    }
  }

  /// Skips these bytes if they come next.
  @inline(__always) mutating func take(_ expected: [UInt8]) -> Bool {
    guard bytes.count - offset >= expected.count else { return false }
    for place in expected.indices where bytes[offset + place] != expected[place] { return false }
    offset += expected.count
    return true
  }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  mutating func expect(_ character: Unicode.Scalar, _ place: String) throws(DocumentFault) {
    guard take(UInt8(ascii: character)) else { throw expected("'\(character)' \(place)") }
  }

  /// The fault that something else is expected here.
  func expected(_ what: String, at place: Int? = nil) -> DocumentFault {
    let place = place ?? offset
    let end = place >= bytes.count ? ", but the file ends" : ""
    return DocumentFault("here \(what) should be\(end)", at: place)
  }

  // MARK: Lists and objects

  /// Enters a list or object. Returns false and skips it if it is empty.
  mutating func open(_ opener: Unicode.Scalar, _ closer: Unicode.Scalar, _ what: String) throws(DocumentFault) -> Bool {
    guard take(UInt8(ascii: opener)) else { throw expected(what) }
    skipSpace()
    return !take(UInt8(ascii: closer))
  }

  /// Moves to the next element. Returns false after the end.
  @inline(__always) mutating func goOn(_ closer: Unicode.Scalar) throws(DocumentFault) -> Bool {
    skipSpace()
    if take(UInt8(ascii: ",")) {
      skipSpace()
      if next == UInt8(ascii: closer) { throw DocumentFault("the ',' before '\(closer)' must go", at: offset) }
      return true
    }
    if take(UInt8(ascii: closer)) { return false }
    throw expected("a ',' or '\(closer)'")
  }

  /// Reads a key and the colon after it.
  mutating func key() throws(DocumentFault) -> String {
    guard next == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    let key = try string()
    skipSpace()
    try expect(":", "after the key")
    skipSpace()
    return key
  }

  // MARK: Skipping

  /// Skips a value of any kind and checks that it is JSON. The depth of the value uses no stack.
  mutating func skipValue(depth start: Int = 0) throws(DocumentFault) {
    var closers: [UInt8] = []
    while true {
      let isOpened = try skipStart(&closers, start)
      if isOpened { continue }
      while true {
        guard let closer = closers.last else { return }
        if try goOn(Unicode.Scalar(closer)) { break }
        closers.removeLast()
      }
      if closers.last == UInt8(ascii: "}") { try skipKey() }
    }
  }

  /// Skips a scalar value, or enters a list or object that is not empty. Returns whether a list or object was entered.
  private mutating func skipStart(_ closers: inout [UInt8], _ start: Int) throws(DocumentFault) -> Bool {
    guard next == UInt8(ascii: "{") || next == UInt8(ascii: "[") else {
      try skipScalar()
      return false
    }
    let isObject = next == UInt8(ascii: "{")
    guard start + closers.count < DocumentFormat.maximumDepth else {
      throw DocumentFault(
        "objects and lists lie in each other more than \(DocumentFormat.maximumDepth) levels deep", at: offset, .limit)
    }
    guard try open(isObject ? "{" : "[", isObject ? "}" : "]", "a value") else { return false }
    closers.append(UInt8(ascii: isObject ? "}" : "]"))
    if isObject { try skipKey() }
    return true
  }

  private mutating func skipKey() throws(DocumentFault) {
    guard next == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    _ = try stringSpan()
    skipSpace()
    try expect(":", "after the key")
    skipSpace()
  }

  private mutating func skipScalar() throws(DocumentFault) {
    switch next {
    case UInt8(ascii: "\""): _ = try stringSpan()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case .some(let byte) where byte.isDigit || byte == UInt8(ascii: "-"): _ = try number()
    default: throw expected("a value")
    }
  }

  func isAtNull() -> Bool { next == UInt8(ascii: "n") }

  mutating func word(_ word: StaticString) throws(DocumentFault) {
    let start = offset
    for place in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[place] else { throw expected("\(word)", at: start) }
      offset += 1
    }
  }
}

extension UInt8 {
  @inline(__always) var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
