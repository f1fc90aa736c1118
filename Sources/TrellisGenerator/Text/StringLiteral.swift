/// Converts arbitrary text to a Swift string literal.
enum StringLiteral {
  static func flat(_ content: String) -> String {
    if isPlain(content) { return "\"\(content)\"" }
    var literal = "\""
    for scalar in content.unicodeScalars { literal += escaped(scalar) }
    return literal + "\""
  }

  /// Writes a multi-line literal for a single line of text.
  static func write(_ content: String, to writer: inout CodeWriter, _ prefix: String, _ suffix: String) {
    writer.line(prefix + "\"\"\"")
    // A literal that begins its own line needs no further indentation.
    let isAlone = prefix.isEmpty || prefix == "?? "
    if !isAlone { writer.indent() }
    // A backslash at the end of a line joins it with the next line. It takes one column.
    let lines = broken(content, room: max(20, writer.room - 1))
    for (number, line) in lines.enumerated() { writer.line(number == lines.count - 1 ? line : line + "\\") }
    writer.line("\"\"\"" + suffix)
    if !isAlone { writer.outdent() }
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
        // A text without spaces is broken anywhere.
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
    // Editors and formatters may remove a space at the end of the last line.
    if let last = lines.last, last.hasSuffix(" ") { lines[lines.count - 1] = last.dropLast() + "\\u{20}" }
    return lines
  }

  /// Whether the text needs no escapes: ASCII without control characters, quotes and backslashes.
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

  /// Whether the scalar is visible. Invisible scalars and those that change the direction of text could make the source
  /// look different from what it is.
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
