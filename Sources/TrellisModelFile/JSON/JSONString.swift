/// Maps offsets in the text of a string to offsets in the file, in which escapes are longer.
enum JSONString {
  /// The file offset for an offset in a string's text; the closing quote for the end of the text.
  ///
  /// - Parameters:
  ///   - textOffset: the offset in the text, in bytes of UTF-8.
  ///   - start: the offset of the string's opening quote. The string was read before, so its escapes are valid.
  /// - Complexity: linear in `textOffset`.
  static func place(of textOffset: Int, inStringAt start: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var place = start + 1
    var passed = 0
    while passed < textOffset, place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      let (length, meant) = unit(at: place, bytes)
      // An offset inside the text of one escape maps to that escape.
      guard passed + meant <= textOffset else { break }
      place += length
      passed += meant
    }
    return place
  }

  /// The length of a byte or an escape in the file, and in the text.
  private static func unit(at place: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, meant: Int) {
    guard bytes[place] == UInt8(ascii: "\\") else { return (1, 1) }
    guard place + 5 < bytes.count, bytes[place + 1] == UInt8(ascii: "u") else { return (2, 1) }
    let digits = String(decoding: bytes[place + 2..<place + 6], as: UTF8.self)
    switch UInt32(digits, radix: 16) ?? 0 {
    case 0..<0x80: return (6, 1)
    case 0x80..<0x800: return (6, 2)
    // A surrogate pair: two escapes for one scalar beyond the Basic Multilingual Plane.
    case 0xD800..<0xE000: return (12, 4)
    default: return (6, 3)
    }
  }
}
