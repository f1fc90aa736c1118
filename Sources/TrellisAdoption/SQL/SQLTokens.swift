/// A word, sign or value of SQL.
enum SQLToken: Hashable {
  /// A name or keyword; whether it is quoted.
  case word(String, isQuoted: Bool)
  case text(String)
  case number(String)
  case symbol(String)
  /// A comment, and whether other tokens precede it on its line.
  case comment(String, isTrailing: Bool)

  /// Whether the token is a keyword, given in capitals.
  func isWord(_ keyword: String) -> Bool {
    if case .word(let word, isQuoted: false) = self { word.uppercased() == keyword } else { false }
  }

  func isSymbol(_ symbol: String) -> Bool {
    if case .symbol(symbol) = self { true } else { false }
  }
}

/// Splits SQL into tokens. Any text gives some.
struct SQLScanner {
  private let bytes: [UInt8]
  private var place = 0
  private var isAtStartOfLine = true

  static func tokens(_ text: String) -> [SQLToken] {
    var scanner = SQLScanner(bytes: Array(text.utf8))
    var tokens: [SQLToken] = []
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { place < bytes.count ? bytes[place] : nil }
  private var following: UInt8? { place + 1 < bytes.count ? bytes[place + 1] : nil }

  private mutating func next() -> SQLToken? {
    while let space = byte, space <= 0x20 {
      if space == 0x0A { isAtStartOfLine = true }
      place += 1
    }
    guard let first = byte else { return nil }
    if first == UInt8(ascii: "-"), following == first { return lineComment() }
    if first == UInt8(ascii: "/"), following == UInt8(ascii: "*") { return blockComment() }
    isAtStartOfLine = false
    switch first {
    case UInt8(ascii: "'"): return .text(quoted(until: first))
    case UInt8(ascii: "\""), UInt8(ascii: "`"): return .word(quoted(until: first), isQuoted: true)
    case UInt8(ascii: "["): return bracket()
    case _ where Self.isDigit(first), UInt8(ascii: ".") where following.map(Self.isDigit) ?? false: return number()
    case _ where Self.isLetter(first): return .word(taken { Self.isLetter($0) || Self.isDigit($0) }, isQuoted: false)
    default: return symbol()
    }
  }

  private mutating func lineComment() -> SQLToken {
    let isTrailing = !isAtStartOfLine
    let text = taken { $0 != 0x0A }
    return .comment(Self.trimmed(String(text.drop { $0 == "-" })), isTrailing: isTrailing)
  }

  private mutating func blockComment() -> SQLToken {
    let isTrailing = !isAtStartOfLine
    place += 2
    let start = place
    while place < bytes.count, !(bytes[place] == UInt8(ascii: "*") && following == UInt8(ascii: "/")) { place += 1 }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    place = min(place + 2, bytes.count)
    return .comment(Self.trimmed(text), isTrailing: isTrailing)
  }

  private static func trimmed(_ text: String) -> String {
    let start = text.drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }

  /// The text up to a mark, which stands for itself if it is doubled.
  private mutating func quoted(until mark: UInt8) -> String {
    place += 1
    var content: [UInt8] = []
    while let next = byte {
      place += 1
      if next == mark {
        guard byte == mark else { break }
        place += 1
      }
      content.append(next)
    }
    return String(decoding: content, as: UTF8.self)
  }

  /// A name in brackets; an open bracket of an array otherwise.
  private mutating func bracket() -> SQLToken {
    let isArray = place > 0 && (Self.isLetter(bytes[place - 1]) || bytes[place - 1] == UInt8(ascii: "["))
    if isArray || following.map(Self.isLetter) != true { return symbol() }
    place += 1
    let name = taken { $0 != UInt8(ascii: "]") }
    if byte != nil { place += 1 }
    return .word(name, isQuoted: true)
  }

  private mutating func number() -> SQLToken {
    let start = place
    if byte == UInt8(ascii: "0"), following.map({ $0 | 32 }) == UInt8(ascii: "x") {
      place += 2
      return .number("0x" + taken { Self.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 32) })
    }
    while let next = byte {
      let isSign =
        (next == UInt8(ascii: "+") || next == UInt8(ascii: "-")) && place > start
        && bytes[place - 1] | 32 == UInt8(ascii: "e")
      guard Self.isDigit(next) || next == UInt8(ascii: ".") || next | 32 == UInt8(ascii: "e") || isSign else { break }
      place += 1
    }
    return .number(String(decoding: bytes[start..<place], as: UTF8.self))
  }

  private static let longSymbols: Set<String> = ["<=", ">=", "<>", "!=", "==", "||", "::", "!~", "~*", "->"]

  private mutating func symbol() -> SQLToken {
    if let following {
      let pair = String(decoding: [bytes[place], following], as: UTF8.self)
      if pair == "->", place + 2 < bytes.count, bytes[place + 2] == UInt8(ascii: ">") {
        place += 3
        return .symbol("->>")
      }
      if Self.longSymbols.contains(pair) {
        place += 2
        return .symbol(pair)
      }
    }
    place += 1
    return .symbol(String(decoding: [bytes[place - 1]], as: UTF8.self))
  }

  private mutating func taken(while isPart: (UInt8) -> Bool) -> String {
    let start = place
    while let next = byte, isPart(next) { place += 1 }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
      || byte == UInt8(ascii: "$")
  }
}
