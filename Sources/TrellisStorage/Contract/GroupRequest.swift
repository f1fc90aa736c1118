public import TrellisModel

/// A request to a store for groups of rows: the rows of a request that have the same keys, with aggregates of their
/// values.
///
/// A group is returned as one array: its keys, then its aggregates, see ``StoreConnection/fetchGroups(_:_:)``. The
/// condition and the sort keys refer to these columns: their paths start at variable 0 and have one step, the number of
/// the column.
public struct GroupRequest: Sendable {
  /// The rows, after the limit and offset of their request. Its order makes no difference without them.
  public var rows: StoreRequest
  /// The values that the rows of a group have in common: equal as in predicates, where null equals null. Without keys
  /// there is exactly one group, even of no rows.
  public var keys: [ProjectedValue]
  /// The aggregates of each group.
  public var aggregates: [GroupAggregate]
  /// The condition on a group's columns; nil for all groups. It consists of comparisons of columns with values and with
  /// each other.
  public var condition: QueryPredicate?
  /// The sort keys. Ties are broken by the groups' keys, in ascending order, the first key first.
  public var sort: [SortKey]
  /// The largest number of groups; nil for all.
  public var limit: Int?
  /// The number of groups to skip.
  public var offset: Int

  /// Creates a request for groups of rows.
  public init(
    _ rows: StoreRequest, keys: [ProjectedValue], aggregates: [GroupAggregate], condition: QueryPredicate? = nil,
    sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0
  ) {
    self.rows = rows
    self.keys = keys
    self.aggregates = aggregates
    self.condition = condition
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }

  /// The path of the condition and the sort keys to a column of a group.
  public static func path(toColumn column: Int) -> PropertyPath { PropertyPath(variable: 0).appending(column) }
}

/// An aggregate of a value over the rows of a group.
public struct GroupAggregate: Hashable, Sendable {
  /// A function of many values. All but ``rows`` ignore null, as which NaN counts.
  public enum Function: Hashable, Sendable, CaseIterable {
    /// The number of rows, whatever the value.
    case rows
    /// The number of values.
    case count
    /// The number of different values, see ``ValueOrder/normalized(_:kind:)``.
    case distinctCount
    /// The first value in the order of ``ValueOrder``, or the last; null without values.
    case minimum, maximum
    /// The exact sum; zero without values. An integer sum beyond 64 bits is the nearest real, and a decimal sum has any
    /// number of digits, so that conditions and sort keys are correct for sums that do not fit in an attribute. Reals
    /// are rounded once, to an infinity if the sum is too large; the sum of opposite infinities is null.
    case sum
    /// The exact sum divided by the number of values; null without values. For integers it is a real. Decimals are
    /// rounded to 38 digits.
    case average
  }

  /// The function.
  public var function: Function
  /// The value of a row.
  public var value: ProjectedValue

  /// Creates an aggregate.
  public init(_ function: Function, _ value: ProjectedValue) {
    self.function = function
    self.value = value
  }

  /// The kind of the results.
  public var kind: ValueKind {
    switch function {
    case .rows, .count, .distinctCount: .integer
    case .minimum, .maximum, .sum: value.kind
    case .average: value.kind == .integer ? .real : value.kind
    }
  }
}

extension GroupRequest {
  /// The sort keys that determine the order completely: those of the request, then the keys of the groups.
  package var order: [SortKey] {
    var order = sort
    for (column, key) in keys.enumerated() {
      let path = Self.path(toColumn: column)
      // Groups with equal values in a column are equal in every later sort key of it.
      let isSorted = sort.contains { $0.path == path && $0.options.isEmpty }
      if !isSorted { order.append(SortKey(path, kind: key.kind)) }
    }
    return order
  }

  /// - Throws: ``StoreError`` with the code `limit` if there are more sort keys than ``StoreRequest/sortKeyLimit``.
  package func checkSortKeys() throws(StoreError) {
    try rows.checkSortKeys()
    var sorted = rows
    sorted.sort = order
    try sorted.checkSortKeys()
  }
}
