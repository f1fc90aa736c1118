import TrellisQuery
import TrellisSchema
import TrellisStorage

/// A number or value that sums up a property of many objects. Nils are left out; only ``EntityColumns/count`` counts all.
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

/// What an aggregate does with each value.
struct AggregateStep: Sendable {
  let projection: ProjectedPath
  let add: @Sendable (inout AggregateState, StoredValue) throws -> Void
}

/// What an aggregate knows so far.
struct AggregateState {
  var count = 0
  var numbers = NumberSum()
  var extreme = StoredValue.null
  var seen: Set<StoredValue> = []
}

extension EntityColumns {
  /// How many objects there are.
  public var count: Aggregate<Int> {
    Aggregate(ProjectedPath(path, kind: .integer), add: { state, _ in state.count += 1 }, finish: { $0.count })
  }
}

extension AttributePath {
  /// How many objects have a value.
  public var count: Aggregate<Int> {
    Aggregate(
      _projection, add: { state, value in if !value.isNull { state.count += 1 } }, finish: { $0.count })
  }

  /// How many different values there are, nil not counted.
  public var distinctCount: Aggregate<Int> {
    Aggregate(
      _projection,
      add: { state, value in
        if !value.isNull { state.seen.insert(ValueOrder.normalized(value, kind: Value.valueKind)) }
      }, finish: { $0.seen.count })
  }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// The least value; nil when there is none.
  public var minimum: Aggregate<Value.Unwrapped?> { extreme(below: true) }

  /// The greatest value; nil when there is none.
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
  /// The sum of all values; zero when there are none.
  ///
  /// Integers and decimals are added exactly: a sum that does not fit in 64 bits, or in the 38 digits of `Decimal`, throws
  /// ``StoreError`` with the code `limit`. Reals are added exactly and rounded once.
  public var sum: Aggregate<Value.Sum> {
    Aggregate(_projection, add: { try Value._add(&$0.numbers, $1) }, finish: { try Value._sum($0.numbers) })
  }

  /// The sum divided by the number of values; nil when there are none. Decimals are rounded to 38 digits.
  public var average: Aggregate<Value.Average?> {
    Aggregate(
      _projection, add: { try Value._add(&$0.numbers, $1) },
      finish: { try $0.numbers.count == 0 ? nil : Value._average($0.numbers) })
  }
}
