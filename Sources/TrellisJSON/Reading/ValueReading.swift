import TrellisSchema

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
    var fault = expected(what, at: place)
    fault.code = .unreadableValue
    return fault
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
    let what = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    do throws(DocumentFault) {
      let value = try integer("")
      guard range.contains(value) else { throw misfit(what, at: start) }
      return value
    } catch {
      throw misfit(what, at: start)
    }
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
        case DocumentFormat.file where digest == nil: digest = ContentDigest(try text("64 hexadecimal digits"))
        case DocumentFormat.size where size == nil: size = Int(exactly: try integer("a whole number"))
        default: throw misfit("\"\(DocumentFormat.file)\" and \"\(DocumentFormat.size)\", each once", at: start)
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
