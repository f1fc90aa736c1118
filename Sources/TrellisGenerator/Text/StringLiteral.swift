/// Text as a Swift string literal, whatever it contains.
enum StringLiteral {
  static func flat(_ content: String) -> String {
    if isPlain(content) { return "\"\(content)\"" }
    var literal = "\""
    for scalar in content.unicodeScalars { literal += escaped(scalar) }
    return literal + "\""
  }

  /// Writes a literal of several lines that stand for one.
  static func write(_ content: String, to writer: inout CodeWriter, _ prefix: String, _ suffix: String) {
    writer.line(prefix + "\"\"\"")
    writer.indent()
    // A backslash at the end of a line joins it with the next; it needs room too.
    let lines = broken(content, room: max(20, writer.room - 1))
    for (number, line) in lines.enumerated() { writer.line(number == lines.count - 1 ? line : line + "\\") }
    writer.line("\"\"\"" + suffix)
    writer.outdent()
  }

  private static func broken(_ content: String, room: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    var word = ""
    var lineCount = 0
    var wordCount = 0
    for scalar in content.unicodeScalars {
      let piece = escaped(scalar)
      word += piece
      wordCount += piece.unicodeScalars.count
      if lineCount + wordCount > room {
        // What has no space to break at is broken anywhere.
        if lineCount == 0 { swap(&line, &word); swap(&lineCount, &wordCount) }
        lines.append(line)
        line = ""
        lineCount = 0
      }
      if scalar == " " {
        line += word
        lineCount += wordCount
        word = ""
        wordCount = 0
      }
    }
    if lines.isEmpty || lineCount + wordCount > 0 { lines.append(line + word) }
    return lines
  }

  /// Whether nothing needs an escape: ASCII without control characters, quotes and backslashes.
  private static func isPlain(_ content: String) -> Bool {
    content.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": return "\\\""
    case "\\": return "\\\\"
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    case "\0": return "\\0"
    default: return isVisible(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }

  /// Whether a reader sees the scalar where it stands. Invisible ones, and those that turn the direction of the text, could
  /// make the source look like something else.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse, .unassigned,
      .nonspacingMark, .enclosingMark, .spacingMark:
      return false
    default: return true
    }
  }
}
