package import TrellisSchema

/// A date that no attribute can hold is represented in a predicate as NaN. Compared as nil, it would silently give
/// wrong answers to comparisons such as "before the end of time", so every walk of the tree rejects it.
extension Comparison {
  /// Whether one side is a date that no attribute can hold.
  package var hasUnkeptDate: Bool { kind == .integer && (left.isNoNumber || right.isNoNumber) }
}

extension QueryPredicate {
  /// Whether a list contains a date that no attribute can hold.
  package static func haveUnkeptDate(_ values: [StoredValue], _ kind: ValueKind) -> Bool {
    kind == .integer && values.contains { if case .real(let number) = $0 { number.isNaN } else { false } }
  }
}

extension Operand {
  fileprivate var isNoNumber: Bool {
    if case .value(.real(let number)) = self { number.isNaN } else { false }
  }
}

extension EvaluationError {
  /// A predicate compares with a date that no attribute can hold.
  package static let unkeptDate = EvaluationError(
    "A predicate compares with a date further from 1970 than 292,000 years. Compare with one that an attribute can keep."
  )
}
