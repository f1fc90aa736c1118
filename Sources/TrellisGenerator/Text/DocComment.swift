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
