/// Data in the notation of model files: Base64 with padding.
public enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The bytes; nil if the text is not valid Base64.
  public static func bytes(_ text: String) -> [UInt8]? {
    let letters = Array(text.utf8)
    let body = letters.prefix(while: { $0 != padding })
    let tail = letters[body.endIndex...]
    guard letters.count.isMultiple(of: 4), tail.count <= 2, tail.allSatisfy({ $0 == padding }) else { return nil }
    var result: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for letter in body {
      guard let value = sextet(letter) else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    // Unused bits must be zero, so that each value has exactly one text.
    return bits & (1 << UInt32(count) - 1) == 0 ? result : nil
  }

  private static func sextet(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// The Base64 text of the bytes.
  public static func text(_ bytes: [UInt8]) -> String {
    var letters: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        letters.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : padding)
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }
}

/// UUIDs in the notation of model files: 8-4-4-4-12 hexadecimal digits.
public enum UUIDText {
  /// The 16 bytes; nil if the text is not a UUID.
  public static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.count == 36 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, letter) in text.utf8.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard letter == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexDigit(letter) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  private static func hexDigit(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The text of 16 bytes, in uppercase.
  public static func text(_ bytes: [UInt8]) -> String {
    var text = ""
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
