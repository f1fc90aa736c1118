import Foundation
public import TrellisSchema

/// Functions of one stored value, shared by the evaluation in memory and all stores.
extension ValueArithmetic {
  /// The result; null if there is none.
  public static func apply(_ function: ValueFunction, _ value: StoredValue) -> StoredValue {
    switch function {
    case .lowercase: text(value) { $0.lowercased() }
    case .uppercase: text(value) { $0.uppercased() }
    case .length: length(value)
    case .absolute: isBelowZero(value) ? negative(value) : number(value)
    case .negative: negative(value)
    case .ceiling: rounded(value, .up)
    case .floor: rounded(value, .down)
    case .truncated: rounded(value, .towardZero)
    case .rounded: rounded(value, .toNearestOrAwayFromZero)
    case .decimal: decimal(value).map { .text($0.text) } ?? .null
    case .real: real(value).map { .real($0) } ?? .null
    case .microseconds: microseconds(value)
    case .squareRoot: real(of: value, sqrt)
    case .naturalLogarithm: real(of: value, log)
    case .logarithm: real(of: value, log10)
    case .exponential: real(of: value, exp)
    case .complement: if case .integer(let bits) = value { .integer(~bits) } else { .null }
    case .text: digits(value)
    case .seconds: seconds(value)
    }
  }

  /// The start of 2001, in microseconds since 1970.
  package static let referenceDate: Int64 = 978_307_200_000_000

  private static func seconds(_ value: StoredValue) -> StoredValue {
    guard case .integer(let micros) = value else { return .null }
    let (since, isTooLarge) = micros.subtractingReportingOverflow(referenceDate)
    return isTooLarge ? .null : .real(Double(since) / 1_000_000)
  }

  private static func real(of value: StoredValue, _ function: (Double) -> Double) -> StoredValue {
    guard let result = real(value).map(function), result.isFinite else { return .null }
    return .real(result)
  }

  private static func digits(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer(let integer): .text(String(integer))
    // A database file may lose the sign of zero.
    case .real(let real): real.isNaN ? .null : .text(real == 0 ? "0.0" : real.description)
    case .text: value
    case .null, .blob, .file: .null
    }
  }

  private static func text(_ value: StoredValue, _ body: (String) -> String) -> StoredValue {
    if case .text(let text) = value { .text(body(text)) } else { .null }
  }

  private static func length(_ value: StoredValue) -> StoredValue {
    switch value {
    case .text(let text): .integer(Int64(text.unicodeScalars.count))
    case .blob(let bytes): .integer(Int64(bytes.count))
    case .file(let file): .integer(Int64(file.size))
    case .null, .integer, .real: .null
    }
  }

  private static func isBelowZero(_ value: StoredValue) -> Bool {
    switch value {
    case .integer(let integer): integer < 0
    case .real(let real): real < 0
    case .text(let text): text.utf8.first == UInt8(ascii: "-")
    case .null, .blob, .file: false
    }
  }

  /// The value if it is a number, otherwise null.
  private static func number(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer, .real: value
    case .text(let text): DecimalNumber(text).map { .text($0.text) } ?? .null
    case .null, .blob, .file: .null
    }
  }

  private static func negative(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer(let integer):
      let (result, isTooLarge) = Int64(0).subtractingReportingOverflow(integer)
      return isTooLarge ? .null : .integer(result)
    case .real(let real): return .real(-real)
    case .text(let text): return DecimalNumber(text).map { .text((-$0).text) } ?? .null
    case .null, .blob, .file: return .null
    }
  }

  private static func rounded(_ value: StoredValue, _ rule: FloatingPointRoundingRule) -> StoredValue {
    switch value {
    case .integer: value
    case .real(let real): .real(real.rounded(rule))
    case .text(let text): DecimalNumber(text).map { .text($0.whole(rule).text) } ?? .null
    case .null, .blob, .file: .null
    }
  }

  private static func microseconds(_ value: StoredValue) -> StoredValue {
    if case .real(let real) = value {
      return Int64(exactly: (real * 1_000_000).rounded()).map { .integer($0) } ?? .null
    }
    guard let seconds = decimal(value) else { return .null }
    let micros = (seconds * DecimalNumber(1_000_000)).whole(.toNearestOrAwayFromZero)
    return micros.integer.map { .integer($0) } ?? .null
  }
}
