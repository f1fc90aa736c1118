public import Foundation
public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// A number or value computed from a property of many objects. Nil values are ignored, except by
/// ``EntityColumns/count``, which counts all objects.
///
/// ```swift
/// let (entries, total) = try context.aggregate(Entry.all) { ($0.count, $0.amount.sum) }
/// ```
public struct Aggregate<Result>: Sendable {
  /// The aggregate as stores compute it.
  let stored: GroupAggregate
  /// Reads the result of a store.
  let read: @Sendable (StoredValue) throws -> Result
  /// A result in its stored form, to compare groups with.
  let storedValue: @Sendable (Result) -> StoredValue

  init(
    _ function: GroupAggregate.Function, _ projection: ProjectedValue,
    read: @escaping @Sendable (StoredValue) throws -> Result,
    storedValue: @escaping @Sendable (Result) -> StoredValue
  ) {
    stored = GroupAggregate(function, projection)
    self.read = read
    self.storedValue = storedValue
  }
}

extension Aggregate<Int> {
  fileprivate init(counting function: GroupAggregate.Function, _ projection: ProjectedValue) {
    self.init(function, projection, read: { $0.count }, storedValue: { .integer(Int64($0)) })
  }
}

extension StoredValue {
  fileprivate var count: Int { if case .integer(let count) = self { Int(clamping: count) } else { 0 } }
}

extension EntityColumns {
  /// The number of objects.
  public var count: Aggregate<Int> { Aggregate(counting: .rows, ProjectedValue(path, kind: .integer)) }
}

/// Aggregates of an attribute or of a computed value over many objects.
extension QueriedValue {
  fileprivate var projected: ProjectedValue { ProjectedValue(_operand, kind: Value.valueKind) }

  /// The number of objects with a value that is not nil.
  public var count: Aggregate<Int> { Aggregate(counting: .count, projected) }

  /// The number of distinct values, without nil.
  public var distinctCount: Aggregate<Int> { Aggregate(counting: .distinctCount, projected) }
}

extension QueriedValue where Value: OrderedAttributeValue {
  /// The smallest value; nil if there is none.
  public var minimum: Aggregate<Value.Unwrapped?> { extreme(.minimum) }

  /// The greatest value; nil if there is none.
  public var maximum: Aggregate<Value.Unwrapped?> { extreme(.maximum) }

  private func extreme(_ function: GroupAggregate.Function) -> Aggregate<Value.Unwrapped?> {
    Aggregate(function, projected, read: { try ProjectedRow.read($0) }, storedValue: \.storedValue)
  }
}

extension QueriedValue where Value: SummableAttributeValue {
  /// The sum of all values; zero if there are none.
  ///
  /// All numbers are added exactly. A sum of decimals of more than 38 digits, as of quotients, and one of real numbers is
  /// rounded once. A sum that exceeds 64 bits, or the range of `Decimal`, throws ``StoreError`` with the code `limit`.
  public var sum: Aggregate<Value.Sum> {
    Aggregate(.sum, projected, read: { try Value._sum($0) }, storedValue: \.storedValue)
  }

  /// The sum divided by the number of values; nil if there are none. Decimals are rounded to 38 digits.
  public var average: Aggregate<Value.Average?> {
    Aggregate(.average, projected, read: { try ProjectedRow.read($0) }, storedValue: \.storedValue)
  }
}

extension ProjectedRow {
  /// - Throws: ``StoreError`` with the code `unreadable-value` if the type has no such value.
  fileprivate static func read<Value: AttributeValue>(_ value: StoredValue) throws -> Value {
    let row = ProjectedRow()
    row.values = [value]
    let result = Value.read(row, 0)
    guard let problem = row.problem else { return result }
    throw StoreError(
      .unreadableValue, "An aggregate has no value that fits: \(problem.what).",
      remedy: problem.remedy ?? "Repair the stored values with another tool, or restore the file from a backup.")
  }
}

// MARK: - Summing

/// A number type with sums and averages, optional or not.
public protocol SummableAttributeValue: OrderedAttributeValue {
  /// The type of a sum, wide enough for many values.
  associatedtype Sum: OrderedAttributeValue
  /// The type of an average.
  associatedtype Average: OrderedAttributeValue
  /// The exact sum as a value of its type; throws if it does not fit.
  @_spi(Generated) static func _sum(_ sum: StoredValue) throws -> Sum
}

private func tooLarge(_ what: String) -> StoreError {
  StoreError(.limit, "The sum does not fit in \(what).", remedy: "Sum up fewer objects, or values of another type.")
}

/// An integer type that is stored as an integer.
public protocol SummableInteger: SummableAttributeValue where Sum == Int64, Average == Double {}

extension SummableInteger {
  @_spi(Generated) public static func _sum(_ sum: StoredValue) throws -> Int64 {
    guard case .integer(let result) = sum else { throw tooLarge("64 bits") }
    return result
  }
}

extension Int16: SummableInteger {}
extension Int32: SummableInteger {}
extension Int64: SummableInteger {}

/// A floating-point type.
public protocol SummableReal: SummableAttributeValue where Sum == Double, Average == Double {}

extension SummableReal {
  @_spi(Generated) public static func _sum(_ sum: StoredValue) -> Double {
    if case .real(let result) = sum { result } else { .nan }
  }
}

extension Float: SummableReal {}
extension Double: SummableReal {}

extension Decimal: SummableAttributeValue {
  /// The type of a sum.
  public typealias Sum = Decimal
  /// The type of an average.
  public typealias Average = Decimal

  @_spi(Generated) public static func _sum(_ sum: StoredValue) throws -> Decimal {
    let row = ProjectedRow()
    row.values = [sum]
    let result = Decimal.read(row, 0)
    if row.problem != nil { throw tooLarge("a decimal number") }
    return result
  }
}

extension Optional: SummableAttributeValue where Wrapped: SummableAttributeValue {
  /// The type of a sum.
  public typealias Sum = Wrapped.Sum
  /// The type of an average.
  public typealias Average = Wrapped.Average

  @_spi(Generated) public static func _sum(_ sum: StoredValue) throws -> Wrapped.Sum { try Wrapped._sum(sum) }
}

// MARK: - Count values

/// The number of members of a to-many relationship, as a value to fetch and as a sort key.
extension CountPath: ValueToken {
  /// The type of a count.
  public typealias Fetched = Int64

  @_spi(Generated) public var _projection: ProjectedValue { ProjectedValue(path, kind: .integer) }

  /// Objects with the fewest members first.
  ///
  /// ```swift
  /// EmotionDiary.all.sorted { $0.images.count.descending }
  /// ```
  public var ascending: SortTerm { SortTerm(SortKey(path, kind: .integer)) }

  /// Objects with the most members first.
  public var descending: SortTerm { SortTerm(SortKey(path, descending: true, kind: .integer)) }
}
