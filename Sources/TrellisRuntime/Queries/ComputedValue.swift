public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// A value in a predicate that is made of others: a sum, a length, a count.
///
/// ```swift
/// EmotionDiary.where { $0.images.sum { $0.size } > 1_000_000 }
/// ```
/// Where there is no result, such as an average of nothing, it is nil, for which no comparison but `!=` holds.
public struct ComputedValue<Value: AttributeValue>: Sendable {
  let operand: Operand

  init(_ computation: Computation) { operand = .computed(computation) }

  fileprivate func compared(_ relation: ComparisonOperator, _ value: Value) -> QueryCondition {
    QueryCondition(
      .comparison(Comparison(operand, relation, .value(value.storedValue), kind: Value.valueKind)))
  }

  public static func == (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.equal, right) }
  public static func != (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.notEqual, right) }
}

extension ComputedValue where Value: OrderedAttributeValue {
  public static func < (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.less, right) }
  public static func <= (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.lessOrEqual, right) }
  public static func > (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.greater, right) }
  public static func >= (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.greaterOrEqual, right) }
}

extension ToManyPath {
  /// The sum of an attribute over the members; nils count nothing, and the sum of nothing is 0. A sum of whole numbers
  /// beyond 64 bits is nil.
  public func sum<Value: SummableAttributeValue>(
    _ value: (Columns) -> AttributePath<Value>
  ) -> ComputedValue<Value.Sum> {
    ComputedValue(aggregate(.sum, value))
  }

  /// The average of an attribute over the members where it is not nil; nil when there are none.
  public func average<Value: SummableAttributeValue>(
    _ value: (Columns) -> AttributePath<Value>
  ) -> ComputedValue<Value.Average> {
    ComputedValue(aggregate(.average, value))
  }

  /// The smallest value of an attribute among the members; nil when there is none.
  public func minimum<Value: OrderedAttributeValue>(
    _ value: (Columns) -> AttributePath<Value>
  ) -> ComputedValue<Value> {
    ComputedValue(aggregate(.minimum, value))
  }

  /// The greatest value of an attribute among the members; nil when there is none.
  public func maximum<Value: OrderedAttributeValue>(
    _ value: (Columns) -> AttributePath<Value>
  ) -> ComputedValue<Value> {
    ComputedValue(aggregate(.maximum, value))
  }

  /// How many members satisfy the conditions.
  public func count(@ConditionBuilder where conditions: (Columns) -> QueryCondition) -> ComputedValue<Int64> {
    var variable = 0
    let condition = VariableScope.enter { number in
      variable = number
      return conditions(Columns(PropertyPath(variable: number)))
    }
    return ComputedValue(.countWhere(path, variable: variable, condition.predicate))
  }

  private func aggregate<Value: AttributeValue>(
    _ function: AggregateFunction, _ value: (Columns) -> AttributePath<Value>
  ) -> Computation {
    let variable = VariableScope.next
    let values = value(Columns(PropertyPath(variable: variable)))
    return .aggregate(function, path, variable: variable, .path(values.path), Value.valueKind)
  }
}

extension AttributePath where Value: TextAttributeValue {
  /// Whether the whole text looks like this: `*` stands for any number of Unicode scalars, `?` for one, and a backslash
  /// takes their meaning away.
  public func like(_ mask: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.like, .value(.text(mask)), kind: .text, options: options)
  }

  /// Whether the whole text matches a pattern, in the language that `pattern` in a model has. A pattern that is none matches
  /// nothing; in a format string it is an error.
  ///
  /// - Complexity: linear in the text for each object; no pattern takes exponential time.
  public func matches(_ pattern: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.matches, .value(.text(pattern)), kind: .text, options: options)
  }

  /// The number of Unicode scalars.
  public var length: ComputedValue<Int64> { ComputedValue(.function(.length, .path(path))) }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Whether the value lies between two others, both included.
  public func isBetween(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable { isIn(range) }
}
