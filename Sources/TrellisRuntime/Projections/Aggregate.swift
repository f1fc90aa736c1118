import TrellisQuery
import TrellisSchema
import TrellisStorage

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
