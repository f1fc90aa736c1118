public import Foundation
import TrellisQuery
public import TrellisSchema
import TrellisStorage

/// A number type with sums and averages, optional or not.
public protocol SummableAttributeValue: OrderedAttributeValue {
  /// The type of a sum, wide enough for many values.
  associatedtype Sum: OrderedAttributeValue
  /// The type of an average.
  associatedtype Average: OrderedAttributeValue
  @_spi(Generated) static func _add(_ sum: inout NumberSum, _ value: StoredValue) throws
  @_spi(Generated) static func _sum(_ sum: NumberSum) throws -> Sum
  @_spi(Generated) static func _average(_ sum: NumberSum) throws -> Average
}

/// The intermediate state of a sum or average.
@_spi(Generated) public struct NumberSum: Sendable {
  var count = 0
  /// Wide enough for 2⁶⁴ numbers of 64 bits, so only the final result can overflow, whatever the order of the numbers.
  var integers: Int128 = 0
  var real = RealSum()
  var decimal = Decimal(0)

  static func tooLarge(_ what: String) -> StoreError {
    StoreError(.limit, "The sum does not fit in \(what).", remedy: "Sum up fewer objects, or values of another type.")
  }
}

/// An integer type that is stored as an integer.
public protocol SummableInteger: SummableAttributeValue where Sum == Int64, Average == Double {}

extension SummableInteger {
  @_spi(Generated) public static func _add(_ sum: inout NumberSum, _ value: StoredValue) {
    guard case .integer(let number) = value else { return }
    sum.count += 1
    sum.integers += Int128(number)
  }

  @_spi(Generated) public static func _sum(_ sum: NumberSum) throws -> Int64 {
    guard let result = Int64(exactly: sum.integers) else { throw NumberSum.tooLarge("64 bits") }
    return result
  }

  @_spi(Generated) public static func _average(_ sum: NumberSum) -> Double {
    Double(sum.integers) / Double(sum.count)
  }
}

extension Int16: SummableInteger {}
extension Int32: SummableInteger {}
extension Int64: SummableInteger {}

/// A floating-point type.
public protocol SummableReal: SummableAttributeValue where Sum == Double, Average == Double {}

extension SummableReal {
  @_spi(Generated) public static func _add(_ sum: inout NumberSum, _ value: StoredValue) {
    guard case .real(let number) = value, !number.isNaN else { return }
    sum.count += 1
    sum.real.add(number)
  }

  @_spi(Generated) public static func _sum(_ sum: NumberSum) -> Double { sum.real.value }
  @_spi(Generated) public static func _average(_ sum: NumberSum) -> Double { sum.real.value / Double(sum.count) }
}

extension Float: SummableReal {}
extension Double: SummableReal {}

extension Decimal: SummableAttributeValue {
  @_spi(Generated) public static func _add(_ sum: inout NumberSum, _ value: StoredValue) throws {
    guard case .text(let text) = value, var number = Decimal(string: text, locale: nil) else { return }
    sum.count += 1
    var result = Decimal(0)
    guard NSDecimalAdd(&result, &sum.decimal, &number, .plain) == .noError else {
      throw NumberSum.tooLarge("the 38 digits of a decimal number")
    }
    sum.decimal = result
  }

  @_spi(Generated) public static func _sum(_ sum: NumberSum) -> Decimal { sum.decimal }

  /// Uses the division of predicates, because Foundation's truncates after the last digit.
  @_spi(Generated) public static func _average(_ sum: NumberSum) throws -> Decimal {
    let average = ValueArithmetic.compute(.divide, sum.decimal.storedValue, .integer(Int64(sum.count)))
    guard case .text(let digits) = average, let result = Decimal(string: digits, locale: nil) else {
      throw NumberSum.tooLarge("the 38 digits of a decimal number")
    }
    return result
  }
}

extension Optional: SummableAttributeValue where Wrapped: SummableAttributeValue {
  @_spi(Generated) public static func _add(_ sum: inout NumberSum, _ value: StoredValue) throws {
    try Wrapped._add(&sum, value)
  }

  @_spi(Generated) public static func _sum(_ sum: NumberSum) throws -> Wrapped.Sum { try Wrapped._sum(sum) }
  @_spi(Generated) public static func _average(_ sum: NumberSum) throws -> Wrapped.Average { try Wrapped._average(sum) }
}
