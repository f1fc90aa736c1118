import TrellisQuery
import TrellisSchema
package import TrellisStorage

/// Translates a predicate to SQL with parameters for its values.
///
/// Each term is true in SQL exactly when the predicate is true. Otherwise the term is false or null, which is the same
/// for WHERE, AND and OR. Only `not` distinguishes the two, with IS NOT TRUE. So the terms that indexes can serve stay
/// plain.
package struct PredicateTranslator {
  let layout: TableLayout
  private(set) var parameters: [Parameter] = []
  /// The objects that the variables stand for: the fetched object, then the members that enclosing quantifiers bind.
  var scopes: [TranslationScope]
  private var valueCount = 0
  private var aliasCount = 1

  init(_ layout: TableLayout, entity: Int) {
    self.layout = layout
    scopes = [TranslationScope(variable: 0, table: layout.tables[entity], alias: "t0")]
  }

  var rootAlias: String { scopes[0].alias }
  /// The FROM clause for the fetched objects.
  var rootSource: String { scopes[0].source }

  // MARK: Values

  /// A parameter for the request's next value.
  mutating func nextValue(_ form: Parameter.Form) -> String {
    valueCount += 1
    return parameter(valueCount - 1, form)
  }

  /// Another parameter for a value.
  mutating func parameter(_ value: Int, _ form: Parameter.Form) -> String {
    parameters.append(Parameter(value: value, form: form))
    return "?\(parameters.count)"
  }

  mutating func skipValue() -> Int {
    valueCount += 1
    return valueCount - 1
  }

  mutating func nextAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount - 1)"
  }

  // MARK: Logic

  /// The terms of a conjunction. A list at the top level needs no parentheses.
  mutating func conjuncts(_ predicate: QueryPredicate) throws(StoreError) -> [String] {
    guard case .and(let terms) = predicate else { return [try condition(predicate)] }
    var result: [String] = []
    for term in terms { result += try conjuncts(term) }
    return result.count > Self.flatLimit ? [Self.balanced(result[...], " AND ")] : result
  }

  mutating func condition(_ predicate: QueryPredicate) throws(StoreError) -> String {
    switch predicate {
    case .constant(let value): return value ? "1" : "0"
    case .not(let inner): return try negation(inner)
    case .and(let terms): return try joined(terms, " AND ", empty: "1", flattening: \.conjuncts)
    case .or(let terms): return try joined(terms, " OR ", empty: "0", flattening: \.disjuncts)
    case .comparison(let comparison): return try self.comparison(comparison)
    case .isIn(let operand, let values, let kind): return try isIn(operand, values, kind)
    case .quantified(let quantifier, let path, let variable, let inner):
      return try quantified(quantifier, path, variable, inner)
    }
  }

  /// A condition that is true exactly when the predicate is not true.
  private mutating func negation(_ predicate: QueryPredicate) throws(StoreError) -> String {
    switch predicate {
    case .constant(let value): return value ? "0" : "1"
    case .not(let inner): return try condition(inner)
    case .comparison(var comparison) where comparison.relation == .equal:
      comparison.relation = .notEqual
      return try self.comparison(comparison)
    case .comparison(var comparison) where comparison.relation == .notEqual:
      comparison.relation = .equal
      return try self.comparison(comparison)
    case .quantified(.any, let path, let variable, let inner): return try quantified(.none, path, variable, inner)
    case .quantified(.none, let path, let variable, let inner): return try quantified(.any, path, variable, inner)
    default: return "(\(try condition(predicate))) IS NOT TRUE"
    }
  }

  private mutating func joined(
    _ terms: [QueryPredicate], _ separator: String, empty: String,
    flattening parts: KeyPath<QueryPredicate, [QueryPredicate]?>
  ) throws(StoreError) -> String {
    var texts: [String] = []
    var open = Array(terms.reversed())
    while let term = open.popLast() {
      if let inner = term[keyPath: parts] {
        open.append(contentsOf: inner.reversed())
      } else {
        texts.append(try condition(term))
      }
    }
    return texts.isEmpty ? empty : Self.balanced(texts[...], separator)
  }

  private static let flatLimit = 32

  /// Joins terms as a balanced tree: SQLite counts each operator of a flat list as one level of nesting.
  static func balanced(_ texts: ArraySlice<String>, _ separator: String) -> String {
    if texts.count == 1, let only = texts.first { return only }
    if texts.count <= flatLimit { return "(\(texts.joined(separator: separator)))" }
    let middle = texts.startIndex + texts.count / 2
    return "(\(balanced(texts[..<middle], separator))\(separator)\(balanced(texts[middle...], separator)))"
  }

  // MARK: Errors

  package static let noValue = StoreError(
    .internalError, "The predicate has a place for a value, and none is there.",
    remedy: "Give a value for each variable.")

  package static let unkeptDate = StoreError(
    .limit, "The predicate compares with a date further from 1970 than 292,000 years.",
    remedy: "Compare with a date that an attribute can keep.")

  static func unknown(_ what: String) -> StoreError {
    StoreError(
      .internalError, "The request names a \(what) that the store does not have.",
      remedy: "Use a request that was made for this container's model.")
  }
}

extension QueryPredicate {
  fileprivate var conjuncts: [QueryPredicate]? {
    if case .and(let terms) = self { terms } else { nil }
  }

  fileprivate var disjuncts: [QueryPredicate]? {
    if case .or(let terms) = self { terms } else { nil }
  }
}
