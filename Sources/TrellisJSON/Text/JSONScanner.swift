import TrellisModel
import TrellisStorage

/// Scans strict JSON (RFC 8259) without building a tree: the caller states the value that must come next.
///
/// The bytes are valid UTF-8. Model files have another reader: it continues after a mistake to report all of them, and
/// keeps a tree for its checks. A document of many megabytes is read once instead, directly into rows, up to the first
/// mistake.
package struct JSONScanner {
  /// The maximum nesting depth of objects and lists.
  static let maximumDepth = 128

  package let bytes: UnsafeBufferPointer<UInt8>
  package var offset = 0

  package init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// The length of a byte order mark, which some editors write at the start.
  package static func markLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
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

  /// Checks that bytes are UTF-8.
  ///
  /// - Throws: ``DocumentFault`` at the first byte that is not.
  package static func checkEncoding(_ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) {
    if String(validating: bytes, as: UTF8.self) != nil { return }
    var place = 0
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { place += scalar.count }
    throw DocumentFault("the text is not UTF-8 from here on", at: place)
  }

  // MARK: Bytes

  @inline(__always) package var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  @inline(__always) package mutating func skipSpace() {
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
  package func expected(_ what: String, at place: Int? = nil) -> DocumentFault {
    let place = place ?? offset
    let end = place >= bytes.count ? ", but the file ends" : ""
    return DocumentFault("here \(what) should be\(end)", at: place)
  }

  // MARK: Lists and objects

  /// Enters a list or object. Returns false and skips it if it is empty.
  package mutating func open(_ opener: Unicode.Scalar, _ closer: Unicode.Scalar, _ what: String) throws(DocumentFault)
    -> Bool
  {
    guard take(UInt8(ascii: opener)) else { throw expected(what) }
    skipSpace()
    return !take(UInt8(ascii: closer))
  }

  /// Moves to the next element. Returns false after the end.
  @inline(__always) package mutating func goOn(_ closer: Unicode.Scalar) throws(DocumentFault) -> Bool {
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
  package mutating func key() throws(DocumentFault) -> String {
    guard next == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
    let key = try string()
    skipSpace()
    try expect(":", "after the key")
    skipSpace()
    return key
  }

  // MARK: Skipping

  /// Skips a value of any kind and checks that it is JSON. The depth of the value uses no stack.
  package mutating func skipValue(depth start: Int = 0) throws(DocumentFault) {
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
    guard start + closers.count < Self.maximumDepth else {
      throw DocumentFault(
        "objects and lists lie in each other more than \(Self.maximumDepth) levels deep", at: offset, .limit)
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

  package func isAtNull() -> Bool { next == UInt8(ascii: "n") }

  package mutating func word(_ word: StaticString) throws(DocumentFault) {
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

// MARK: - Scalars

extension JSONScanner {
  // MARK: Strings

  /// The range of a string's content, and whether it has escapes. All escapes are checked.
  @inline(__always) mutating func stringSpan() throws(DocumentFault) -> (content: Range<Int>, hasEscapes: Bool) {
    let start = offset + 1
    var hasEscapes = false
    offset = start
    while offset < bytes.count {
      skipPlainText()
      guard offset < bytes.count else { break }
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        offset += 1
        return (start..<offset - 1, hasEscapes)
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        _ = try escape()
      } else if byte < 0x20 {
        throw DocumentFault("a control character in a string must be written as an escape, such as \\n", at: offset)
      } else {
        offset += 1
      }
    }
    throw DocumentFault("the string that begins here is not closed", at: start - 1)
  }

  /// Skips eight bytes at once as long as none of them is a quote, a backslash or a control character.
  @inline(__always) private mutating func skipPlainText() { offset = Self.endOfPlainText(bytes, from: offset) }

  /// The offset of the first quote, backslash or control character, or of the last few bytes.
  @inline(__always) static func endOfPlainText(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var offset = start
    while bytes.count - offset >= 8 {
      let word = UInt64(
        littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      // In each byte of the masks the highest bit is set where the byte of the word is the one looked for, see "Bit
      // Twiddling Hacks" by S. E. Anderson. Bits above the lowest one may be wrong.
      let quotes = word ^ 0x2222_2222_2222_2222
      let slashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
      let found =
        (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
        | (word &- 0x2020_2020_2020_2020) & ~word
      let marks = found & 0x8080_8080_8080_8080
      if marks != 0 { return offset + marks.trailingZeroBitCount / 8 }
      offset += 8
    }
    return offset
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Reads a string, starting at its opening quote.
  package mutating func string() throws(DocumentFault) -> String {
    let (content, hasEscapes) = try stringSpan()
    if !hasEscapes { return String(decoding: UnsafeBufferPointer(rebasing: bytes[content]), as: UTF8.self) }
    return unescaped(content)
  }

  /// The text of a string whose escapes were checked before.
  private func unescaped(_ content: Range<Int>) -> String {
    var inner = JSONScanner(bytes, at: content.lowerBound)
    var result: [UInt8] = []
    result.reserveCapacity(content.count)
    while inner.offset < content.upperBound {
      if inner.bytes[inner.offset] == UInt8(ascii: "\\") {
        guard let scalar = try? inner.escape() else { break }
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        result.append(inner.bytes[inner.offset])
        inner.offset += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Reads the character of the escape that begins here.
  private mutating func escape() throws(DocumentFault) -> Unicode.Scalar {
    let start = offset
    offset += 2
    switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try codePoint(from: start)
    default: throw DocumentFault("the backslash begins no escape that JSON knows", at: start)
    }
  }

  private mutating func codePoint(from start: Int) throws(DocumentFault) -> Unicode.Scalar {
    let fault = DocumentFault(
      "\\u must be followed by four hexadecimal digits, and a high surrogate by a low one", at: start)
    guard var value = hexDigits() else { throw fault }
    if value & 0xFC00 == 0xD800 {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = hexDigits(), low & 0xFC00 == 0xDC00 else {
        throw fault
      }
      value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
    }
    guard let scalar = Unicode.Scalar(value) else { throw fault }
    return scalar
  }

  private mutating func hexDigits() -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Self.hexDigit(byte) else { return nil }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 0x30
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 0x37
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 0x57
    default: nil
    }
  }

  // MARK: Numbers

  /// The range of a number, checked against JSON's grammar.
  mutating func number() throws(DocumentFault) -> Range<Int> {
    let start = offset
    _ = take(UInt8(ascii: "-"))
    let whole = skipDigits()
    guard whole > 0, whole == 1 || bytes[offset - whole] != UInt8(ascii: "0") else {
      throw expected("a number as JSON writes it", at: start)
    }
    if take(UInt8(ascii: ".")), skipDigits() == 0 { throw expected("a digit") }
    if let letter = next, letter | 32 == UInt8(ascii: "e") {
      offset += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
      if skipDigits() == 0 { throw expected("a digit") }
    }
    return start..<offset
  }

  private mutating func skipDigits() -> Int {
    let start = offset
    while let byte = next, byte.isDigit { offset += 1 }
    return offset - start
  }

  /// An integer of 64 bits, written without fraction or exponent.
  mutating func integer(_ what: String) throws(DocumentFault) -> Int64 {
    let start = offset
    guard let first = next, first.isDigit || first == UInt8(ascii: "-") else { throw expected(what) }
    let span = try number()
    let isNegative = first == UInt8(ascii: "-")
    var value: Int64 = 0
    for byte in bytes[span].dropFirst(isNegative ? 1 : 0) {
      guard byte.isDigit else { throw expected(what, at: start) }
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(byte - UInt8(ascii: "0"))
      // Accumulates with the sign, because the minimum has no positive counterpart.
      let (sum, isSumTooLarge) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      guard !isTooLarge, !isSumTooLarge else { throw expected(what, at: start) }
      value = sum
    }
    return value
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}

// MARK: - Value reading

extension JSONScanner {
  /// Reads a value in a column's form. The caller handles null, except if the form is JSON.
  mutating func value(_ form: ValueForm) throws(DocumentFault) -> StoredValue {
    switch form {
    case .bool: return try bool()
    case .integer(let range): return .integer(try integer(in: range))
    case .reference: return .integer(try integer("the key of an object, a whole number"))
    case .float, .double: return try real(isFloat: form == .float)
    case .string: return .text(try text("a text in double quotes"))
    case .url: return .text(try text("a URL in double quotes"))
    case .decimal: return try decimal()
    case .date:
      return try converted("a date, such as \"2026-01-31T09:30:00Z\"") {
        DateText.keptMicroseconds($0).map { .integer($0) }
      }
    case .external where next == UInt8(ascii: "{"): return .file(try file())
    case .data, .external: return try converted("Base64 text with padding") { Base64Text.bytes($0).map { .blob($0) } }
    case .uuid: return try converted("a UUID in double quotes") { UUIDText.bytes($0).map { .blob($0) } }
    case .json: return try json()
    }
  }

  private func misfit(_ what: String, at place: Int) -> DocumentFault {
    DocumentFault(expected(what, at: place).what, at: place, .unreadableValue)
  }

  private mutating func bool() throws(DocumentFault) -> StoredValue {
    switch next {
    case UInt8(ascii: "t"):
      try word("true")
      return .integer(1)
    case UInt8(ascii: "f"):
      try word("false")
      return .integer(0)
    default: throw misfit("true or false", at: offset)
    }
  }

  private mutating func integer(in range: ClosedRange<Int64>) throws(DocumentFault) -> Int64 {
    let start = offset
    if let value = try? integer(""), range.contains(value) { return value }
    throw misfit("a whole number from \(range.lowerBound) to \(range.upperBound)", at: start)
  }

  private mutating func real(isFloat: Bool) throws(DocumentFault) -> StoredValue {
    let start = offset
    if next == UInt8(ascii: "\"") { return try specialReal() }
    guard let first = next, first.isDigit || first == UInt8(ascii: "-") else { throw misfit("a number", at: start) }
    let span = try number()
    let number = text(span)
    let value = isFloat && Self.mayBeFloat(bytes[span]) ? Float(number).map(Double.init) : Double(number)
    guard let value, value.isFinite else { throw misfit("a number within the range of its type", at: start) }
    return .real(value)
  }

  /// A number with more digits than any float needs is between two floats, and stays a double.
  private static func mayBeFloat(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    RealText.significantDigits(text) <= RealText.mostDigitsOfFloat
  }

  private mutating func specialReal() throws(DocumentFault) -> StoredValue {
    let start = offset
    switch try string() {
    case RealText.infinity: return .real(.infinity)
    case RealText.minusInfinity: return .real(-.infinity)
    default: throw misfit("a number, \"Infinity\" or \"-Infinity\"", at: start)
    }
  }

  private mutating func text(_ what: String) throws(DocumentFault) -> String {
    guard next == UInt8(ascii: "\"") else { throw misfit(what, at: offset) }
    return try string()
  }

  private mutating func decimal() throws(DocumentFault) -> StoredValue {
    let start = offset
    let what = "a decimal number of at most \(DecimalText.maximumDigits) digits in double quotes, such as \"9.95\""
    let number: String
    if let first = next, first.isDigit || first == UInt8(ascii: "-") {
      number = text(try self.number())
    } else {
      number = try text(what)
    }
    guard let canonical = DecimalText.canonical(number) else { throw misfit(what, at: start) }
    return .text(canonical)
  }

  private mutating func converted(
    _ what: String, _ convert: (String) -> StoredValue?
  ) throws(DocumentFault) -> StoredValue {
    let start = offset
    guard let value = convert(try text(what)) else { throw misfit(what, at: start) }
    return value
  }

  /// Reads a reference to external data: the file name and the number of bytes.
  private mutating func file() throws(DocumentFault) -> ExternalFile {
    let start = offset
    var (digest, size): (ContentDigest?, Int?)
    if try open("{", "}", "an object") {
      repeat {
        switch try key() {
        case ValueForm.file where digest == nil: digest = ContentDigest(try text("64 hexadecimal digits"))
        case ValueForm.size where size == nil: size = Int(exactly: try integer("a whole number"))
        default: throw misfit("\"\(ValueForm.file)\" and \"\(ValueForm.size)\", each once", at: start)
        }
      } while try goOn("}")
    }
    guard let digest, let size, size >= 0 else {
      throw misfit("a file's digest in 64 small hexadecimal digits, and its size", at: start)
    }
    return ExternalFile(digest, size: size, origin: nil)
  }

  /// Lists and structs keep their bytes, so that they are written back unchanged.
  private mutating func json() throws(DocumentFault) -> StoredValue {
    let start = offset
    try skipValue(depth: 4)
    return .text(text(start..<offset))
  }
}
