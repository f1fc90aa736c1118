/// The server's binary form of `numeric`: digits to the base 10,000, with the weight of the first.
enum NumericCoding {
  private static let negative: UInt16 = 0x4000

  /// Appends the binary form of a plain decimal.
  ///
  /// - Returns: false, with nothing appended, if the text is no plain decimal or has more digits than the server keeps.
  static func append(_ text: String, to bytes: inout [UInt8]) -> Bool {
    var digits = Array(text.utf8)[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    let whole = digits.prefix { $0 != UInt8(ascii: ".") }
    let fraction = whole.endIndex < digits.endIndex ? digits[(whole.endIndex + 1)...] : []
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    guard !whole.isEmpty, whole.endIndex == digits.endIndex || !fraction.isEmpty, whole.allSatisfy(isDigit),
      fraction.allSatisfy(isDigit), whole.count <= 130_000, fraction.count <= 16_000
    else { return false }
    // Groups of four digits, counted from the point.
    let leading = (4 - whole.count % 4) % 4
    let trailing = (4 - fraction.count % 4) % 4
    let padded =
      Array(repeating: UInt8(ascii: "0"), count: leading) + whole + fraction
      + Array(repeating: UInt8(ascii: "0"), count: trailing)
    var groups = stride(from: 0, to: padded.count, by: 4).map { start in
      padded[start..<(start + 4)].reduce(UInt16(0)) { $0 * 10 + UInt16($1 - UInt8(ascii: "0")) }
    }
    var weight = (leading + whole.count) / 4 - 1
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    while groups.last == 0 { groups.removeLast() }
    bytes.append(bigEndian: UInt16(groups.count))
    bytes.append(bigEndian: UInt16(bitPattern: Int16(groups.isEmpty ? 0 : weight)))
    bytes.append(bigEndian: isNegative && !groups.isEmpty ? negative : 0)
    bytes.append(bigEndian: UInt16(fraction.count))
    for group in groups { bytes.append(bigEndian: group) }
    return true
  }

  /// The canonical text of a number in binary form: no exponent, no redundant zeros. Nil for NaN and infinities.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count >= 8 else { return nil }
    let count = Int(bytes.bigEndian(UInt16.self, at: 0))
    let weight = Int(Int16(bitPattern: bytes.bigEndian(UInt16.self, at: 2)))
    let sign = bytes.bigEndian(UInt16.self, at: 4)
    guard sign == 0 || sign == negative, bytes.count >= 8 + 2 * count else { return nil }
    if count == 0 { return "0" }
    var whole: [UInt8] = []
    var fraction: [UInt8] = []
    // Zeros between the point and the first digit.
    if weight < -1 { fraction = Array(repeating: UInt8(ascii: "0"), count: 4 * (-1 - weight)) }
    for place in 0..<count {
      var group = bytes.bigEndian(UInt16.self, at: 8 + 2 * place)
      guard group < 10_000 else { return nil }
      var digits: [UInt8] = [0, 0, 0, 0]
      for index in digits.indices.reversed() {
        digits[index] = UInt8(ascii: "0") + UInt8(group % 10)
        group /= 10
      }
      if place <= weight { whole += digits } else { fraction += digits }
    }
    // Zeros between the last digit and the point.
    if weight >= count { whole += Array(repeating: UInt8(ascii: "0"), count: 4 * (weight - count + 1)) }
    let zero = UInt8(ascii: "0")
    let significant = whole.drop { $0 == zero }
    while fraction.last == zero { fraction.removeLast() }
    var text = sign == negative ? "-" : ""
    text += significant.isEmpty ? "0" : String(decoding: significant, as: UTF8.self)
    if !fraction.isEmpty { text += "." + String(decoding: fraction, as: UTF8.self) }
    return text
  }
}

extension [UInt8] {
  mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// A number in network order. The caller has checked that there are enough bytes.
  func bigEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number {
    Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
