public import TrellisSchema

/// Sums and averages of stored values, shared by the evaluation in memory and all stores. The order of the values does
/// not affect the result.
extension ValueArithmetic {
  /// The aggregate of the values that are not nil.
  public static func aggregate(
    _ function: AggregateFunction, _ values: [StoredValue], kind: ValueKind
  ) -> StoredValue {
    let present = values.filter { !ValueOrder.isNil($0) }
    switch function {
    case .sum: return sum(present, kind)
    case .average: return average(present, kind)
    case .minimum: return present.min { ValueOrder.compare($0, $1, kind: kind) < 0 } ?? .null
    case .maximum: return present.max { ValueOrder.compare($0, $1, kind: kind) < 0 } ?? .null
    }
  }

  private static func sum(_ values: [StoredValue], _ kind: ValueKind) -> StoredValue {
    switch kind {
    case .integer: Int64(exactly: wholeSum(values)).map { .integer($0) } ?? .null
    case .decimal: decimalSum(values).rounded.map { .text($0.text) } ?? .null
    case .real, .text, .blob: finite(realSum(values))
    }
  }

  private static func average(_ values: [StoredValue], _ kind: ValueKind) -> StoredValue {
    guard !values.isEmpty else { return .null }
    switch kind {
    case .integer: return finite(Double(wholeSum(values)) / Double(values.count))
    case .decimal:
      let quotient = decimalSum(values).divided(by: DecimalNumber(values.count))
      return quotient?.rounded.map { .text($0.text) } ?? .null
    case .real, .text, .blob: return finite(realSum(values) / Double(values.count))
    }
  }

  /// Has 64 bits more than the values, so that the order of additions cannot decide whether there is an overflow.
  private static func wholeSum(_ values: [StoredValue]) -> Int128 {
    values.reduce(0) { sum, value in if case .integer(let number) = value { sum + Int128(number) } else { sum } }
  }

  private static func decimalSum(_ values: [StoredValue]) -> DecimalNumber {
    values.reduce(.zero) { sum, value in decimal(value).map { sum + $0 } ?? sum }
  }

  private static func realSum(_ values: [StoredValue]) -> Double {
    var sum = RealSum()
    for value in values { if let real = real(value) { sum.add(real) } }
    return sum.value
  }

  private static func finite(_ real: Double) -> StoredValue { real.isFinite ? .real(real) : .null }
}
