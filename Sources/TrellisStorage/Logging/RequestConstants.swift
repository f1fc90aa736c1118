import TrellisQuery
import TrellisSchema

extension StoreRequest {
  /// The values of a request: those of its predicate in order, those of its sort, then its limit and offset.
  var constants: [StoredValue] {
    (predicate?.constants ?? []) + sort.compactMap { $0.query.map { .text($0) } }
      + (limit.map { [.integer(Int64($0))] } ?? [])
      + (offset > 0 ? [.integer(Int64(offset))] : [])
  }
}

extension BatchUpdate {
  /// The values of the request, then those of the assignments.
  var constants: [StoredValue] { request.constants + assignments.flatMap(\.value.constants) }
}

extension QueryPredicate {
  fileprivate var constants: [StoredValue] {
    switch self {
    case .constant: []
    case .not(let inner), .quantified(_, _, variable: _, let inner): inner.constants
    case .and(let terms), .or(let terms): terms.flatMap(\.constants)
    case .comparison(let comparison): comparison.left.constants + comparison.right.constants
    case .isIn(let operand, let values, _): operand.constants + values
    }
  }
}

extension Operand {
  fileprivate var constants: [StoredValue] {
    switch self {
    case .value(let value): [value]
    case .path, .count, .entity, .now, .parameter: []
    case .computed(.arithmetic(_, let left, let right)): left.constants + right.constants
    case .computed(.function(_, let inner)), .computed(.aggregate(_, _, variable: _, let inner, _)),
      .computed(.member(_, _, variable: _, let inner)):
      inner.constants
    case .computed(.conditional(let condition, let first, let second)):
      condition.constants + first.constants + second.constants
    case .computed(.list(_, let operands, _)): operands.flatMap(\.constants)
    case .computed(.countWhere(_, variable: _, let condition)): condition.constants
    }
  }
}
