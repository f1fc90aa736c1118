public import Foundation
public import TrellisQuery
public import TrellisSchema

extension Decimal: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .decimal }
  @inlinable public static var placeholder: Decimal { 0 }

  public static func read(_ row: RowReader, _ column: Int) -> Decimal {
    let text = row.text(column)
    // Foundation stops at the first unknown character, and rounds a number with too many digits.
    if isPlain(text), let value = Decimal(string: text, locale: nil),
      text.utf8.count <= 38 || value.canonicalText == text
    {
      return value
    }
    row.report(column, "the stored text is no decimal number")
    return 0
  }

  /// Whether a text consists of digits, with at most a leading sign and a point between digits.
  private static func isPlain(_ text: String) -> Bool {
    var digits = 0
    var hasPoint = false
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: "-") where index == 0: break
      case UInt8(ascii: ".") where !hasPoint && digits > 0: hasPoint = true
      default: return false
      }
    }
    return digits > 0
  }

  public func write(to row: RowWriter) { row.text(canonicalText) }
  public var storedValue: StoredValue { .text(canonicalText) }

  /// The number in plain digits, with a point if needed: no exponent, no redundant zeros, `0` without a sign.
  ///
  /// Equal numbers have equal texts, so a store needs no arithmetic for uniqueness and equality.
  public var canonicalText: String {
    // Foundation already prints the shortest plain form. NaN stays recognizable and is refused on save.
    isZero ? "0" : description
  }
}
