import Foundation
public import TrellisSchema

/// Arithmetic on stored values, shared by the evaluation in memory and all stores.
public enum ValueArithmetic {
  /// The result; null if there is none. A text counts as a decimal.
  public static func compute(_ sign: ArithmeticOperator, _ left: StoredValue, _ right: StoredValue) -> StoredValue {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): integer(sign, a, b).map { .integer($0) } ?? .null
    case (.text(let a), .text(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    case (.text(let a), .integer(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    case (.integer(let a), .text(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    default: real(sign, real(left), real(right))
    }
  }

  private static func integer(_ sign: ArithmeticOperator, _ a: Int64, _ b: Int64) -> Int64? {
    let (result, isTooLarge) =
      switch sign {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      case .power: power(a, b)
      case .remainder: a.remainderReportingOverflow(dividingBy: b)
      case .bitAnd: (a & b, false)
      case .bitOr: (a | b, false)
      case .bitXor: (a ^ b, false)
      case .shiftLeft: (a << b, b < 0)
      case .shiftRight: (a >> b, b < 0)
      }
    // The remainder of a division by -1 is 0, even if the quotient overflows.
    if sign == .remainder && b == -1 { return 0 }
    return isTooLarge ? nil : result
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> (partialValue: Int64, overflow: Bool) {
    guard exponent >= 0 else { return (0, true) }
    // Powers of these never grow; any other base overflows within 64 steps.
    if base == 0 || base == 1 { return (exponent == 0 ? 1 : base, false) }
    if base == -1 { return (exponent % 2 == 0 ? 1 : -1, false) }
    guard exponent < 64 else { return (0, true) }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (next, isTooLarge) = result.multipliedReportingOverflow(by: base)
      if isTooLarge { return (0, true) }
      result = next
    }
    return (result, false)
  }

  private static func real(_ sign: ArithmeticOperator, _ a: Double?, _ b: Double?) -> StoredValue {
    guard let a, let b else { return .null }
    let result =
      switch sign {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      case .power: pow(a, b)
      case .remainder: fmod(a, b)
      case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight: Double.nan
      }
    return result.isFinite ? .real(result) : .null
  }

  private static func decimal(
    _ sign: ArithmeticOperator, _ a: DecimalNumber?, _ b: DecimalNumber?
  ) -> StoredValue {
    guard let a, let b else { return .null }
    let result: DecimalNumber? =
      switch sign {
      case .add: a + b
      case .subtract: a + (-b)
      case .multiply: a * b
      case .divide: a.divided(by: b)
      case .power: a.power(b)
      case .remainder: a.remainder(dividingBy: b)
      case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight: nil
      }
    return result?.rounded.map { .text($0.text) } ?? .null
  }

  /// The value as a real; nil if it is not a number.
  static func real(_ value: StoredValue) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let real): real.isNaN ? nil : real
    case .text(let text): DecimalNumber(text)?.real
    case .null, .blob, .file: nil
    }
  }

  static func decimal(_ value: StoredValue) -> DecimalNumber? {
    switch value {
    case .integer(let integer): DecimalNumber(integer)
    case .real(let real): real.isNaN ? nil : DecimalNumber(real)
    case .text(let text): DecimalNumber(text)
    case .null, .blob, .file: nil
    }
  }
}
