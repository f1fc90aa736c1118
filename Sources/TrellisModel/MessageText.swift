extension String {
  /// The text on one line and of bounded length, even if it contains arbitrary names.
  package var asMessage: String {
    if utf8.count <= 2_000, utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return self }
    return shown(upTo: 1_000)
  }

  /// The text in single quotes on one line: long texts are truncated, control characters are escaped.
  package var quoted: String { "'\(shown)'" }

  /// The text on one line, truncated and escaped for a message.
  package var shown: String {
    if utf8.count <= 64, utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return self }
    return shown(upTo: 64)
  }

  private func shown(upTo limit: Int) -> String {
    var text = ""
    for scalar in unicodeScalars.prefix(limit) {
      if scalar.value < 0x20 || scalar.properties.generalCategory == .control {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return unicodeScalars.count > limit ? text + "…" : text
  }
}

extension [String] {
  /// `'a', 'b' or 'c'`
  package var listed: String {
    let quoted = map { "'\($0)'" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}

// MARK: - Signs

extension String {
  /// Whether a sort key or an index element has the sign for descending order.
  package var isDescending: Bool { utf8.first == UInt8(ascii: "-") }

  package var withoutSign: String { isDescending ? String(dropFirst()) : self }
}
