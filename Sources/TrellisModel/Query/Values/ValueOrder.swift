/// The order and equality of stored values, the same in every store.
public enum ValueOrder {
  /// Negative if `left` sorts first, zero if both are equal, positive otherwise. Null sorts first.
  ///
  /// Values that do not match the kind, which a checked query never has, still have a total order: null, numbers,
  /// texts, blobs. NaN counts as null, because no store can hold it.
  public static func compare(_ left: StoredValue, _ right: StoredValue, kind: ValueKind) -> Int {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
    case (.real(let a), .real(let b)): compare(a, b)
    case (.text(let a), .text(let b)): kind == .decimal ? DecimalOrder.compare(a, b) : TextBytes.compare(a, b)
    case (.blob(let a), .blob(let b)): a.withUnsafeBytes { a in b.withUnsafeBytes { b in TextBytes.compare(a, b) } }
    case (.file(let a), .file(let b)): a == b ? 0 : order(a, b)
    // The same bytes may be stored in a file or in the row.
    case (.file(let file), .blob(let bytes)): bytes.withUnsafeBytes(file.holds) ? 0 : 1
    case (.blob(let bytes), .file(let file)): bytes.withUnsafeBytes(file.holds) ? 0 : -1
    case (.integer(let a), .real(let b)): b.isNaN ? 1 : compare(a, b)
    case (.real(let a), .integer(let b)): a.isNaN ? -1 : -compare(b, a)
    default: rank(left) - rank(right)
    }
  }

  /// Whether two values are equal. Null equals null.
  public static func areEqual(_ left: StoredValue, _ right: StoredValue, kind: ValueKind) -> Bool {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a == b
    case (.text(let a), .text(let b)) where kind != .decimal: TextBytes.areEqual(a, b)
    default: compare(left, right, kind: kind) == 0
    }
  }

  /// An arbitrary but total order of contents; sorting by data has no meaning.
  private static func order(_ a: ExternalFile, _ b: ExternalFile) -> Int {
    TextBytes.compare(a.digest.text, b.digest.text)
  }

  /// Whether the value counts as nil.
  package static func isNil(_ value: StoredValue) -> Bool {
    switch value {
    case .null: true
    case .real(let real): real.isNaN
    default: false
    }
  }

  /// The canonical form of a value, for sets and dictionaries: equal values have the same ``StoredValue``.
  public static func normalized(_ value: StoredValue, kind: ValueKind) -> StoredValue {
    switch value {
    case .real(let real) where real.isNaN: .null
    // An integer and a real of the same value are equal, so the integer represents both.
    case .real(let real): Int64(exactly: real).map(StoredValue.integer) ?? value
    case .text(let text) where kind == .decimal: .text(DecimalOrder.canonical(text))
    default: value
    }
  }

  private static func compare(_ a: Double, _ b: Double) -> Int {
    if a < b { return -1 }
    if a > b { return 1 }
    if a == b { return 0 }
    return a.isNaN ? (b.isNaN ? 0 : -1) : 1
  }

  /// Compares exactly; converting the integer to a real would round.
  private static func compare(_ integer: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    if integer != whole { return integer < whole ? -1 : 1 }
    return compare(0.0, real - Double(whole))
  }

  private static func rank(_ value: StoredValue) -> Int {
    switch value {
    case .null: 0
    case .real(let real): real.isNaN ? 0 : 1
    case .integer: 1
    case .text: 2
    case .blob: 3
    case .file: 4
    }
  }
}

// MARK: - Decimal order

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
