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
  let step: AggregateStep
  let finish: @Sendable (AggregateState) throws -> Result

  init(
    _ projection: ProjectedPath, add: @escaping @Sendable (inout AggregateState, StoredValue) throws -> Void,
    finish: @escaping @Sendable (AggregateState) throws -> Result
  ) {
    step = AggregateStep(projection: projection, add: add)
    self.finish = finish
  }
}

/// The accumulation of an aggregate over the values of a property.
struct AggregateStep: Sendable {
  let projection: ProjectedPath
  let add: @Sendable (inout AggregateState, StoredValue) throws -> Void
}

/// The intermediate state of an aggregate.
struct AggregateState {
  var count = 0
  var numbers = NumberSum()
  var extreme = StoredValue.null
  var seen: Set<StoredValue> = []
}

extension EntityColumns {
  /// The number of objects.
  public var count: Aggregate<Int> {
    Aggregate(ProjectedPath(path, kind: .integer), add: { state, _ in state.count += 1 }, finish: { $0.count })
  }
}

extension AttributePath {
  /// The number of objects with a value that is not nil.
  public var count: Aggregate<Int> {
    Aggregate(
      _projection, add: { state, value in if !value.isNull { state.count += 1 } }, finish: { $0.count })
  }

  /// The number of distinct values, without nil.
  public var distinctCount: Aggregate<Int> {
    Aggregate(
      _projection,
      add: { state, value in
        if !value.isNull { state.seen.insert(ValueOrder.normalized(value, kind: Value.valueKind)) }
      }, finish: { $0.seen.count })
  }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// The smallest value; nil if there is none.
  public var minimum: Aggregate<Value.Unwrapped?> { extreme(below: true) }

  /// The greatest value; nil if there is none.
  public var maximum: Aggregate<Value.Unwrapped?> { extreme(below: false) }

  private func extreme(below: Bool) -> Aggregate<Value.Unwrapped?> {
    Aggregate(
      _projection,
      add: { state, value in
        guard !value.isNull else { return }
        let order = ValueOrder.compare(value, state.extreme, kind: Value.valueKind)
        if state.extreme.isNull || (below ? order < 0 : order > 0) { state.extreme = value }
      },
      finish: { state in
        if state.extreme.isNull { return nil }
        let row = ProjectedRow()
        row.values = [state.extreme]
        return Value.Unwrapped.read(row, 0)
      })
  }
}

extension AttributePath where Value: SummableAttributeValue {
  /// The sum of all values; zero if there are none.
  ///
  /// Integers and decimals are added exactly. A sum that does not fit in 64 bits, or in the 38 digits of `Decimal`,
  /// throws ``StoreError`` with the code `limit`. Real numbers are added exactly and rounded once.
  public var sum: Aggregate<Value.Sum> {
    Aggregate(_projection, add: { try Value._add(&$0.numbers, $1) }, finish: { try Value._sum($0.numbers) })
  }

  /// The sum divided by the number of values; nil if there are none. Decimals are rounded to 38 digits.
  public var average: Aggregate<Value.Average?> {
    Aggregate(
      _projection, add: { try Value._add(&$0.numbers, $1) },
      finish: { try $0.numbers.count == 0 ? nil : Value._average($0.numbers) })
  }
}

// MARK: - Aggregating

extension ObjectGraph {

  // MARK: Steps

  /// The aggregates' states for each group, sorted by key. Without keys there is exactly one group, even if no object
  /// matches.
  func aggregated<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, by keys: [ProjectedPath], _ steps: [AggregateStep]
  ) throws -> [AggregateGroup] {
    try prepareFetch()
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.limit == nil && storeRequest.offset == 0 { storeRequest.sort = [] }
    var groups = AggregateGroups(keys: keys, steps)
    try forEachRow(of: storeRequest, request.rules, keys + steps.map(\.projection)) { try groups.add($0) }
    return groups.sorted
  }
}

// MARK: - Aggregate groups

/// A group's key and the states of its aggregates.
struct AggregateGroup {
  let key: [StoredValue]
  var states: [AggregateState]
}

/// The groups of a request, built row by row.
struct AggregateGroups {
  private let steps: [AggregateStep]
  private let kinds: [ValueKind]
  private var places: [[StoredValue]: Int] = [:]
  private var groups: [AggregateGroup] = []

  init(keys: [ProjectedPath], _ steps: [AggregateStep]) {
    self.steps = steps
    kinds = keys.map(\.kind)
    if keys.isEmpty { _ = place(of: []) }
  }

  mutating func add(_ values: [StoredValue]) throws {
    let place = kinds.isEmpty ? 0 : place(of: Array(values.prefix(kinds.count)))
    for number in steps.indices {
      try steps[number].add(&groups[place].states[number], values[kinds.count + number])
    }
  }

  private mutating func place(of key: [StoredValue]) -> Int {
    let same = normalized(key, kinds)
    if let place = places[same] { return place }
    places[same] = groups.count
    groups.append(AggregateGroup(key: key, states: steps.map { _ in AggregateState() }))
    return groups.count - 1
  }

  var sorted: [AggregateGroup] {
    groups.sorted { left, right in
      for (kind, values) in zip(kinds, zip(left.key, right.key)) {
        let order = ValueOrder.compare(values.0, values.1, kind: kind)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }
}

// MARK: - Summing

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

// MARK: - Count values

/// The number of members of a to-many relationship, as a value to fetch and as a sort key.
extension CountPath: ValueToken {
  /// The type of a count.
  public typealias Value = Int64

  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: .integer) }

  /// Objects with the fewest members first.
  ///
  /// ```swift
  /// EmotionDiary.all.sorted { $0.images.count.descending }
  /// ```
  public var ascending: SortTerm { SortTerm(SortKey(path, kind: .integer)) }

  /// Objects with the most members first.
  public var descending: SortTerm { SortTerm(SortKey(path, descending: true, kind: .integer)) }
}
