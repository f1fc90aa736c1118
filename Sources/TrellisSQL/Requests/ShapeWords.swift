package import TrellisQuery

extension ValueKind {
  var word: UInt8 {
    switch self {
    case .integer: 0
    case .real: 1
    case .text: 2
    case .decimal: 3
    case .blob: 4
    }
  }
}

extension ComparisonOperator {
  var word: UInt64 {
    switch self {
    case .equal: 0
    case .notEqual: 1
    case .less: 2
    case .lessOrEqual: 3
    case .greater: 4
    case .greaterOrEqual: 5
    case .contains: 6
    case .hasPrefix: 7
    case .hasSuffix: 8
    case .like: 9
    case .matches: 10
    case .matching: 11
    }
  }
}

extension Quantifier {
  var word: UInt64 {
    switch self {
    case .any: 0
    case .all: 1
    case .none: 2
    }
  }
}

extension ArithmeticOperator {
  /// The operator's number in SQL.
  var word: UInt64 {
    switch self {
    case .add: 0
    case .subtract: 1
    case .multiply: 2
    case .divide: 3
    case .power: 4
    case .remainder: 5
    case .bitAnd: 6
    case .bitOr: 7
    case .bitXor: 8
    case .shiftLeft: 9
    case .shiftRight: 10
    }
  }

  package init?(word: Int64) {
    guard let found = Self.allCases.first(where: { $0.word == UInt64(bitPattern: word) }) else { return nil }
    self = found
  }
}

extension ValueFunction {
  /// The function's number in SQL.
  var word: UInt64 {
    switch self {
    case .lowercase: 0
    case .uppercase: 1
    case .length: 2
    case .absolute: 3
    case .negative: 4
    case .ceiling: 5
    case .floor: 6
    case .truncated: 7
    case .rounded: 8
    case .decimal: 9
    case .real: 10
    case .microseconds: 11
    case .squareRoot: 12
    case .naturalLogarithm: 13
    case .logarithm: 14
    case .exponential: 15
    case .complement: 16
    case .text: 17
    case .seconds: 18
    }
  }

  package init?(word: Int64) {
    guard let found = Self.allCases.first(where: { $0.word == UInt64(bitPattern: word) }) else { return nil }
    self = found
  }
}

extension AggregateFunction {
  var word: UInt64 {
    switch self {
    case .sum: 0
    case .average: 1
    case .minimum: 2
    case .maximum: 3
    }
  }
}

extension ValueKind {
  /// The suffix of aggregate function names in SQL for values of this kind. Each kind has its own function, because a
  /// sum of no values could not tell its kind otherwise.
  package var numberName: String {
    switch self {
    case .integer: "integer"
    case .decimal: "decimal"
    case .real, .text, .blob: "real"
    }
  }
}

extension MemberPlace {
  /// A different number for each position, including the first and the last.
  var word: UInt64 {
    switch self {
    case .first: 0
    case .last: 1
    case .at(let number): UInt64(UInt32(clamping: max(-1, number) + 1)) + 2
    }
  }
}
