import TrellisQuery
import TrellisSchema
import TrellisStorage

/// One side of a comparison, as SQL.
struct TranslatedOperand {
  enum Content {
    /// A value of the request, by its position. Whether the value is null is part of the statement.
    case value(Int, isNull: Bool)
    case column(TranslatedProperty)
  }

  let content: Content

  var isNull: Bool {
    if case .value(_, isNull: true) = content { true } else { false }
  }

  var isOptional: Bool {
    switch content {
    case .value(_, let isNull): isNull
    case .column(let column): column.isOptional
    }
  }

  var isColumn: Bool {
    if case .column = content { true } else { false }
  }
}

extension PredicateTranslator {
  static let decimalOrder = " COLLATE trellis_decimal"

  static func folded(_ sql: String, _ options: TextOptions) -> String { "trellis_fold(\(sql), \(options.rawValue))" }

  mutating func comparison(_ comparison: Comparison) throws(StoreError) -> String {
    let left = try operand(comparison.left)
    let right = try operand(comparison.right)
    switch comparison.relation {
    case .equal, .notEqual:
      let isEqual = comparison.relation == .equal
      return try externalEquality(left, right, isEqual: isEqual)
        ?? equality(left, right, comparison, isEqual: isEqual)
    case .less: return order(left, "<", right, comparison)
    case .lessOrEqual: return order(left, "<=", right, comparison)
    case .greater: return order(left, ">", right, comparison)
    case .greaterOrEqual: return order(left, ">=", right, comparison)
    case .contains: return search("trellis_contains", left, right, comparison)
    case .hasPrefix: return prefix(left, right, comparison)
    case .hasSuffix: return search("trellis_suffix", left, right, comparison)
    case .like: return search("trellis_like", left, right, comparison)
    case .matching: return try matching(left, right, comparison)
    case .matches:
      let ignoresCase = comparison.options.contains(.caseInsensitive) ? 1 : 0
      return "trellis_matches(\(text(left, comparison)), \(text(right, comparison)), \(ignoresCase))"
    }
  }

  mutating func operand(_ operand: Operand) throws(StoreError) -> TranslatedOperand {
    switch operand {
    case .value(let value): TranslatedOperand(content: .value(skipValue(), isNull: value.isNil))
    case .path(let path): TranslatedOperand(content: .column(try property(path)))
    case .count(let path):
      TranslatedOperand(content: .column(TranslatedProperty(sql: try count(path), isOptional: false)))
    case .entity(let path): TranslatedOperand(content: .column(try entityName(path)))
    case .now: TranslatedOperand(content: .value(skipValue(), isNull: false))
    case .computed(let computation):
      TranslatedOperand(content: .column(TranslatedProperty(sql: try self.computation(computation), isOptional: true)))
    case .parameter: throw Self.noValue
    }
  }

  /// The operand's text, folded if the comparison ignores case or diacritics.
  private mutating func text(_ operand: TranslatedOperand, _ comparison: Comparison) -> String {
    let options = comparison.folding
    switch operand.content {
    case .value(let number, _):
      return parameter(number, comparison.kind == .decimal ? .canonical : options.isEmpty ? .plain : .folded(options))
    case .column(let column): return options.isEmpty ? column.sql : Self.folded(column.sql, options)
    }
  }

  private mutating func equality(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison, isEqual: Bool
  ) -> String {
    // SQLite uses an index for the plain forms in every version.
    if right.isNull && left.isColumn { return "\(text(left, comparison)) \(isEqual ? "IS NULL" : "IS NOT NULL")" }
    if left.isNull && right.isColumn { return "\(text(right, comparison)) \(isEqual ? "IS NULL" : "IS NOT NULL")" }
    let isPlain = isEqual && !(left.isOptional && right.isOptional)
    let sign = isEqual ? (isPlain ? "=" : "IS") : "IS NOT"
    // Canonical decimals are equal exactly when their texts are equal, but two columns are compared as numbers.
    let suffix = comparison.kind == .decimal && left.isColumn && right.isColumn ? Self.decimalOrder : ""
    return "\(text(left, comparison)) \(sign) \(text(right, comparison))\(suffix)"
  }

  private mutating func order(
    _ left: TranslatedOperand, _ sign: String, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    let suffix = comparison.kind == .decimal ? Self.decimalOrder : ""
    return "\(text(left, comparison)) \(sign) \(text(right, comparison))\(suffix)"
  }

  mutating func search(
    _ function: String, _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    "\(function)(\(text(left, comparison)), \(text(right, comparison)))"
  }

  /// A range that an index can serve: texts with a prefix lie between the prefix and the next text of its length.
  private mutating func prefix(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    guard case .value(let number, isNull: false) = right.content, case .column(let column) = left.content,
      comparison.options.isEmpty
    else { return search("trellis_prefix", left, right, comparison) }
    return "(\(column.sql) >= \(parameter(number, .plain)) AND \(column.sql) < \(parameter(number, .endOfPrefix)))"
  }

  mutating func isIn(_ operand: Operand, _ values: [StoredValue], _ kind: ValueKind) throws(StoreError) -> String {
    let tested = try self.operand(operand)
    let list = skipValue()
    let comparison = Comparison(operand, .equal, operand, kind: kind)
    let sql = text(tested, comparison)
    if case .column(let column) = tested.content, column.isExternal { return isIn(external: sql, list, values) }
    let marker = parameter(list, kind == .decimal ? .canonical : .plain)
    let isListed = "\(sql) IN \(ListParameter.values(marker))"
    return values.hasNull ? "(\(isListed) OR \(sql) IS NULL)" : isListed
  }
}
