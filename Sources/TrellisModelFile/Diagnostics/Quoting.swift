extension String {
  /// The text on one line and of bounded length, whatever names have got into it.
  var asMessage: String {
    if utf8.count <= 2_000, utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return self }
    return shown(upTo: 1_000)
  }

  /// The text in single quotes, fit for one line of a message: long ones cut, control characters written out.
  var quoted: String { "'\(shown)'" }

  /// The text, fit for one line of a message.
  var shown: String {
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
