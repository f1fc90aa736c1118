package import TrellisSchema

/// Dates that no attribute can keep stand in a predicate as a number that is none. Compared as nil, they would answer questions such
/// as "before the end of time" wrongly without a word, so every walk of the tree refuses them.
extension Comparison {
  /// Whether one side is a date that no attribute can keep.
  package var hasUnkeptDate: Bool { kind == .integer && (left.isNoNumber || right.isNoNumber) }
}

extension QueryPredicate {
  /// Whether one of a list's values is a date that no attribute can keep.
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
  /// A predicate compares with a date that no attribute can keep.
  package static let unkeptDate = EvaluationError(
    "A predicate compares with a date further from 1970 than 292,000 years. Compare with one that an attribute can keep."
  )
}
