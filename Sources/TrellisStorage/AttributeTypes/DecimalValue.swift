public import Foundation
public import TrellisQuery
public import TrellisSchema

extension Decimal: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .decimal }
  @inlinable public static var placeholder: Decimal { 0 }

  public static func read(_ row: RowReader, _ column: Int) -> Decimal {
    if let value = Decimal(string: row.text(column), locale: nil) { return value }
    row.report(column, "the stored text is no decimal number")
    return 0
  }

  public func write(to row: RowWriter) { row.text(canonicalText) }
  public var storedValue: StoredValue { .text(canonicalText) }

  /// Plain digits with a point where needed: no exponent, no superfluous zeros, `0` without a sign.
  ///
  /// Equal numbers have equal texts, so uniqueness and equality need no arithmetic in a store.
  public var canonicalText: String {
    // Foundation prints the shortest plain form already; NaN stays recognisable and is refused at save.
    isZero ? "0" : description
  }
}
