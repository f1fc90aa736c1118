import TrellisSchema

/// Compares decimal texts as numbers, digit by digit: any length, no rounding.
public enum DecimalOrder {
  /// Negative if `left` is the smaller number, zero if both are equal, positive otherwise.
  ///
  /// A plain decimal text is an optional minus, digits, and an optional point with digits. Texts of another form sort
  /// before all numbers and among themselves by their bytes, so the order is total for any content of a store.
  ///
  /// - Complexity: linear in the number of digits.
  public static func compare(_ left: String, _ right: String) -> Int {
    switch (PlainDecimal(left), PlainDecimal(right)) {
    case (let a?, let b?): a.compared(to: b)
    case (nil, nil): TextBytes.compare(left, right)
    case (nil, _): -1
    case (_, nil): 1
    }
  }

  /// The text that equal numbers share. A text that is not a plain decimal is returned unchanged.
  public static func canonical(_ text: String) -> String {
    PlainDecimal(text)?.canonicalText ?? text
  }
}

/// The digits of a plain decimal text, without redundant zeros.
private struct PlainDecimal {
  let isNegative: Bool
  let whole: ArraySlice<UInt8>
  let fraction: ArraySlice<UInt8>

  init?(_ text: String) {
    var digits = Array(text.utf8)[...]
    let hasSign = digits.first == UInt8(ascii: "-") || digits.first == UInt8(ascii: "+")
    let minus = digits.first == UInt8(ascii: "-")
    if hasSign { digits.removeFirst() }
    let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, !whole.isEmpty, parts.count == 1 || parts.last?.isEmpty == false else { return nil }
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    guard parts.allSatisfy({ $0.allSatisfy(isDigit) }) else { return nil }
    self.whole = whole.drop { $0 == UInt8(ascii: "0") }
    fraction = parts.count == 2 ? Self.withoutTrailingZeros(parts[1]) : []
    // Zero has no sign.
    isNegative = minus && !(self.whole.isEmpty && fraction.isEmpty)
  }

  private static func withoutTrailingZeros(_ digits: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = digits
    while rest.last == UInt8(ascii: "0") { rest.removeLast() }
    return rest
  }

  func compared(to other: PlainDecimal) -> Int {
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let size = comparedSize(to: other)
    return isNegative ? -size : size
  }

  private func comparedSize(to other: PlainDecimal) -> Int {
    if whole.count != other.whole.count { return whole.count - other.whole.count }
    let wholes = Self.order(whole, other.whole)
    return wholes != 0 ? wholes : Self.order(fraction, other.fraction)
  }

  private static func order(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in TextBytes.compare(a, b) } }
  }

  var canonicalText: String {
    let sign = isNegative ? "-" : ""
    let whole = whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self)
    return fraction.isEmpty ? sign + whole : sign + whole + "." + String(decoding: fraction, as: UTF8.self)
  }
}
