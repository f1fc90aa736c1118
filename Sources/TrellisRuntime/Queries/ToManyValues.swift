import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Aggregates over the members of a to-many relationship.
extension ToManyPath {
  /// The sum of a value over the members. Nil values are ignored, and the sum of no values is 0. A sum of integers
  /// beyond 64 bits is nil.
  ///
  /// ```swift
  /// Order.where { $0.items.sum { $0.price * $0.quantity.decimal } > 100 }
  /// ```
  public func sum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value.Sum>
  where Member.Value: SummableAttributeValue {
    ComputedValue(aggregate(.sum, value))
  }

  /// The average of a value over the members where it is not nil; nil if there are none.
  public func average<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value.Average>
  where Member.Value: SummableAttributeValue {
    ComputedValue(aggregate(.average, value))
  }

  /// The smallest value among the members; nil if there is none.
  public func minimum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value>
  where Member.Value: OrderedAttributeValue {
    ComputedValue(aggregate(.minimum, value))
  }

  /// The greatest value among the members; nil if there is none.
  public func maximum<Member: QueriedValue>(_ value: (Columns) -> Member) -> ComputedValue<Member.Value>
  where Member.Value: OrderedAttributeValue {
    ComputedValue(aggregate(.maximum, value))
  }

  /// The number of members that satisfy the conditions.
  public func count(@ConditionBuilder where conditions: (Columns) -> QueryCondition) -> ComputedValue<Int64> {
    VariableScope.enter { variable in
      let condition = conditions(Columns(PropertyPath(variable: variable)))
      return ComputedValue(.countWhere(path, variable: variable, condition.predicate))
    }
  }

  private func aggregate<Member: QueriedValue>(
    _ function: AggregateFunction, _ value: (Columns) -> Member
  ) -> Computation {
    VariableScope.enter { variable in
      let values = value(Columns(PropertyPath(variable: variable)))
      return .aggregate(function, path, variable: variable, values._operand, Member.Value.valueKind)
    }
  }
}
