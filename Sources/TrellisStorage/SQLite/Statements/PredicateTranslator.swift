import TrellisModel

/// Translates a predicate to SQL with parameters for its values.
///
/// Each term is true in SQL exactly when the predicate is true. Otherwise the term is false or null, which is the same
/// for WHERE, AND and OR. Only `not` distinguishes the two, with IS NOT TRUE. So the terms that indexes can serve stay
/// plain.
package struct PredicateTranslator {
  let layout: SQLiteLayout
  private(set) var parameters: [Parameter] = []
  /// The paths, with the joins that they need.
  var paths: QueryPaths
  /// The columns of groups. If present, paths lead to them instead of properties.
  var columns: [TranslatedProperty]?
  private var valueCount = 0

  package init(_ layout: SQLiteLayout, entity: Int) {
    self.layout = layout
    paths = QueryPaths(layout, entity: entity)
  }

  package var rootAlias: String { paths.rootAlias }
  package var rootSource: String { paths.rootSource }

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
    if let opposite = predicate.opposite { return try condition(opposite) }
    return "(\(try condition(predicate))) IS NOT TRUE"
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
    if texts.count <= flatLimit { return "(\(texts.separated(by: separator)))" }
    let middle = texts.startIndex + texts.count / 2
    return "(\(balanced(texts[..<middle], separator))\(separator)\(balanced(texts[middle...], separator)))"
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

// MARK: - Quantifiers

extension PredicateTranslator {
  mutating func quantified(
    _ quantifier: Quantifier, _ path: PropertyPath, _ variable: Int, _ condition: QueryPredicate
  ) throws(StoreError) -> String {
    let link = try paths.enter(path, variable: variable)
    let inner = try self.conjuncts(quantifier == .all ? .not(condition) : condition)
    let terms = ([link] + inner).separated(by: " AND ")
    let exists = "EXISTS (SELECT 1 FROM \(try paths.leaveScope()) WHERE \(terms))"
    return quantifier == .any ? exists : "NOT \(exists)"
  }

}

// MARK: - External data predicates

/// Comparisons of data in external storage. The row contains either a blob, or a text that refers to a file by its
/// content. So bytes are compared with both, and no file is read.
extension PredicateTranslator {
  /// Whether external data is equal to a value. Nil if neither side is external data, or if the value is nil.
  mutating func externalEquality(
    _ left: TranslatedOperand, _ right: TranslatedOperand, isEqual: Bool
  ) throws(StoreError) -> String? {
    switch (left.content, right.content) {
    case (.column(let column), .value(let number, isNull: false)) where column.isExternal,
      (.value(let number, isNull: false), .column(let column)) where column.isExternal:
      let row = parameter(number, .plain)
      let file = parameter(number, .reference)
      return isEqual
        ? "(\(column.sql) = \(row) OR \(column.sql) = \(file))"
        : "(\(column.sql) IS NOT \(row) AND \(column.sql) IS NOT \(file))"
    case (.column(let left), .column(let right)) where left.isExternal || right.isExternal:
      throw StoreError(
        .unsupported, "SQLite cannot compare data that may lie in files with another attribute.",
        remedy: "Compare it with a value, or compare the objects' data.")
    default: return nil
    }
  }

  /// Whether external data is in a list of values.
  mutating func isIn(external sql: String, _ list: Int, _ values: [StoredValue]) -> String {
    let rows = ListParameter.values(parameter(list, .plain))
    let files = ListParameter.values(parameter(list, .reference))
    let isListed = "\(sql) IN \(rows) OR \(sql) IN \(files)"
    return values.hasNull ? "(\(isListed) OR \(sql) IS NULL)" : "(\(isListed))"
  }

  /// The number of bytes, which is part of the text in the row.
  static func externalLength(_ sql: String) -> String {
    let size = "CAST(substr(\(sql), \(ExternalFile.placeOfSize)) AS INTEGER)"
    return "CASE typeof(\(sql)) WHEN 'text' THEN \(size) ELSE length(\(sql)) END"
  }
}

// MARK: - Operands

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
  /// The begin of the names of languages' collations.
  static let languagePrefix = "trellis_language_"

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
      TranslatedOperand(content: .column(TranslatedProperty(sql: try paths.count(path), isOptional: false)))
    case .entity(let path): TranslatedOperand(content: .column(try paths.entityName(path)))
    case .computed(.stored(let path, let inner)):
      if layout.readsDerivedColumn(at: path) {
        TranslatedOperand(content: .column(try storedColumn(path)))
      } else {
        try self.operand(inner)
      }
    case .now: TranslatedOperand(content: .value(skipValue(), isNull: false))
    case .computed(let computation):
      TranslatedOperand(content: .column(TranslatedProperty(sql: try self.computation(computation), isOptional: true)))
    case .parameter: throw QueryFault.noValue
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

// MARK: - Computations

/// Computed values. SQLite calls the same functions as evaluation in memory, so that overflow, division and rounding
/// are the same.
extension PredicateTranslator {
  mutating func computation(_ computation: Computation) throws(StoreError) -> String {
    switch computation {
    case .arithmetic(let sign, let left, let right):
      return "trellis_compute(\(sign.word), \(try plain(left)), \(try plain(right)))"
    case .function(.length, let operand):
      let content = try self.operand(operand).content
      if case .column(let column) = content, column.isExternal { return Self.externalLength(column.sql) }
      return "trellis_apply(\(ValueFunction.length.word), \(plain(content)))"
    case .date(_, let operand): return "trellis_date(\(try plain(operand)), \(nextValue(.plain)))"
    case .function(let function, let operand): return "trellis_apply(\(function.word), \(try plain(operand)))"
    case .aggregate(let function, let path, let variable, let operand, let kind):
      return try aggregate(function, path, variable, operand, kind)
    case .countWhere(let path, let variable, let condition):
      let link = try paths.enter(path, variable: variable)
      let terms = try [link] + conjuncts(condition)
      return "(SELECT count(*) FROM \(try paths.leaveScope()) WHERE \(terms.joined(separator: " AND ")))"
    case .member(let place, let path, let variable, let operand): return try member(place, path, variable, operand)
    case .conditional(let condition, let first, let second):
      let choice = "CASE WHEN \(try self.condition(condition)) THEN \(try plain(first)) ELSE \(try plain(second)) END"
      // SQLite compares an expression by a collation that is named anywhere inside it, unless a subquery lies between.
      return choice.contains(Self.decimalOrder) ? "(SELECT \(choice))" : choice
    case .list(let function, let operands, let kind):
      var values: [String] = []
      for operand in operands { values.append("SELECT \(try plain(operand)) AS v") }
      let rows = values.isEmpty ? "SELECT NULL AS v WHERE 0" : values.joined(separator: " UNION ALL ")
      return "(SELECT \(Self.aggregate(function, kind)) FROM (\(rows)))"
    case .stored: return try plain(.computed(computation))
    }
  }

  private mutating func member(
    _ place: MemberPlace, _ path: PropertyPath, _ variable: Int, _ operand: Operand
  ) throws(StoreError) -> String {
    let link = try paths.enter(path, variable: variable)
    let value = try plain(operand)
    let (_, key, position) = paths.innermost
    let direction = place == .last ? " DESC" : ""
    let order = [position, key].compactMap { $0.map { $0 + direction } }.joined(separator: ", ")
    let skipped: Int
    if case .at(let number) = place { skipped = number } else { skipped = 0 }
    // There is no member before the first.
    let window = skipped < 0 ? "LIMIT 0" : "LIMIT 1 OFFSET \(skipped)"
    return "(SELECT \(value) FROM \(try paths.leaveScope()) WHERE \(link) ORDER BY \(order) \(window))"
  }

  private static func aggregate(_ function: AggregateFunction, _ kind: ValueKind) -> String {
    let order = kind == .decimal ? decimalOrder : ""
    return switch function {
    case .sum: "trellis_sum_\(kind.numberName)(v)"
    case .average: "trellis_average_\(kind.numberName)(v)"
    case .minimum: "min(v\(order))"
    case .maximum: "max(v\(order))"
    }
  }

  private mutating func aggregate(
    _ function: AggregateFunction, _ path: PropertyPath, _ variable: Int, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> String {
    let link = try paths.enter(path, variable: variable)
    let value = try plain(operand)
    let result = Self.aggregate(function, kind)
    // If the value belonged to an outer row only, SQLite would compute the aggregate over the outer rows.
    return "(SELECT \(result) FROM (SELECT \(value) AS v FROM \(try paths.leaveScope()) WHERE \(link)))"
  }

  /// The SQL of an operand, without folding or canonical form.
  mutating func plain(_ operand: Operand) throws(StoreError) -> String {
    plain(try self.operand(operand).content)
  }

  private mutating func plain(_ content: TranslatedOperand.Content) -> String {
    switch content {
    case .value(let number, _): parameter(number, .plain)
    case .column(let column): column.sql
    }
  }

}

// MARK: - Paths

extension PredicateTranslator {
  /// A value to sort by or to return.
  mutating func value(_ operand: Operand) throws(StoreError) -> TranslatedProperty {
    switch operand {
    case .path(let path): return try property(path)
    case .computed(.stored(let path, _)) where layout.readsDerivedColumn(at: path): return try storedColumn(path)
    default: break
    }
    let sql = try plain(operand)
    // A collation in an expression would change how the value is compared, unless a subquery lies between.
    let isCollated = sql.contains(Self.decimalOrder)
    return TranslatedProperty(sql: isCollated ? "(SELECT \(sql))" : sql, isOptional: true, isComputed: true)
  }

  /// The value at a path's end, or a column of groups.
  private mutating func property(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    guard let columns else { return try paths.property(path) }
    guard path.variable == 0, let step = path.onlyStep, columns.indices.contains(step) else {
      throw QueryFault.unknown("column of a group")
    }
    return columns[step]
  }

  /// The column of a stored derived attribute of the object that a variable stands for.
  private mutating func storedColumn(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    let row = try paths.start(path)
    guard let step = path.onlyStep, let attribute = try paths.property(step, of: row.entity).attribute else {
      throw QueryFault.unknown("derived attribute")
    }
    return TranslatedProperty(
      sql: "\(paths.alias(of: row)).\(SQLName.quoted(layout.model.derivedColumn(of: attribute)))", isOptional: true)
  }

  /// The full-text table of the attribute at a path's end, the key of the attribute's row, and the entity name in
  /// marks. Nil if there is no such table. ``property(_:)`` must have translated the path before.
  mutating func indexedColumn(
    _ path: PropertyPath
  ) throws(StoreError) -> (table: String, key: String, entity: String)? {
    var steps = path.steps
    guard !layout.search.isEmpty, let last = steps.popLast() else { return nil }
    let row = try paths.walk(path, steps)
    let root = layout.model.entities[layout.model.entities[row.entity].root]
    guard let number = try paths.property(last, of: row.entity).column,
      let column = layout.column(number, of: row.entity),
      let indexed = layout.search.indexedColumn(column, of: root.index)
    else { return nil }
    return (indexed.table, row.key, SQLName.literal(root.name))
  }
}
