import TrellisModel
import TrellisStorage

/// Creates random requests for groups that fit the model.
struct RandomGroups {
  /// The request for random groups of rows, by some of these values.
  static func request(
    _ rows: StoreRequest, _ given: [ProjectedValue], _ random: inout RandomNumbers
  ) -> GroupRequest {
    let values = given + [ProjectedValue(PropertyPath(variable: 0), kind: .integer)]
    let keys = (0..<random.below(4)).map { _ in random.pick(values) }
    let aggregates = (0..<(1 + random.below(4))).map { _ in
      let value = random.pick(values)
      let isNumber = value.kind != .text && value.kind != .blob
      let functions = GroupAggregate.Function.allCases.filter { isNumber || ($0 != .sum && $0 != .average) }
      return GroupAggregate(random.pick(functions), value)
    }
    let kinds = keys.map(\.kind) + aggregates.map(\.kind)
    var request = GroupRequest(rows, keys: keys, aggregates: aggregates)
    if !random.isOne(in: 3) { request.condition = condition(kinds, 2, &random) }
    request.sort = (0..<random.below(3)).map { _ in
      let column = random.below(kinds.count)
      return SortKey(
        GroupRequest.path(toColumn: column), descending: random.isOne(in: 2), kind: kinds[column],
        options: RandomValues.options(kinds[column], &random))
    }
    if random.isOne(in: 3) { request.limit = random.below(5) }
    if random.isOne(in: 4) { request.offset = random.below(3) }
    return request
  }

  private static func condition(
    _ kinds: [ValueKind], _ depth: Int, _ random: inout RandomNumbers
  ) -> QueryPredicate {
    switch depth > 0 ? random.below(6) : 5 {
    case 0: return .not(condition(kinds, depth - 1, &random))
    case 1: return .and((0..<random.below(3)).map { _ in condition(kinds, depth - 1, &random) })
    case 2: return .or((0..<random.below(3)).map { _ in condition(kinds, depth - 1, &random) })
    default:
      let column = random.below(kinds.count)
      let kind = kinds[column]
      let others = kinds.indices.filter { kinds[$0] == kind }
      let value = random.isOne(in: 8) ? .null : RandomValues.value(kind, random: &random)
      let right: Operand =
        random.isOne(in: 4) ? .path(GroupRequest.path(toColumn: random.pick(Array(others)))) : .value(value)
      let relations: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
      return .comparison(
        Comparison(.path(GroupRequest.path(toColumn: column)), random.pick(relations), right, kind: kind))
    }
  }
}
