extension String {
  /// The text in single quotes, fit for one line of a message: long ones cut, control characters written out.
  var quoted: String { "'\(shown)'" }

  /// The text, fit for one line of a message.
  var shown: String {
    if utf8.count <= 64, utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return self }
    var text = ""
    for scalar in unicodeScalars.prefix(64) {
      if scalar.value < 0x20 || scalar.properties.generalCategory == .control {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return unicodeScalars.count > 64 ? text + "…" : text
  }
}
