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

// MARK: - Base64

/// Base64 encoding. The tool avoids Foundation, which would slow down its launch.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)

  static func text(of bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    var start = 0
    while start < bytes.count {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for offset in 0..<3 { bits = bits << 8 | UInt32(offset < group.count ? group[start + offset] : 0) }
      for place in 0..<4 {
        let digit = Int(bits >> UInt32(18 - 6 * place) & 63)
        text.append(place <= group.count ? alphabet[digit] : "=")
      }
      start += 3
    }
    return String(text)
  }
}

// MARK: - Doc comment

/// Converts a `doc` of a model to the lines of a doc comment.
enum DocComment {
  static func lines(of comment: String, room: Int) -> [String] {
    var lines: [String] = []
    for line in comment.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      lines += wrapped(cleaned(line), room: max(20, room - 4))
    }
    while lines.count > 1, lines.last == "///" { lines.removeLast() }
    return lines
  }

  /// The text without characters that do not belong in a source file.
  static func cleaned(_ text: some StringProtocol) -> String {
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let category = scalar.isASCII ? nil : scalar.properties.generalCategory
      let isHarmless = scalar.isASCII ? scalar.value >= 0x20 && scalar.value != 0x7F : category != .control
      let isSeparator = category == .lineSeparator || category == .paragraphSeparator
      cleaned.append(isHarmless && !isSeparator ? scalar : " ")
    }
    while let last = cleaned.last, last.properties.isWhitespace { cleaned.removeLast() }
    return String(cleaned)
  }

  private static func wrapped(_ line: String, room: Int) -> [String] {
    guard !line.isEmpty else { return ["///"] }
    if line.fits(room) { return ["/// " + line] }
    var lines: [String] = []
    var current = ""
    for word in line.split(separator: " ", omittingEmptySubsequences: true) {
      let longer = current.isEmpty ? String(word) : "\(current) \(word)"
      if longer.fits(room) || current.isEmpty {
        current = longer
      } else {
        lines.append("/// " + current)
        current = String(word)
      }
    }
    if !current.isEmpty { lines.append("/// " + current) }
    return lines
  }
}
