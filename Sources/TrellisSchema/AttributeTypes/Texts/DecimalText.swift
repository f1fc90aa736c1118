/// The canonical text of decimals: digits without redundant zeros and without an exponent, as in `-0.5`, `12`, `0`.
public enum DecimalText {
  /// The maximum number of digits of a decimal, from the first nonzero digit to the last.
  public static let maximumDigits = 38

  /// The canonical form of a number as written in JSON or by hand; nil if the text is not a number, has more than
  /// ``maximumDigits`` digits, or has an exponent beyond ±127.
  public static func canonical(_ text: String) -> String? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(fraction.count + 1)
    }
    guard !whole.isEmpty, let exponent = exponent(rest) else { return nil }
    return canonical(digits: Array(whole + fraction), point: whole.count, exponent, isNegative)
  }

  private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
    guard let letter = text.first else { return 0 }
    guard letter | 32 == UInt8(ascii: "e"),
      let value = Int(String(decoding: text.dropFirst(), as: UTF8.self)), abs(value) <= 127
    else { return nil }
    return value
  }

  /// - Parameter point: the number of digits before the decimal point.
  private static func canonical(digits: [UInt8], point: Int, _ exponent: Int, _ isNegative: Bool) -> String? {
    guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
    else { return "0" }
    let significant = Array(digits[first...last])
    let newPoint = point - first + exponent
    guard significant.count <= maximumDigits, abs(newPoint) <= 165 else { return nil }
    let padded =
      newPoint <= 0
      ? Array(repeating: zero, count: 1 - newPoint) + significant
      : significant + Array(repeating: zero, count: max(0, newPoint - significant.count))
    let split = max(1, newPoint)
    let text = (isNegative ? "-" : "") + String(decoding: padded[..<split], as: UTF8.self)
    return split < padded.count ? text + "." + String(decoding: padded[split...], as: UTF8.self) : text
  }

  /// Whether the first canonical text is a smaller number than the second.
  public static func isLess(_ left: String, _ right: String) -> Bool {
    let isLeftNegative = left.utf8.first == UInt8(ascii: "-")
    let isRightNegative = right.utf8.first == UInt8(ascii: "-")
    if isLeftNegative != isRightNegative { return isLeftNegative }
    return isLeftNegative
      ? isMagnitudeLess(right.utf8.dropFirst(), left.utf8.dropFirst())
      : isMagnitudeLess(left.utf8[...], right.utf8[...])
  }

  private static func isMagnitudeLess(_ left: String.UTF8View.SubSequence, _ right: String.UTF8View.SubSequence) -> Bool
  {
    let leftWhole = left.prefix(while: isDigit).count
    let rightWhole = right.prefix(while: isDigit).count
    return leftWhole != rightWhole ? leftWhole < rightWhole : left.lexicographicallyPrecedes(right)
  }

  private static let zero = UInt8(ascii: "0")

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= UInt8(ascii: "9") }
}
