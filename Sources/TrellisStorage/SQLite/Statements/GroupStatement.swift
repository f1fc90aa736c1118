import TrellisModel

/// The SQL of a request for groups, and its parameters.
///
/// Sums and averages are the functions of Trellis: SQLite's own sum fails if a part of the sum overflows, which depends
/// on the order of the rows, and rounds each addition of reals.
package struct GroupStatement {
  package let text: String
  package let parameters: [Parameter]

  /// Whether there is a statement for a request. Older libraries accept HAVING only after GROUP BY, and without any
  /// aggregate a statement selects the rows themselves.
  package static func exists(for request: GroupRequest) -> Bool {
    !request.keys.isEmpty || !request.aggregates.isEmpty && request.condition == nil
  }

  /// - Throws: ``StoreError`` if the request names something that the model does not have, or is nested too deeply.
  /// - Complexity: linear in the number of predicate nodes, keys and aggregates.
  package init(_ request: GroupRequest, in layout: SQLiteLayout) throws(StoreError) {
    guard layout.tables.indices.contains(request.rows.entity) else { throw QueryFault.unknown("entity") }
    var translator = PredicateTranslator(layout, entity: request.rows.entity)
    let condition = try translator.filter(request.rows)
    let isWindow = request.rows.isSorted(for: .groups)
    let order = isWindow ? try translator.order(by: request.rows.decidingSort) : ""
    let window = translator.window(limit: request.rows.limit != nil, offset: request.rows.offset > 0)
    var values = GroupedValues(isSelected: isWindow)
    for value in request.keys + request.aggregates.map(\.value) {
      values.add(value.value, try translator.value(value.value))
    }
    let source = values.source(translator.rootSource + condition + order + window)

    var columns: [TranslatedProperty] = []
    var grouping: [String] = []
    for key in request.keys {
      let sql = values.sql(of: key.value)
      columns.append(TranslatedProperty(sql: sql, isOptional: true))
      grouping.append(sql + PredicateTranslator.collation(key.kind))
    }
    for aggregate in request.aggregates {
      let sql = Self.sql(aggregate, values.sql(of: aggregate.value.value))
      columns.append(TranslatedProperty(sql: sql, isOptional: true))
    }
    var text = "SELECT \(columns.isEmpty ? "1" : columns.map(\.sql).joined(separator: ", ")) FROM \(source)"
    if !grouping.isEmpty { text += " GROUP BY \(grouping.joined(separator: ", "))" }
    translator.columns = columns
    let having = if let condition = request.condition { try translator.conjuncts(condition) } else { [String]() }
    if !having.isEmpty { text += " HAVING \(having.joined(separator: " AND "))" }
    if !grouping.isEmpty { text += try translator.order(ofGroups: request.order, ofWindow: isWindow) }
    self.text = text + translator.window(limit: request.limit != nil, offset: request.offset > 0)
    parameters = translator.parameters
  }

  private static func sql(_ aggregate: GroupAggregate, _ value: String) -> String {
    let kind = aggregate.value.kind
    let compared = value + PredicateTranslator.collation(kind)
    return switch aggregate.function {
    case .rows: "count(*)"
    case .count: "count(\(value))"
    case .distinctCount: "count(DISTINCT \(compared))"
    case .minimum: "min(\(compared))"
    case .maximum: "max(\(compared))"
    case .sum: "trellis_total_\(kind.numberName)(\(value))"
    case .average: "trellis_mean_\(kind.numberName)(\(value))"
    }
  }
}

/// The values of a row that groups need, each once.
private struct GroupedValues {
  /// Whether an inner statement selects the values, so that each is computed once and a limit applies to the rows.
  private var isSelected: Bool
  private var values: [(operand: Operand, sql: String)] = []

  init(isSelected: Bool) { self.isSelected = isSelected }

  mutating func add(_ operand: Operand, _ value: TranslatedProperty) {
    if value.isComputed { isSelected = true }
    guard let place = values.firstIndex(where: { $0.operand == operand }) else {
      return values.append((operand, value.sql))
    }
    // The last one, because SQLite refuses a value for a parameter behind all that are in the statement.
    values[place].sql = value.sql
  }

  func sql(of operand: Operand) -> String {
    guard let place = values.firstIndex(where: { $0.operand == operand }) else { return "NULL" }
    return isSelected ? "v\(place)" : values[place].sql
  }

  /// The FROM clause of the groups, for rows in SQL.
  func source(_ rows: String) -> String {
    guard isSelected else { return rows }
    let selection = values.enumerated().map { "\($1.sql) AS v\($0)" }
    return "(SELECT \(selection.isEmpty ? "1" : selection.joined(separator: ", ")) FROM \(rows))"
  }
}

extension PredicateTranslator {
  static func collation(_ kind: ValueKind) -> String { kind == .decimal ? decimalOrder : "" }

  /// The ORDER BY of groups, by their columns.
  ///
  /// SQLite 3.53.4 and 3.54.0 leave out an ORDER BY whose columns are those of GROUP BY, even if the rows of an inner
  /// statement with a limit have the opposite order. With a sign before its terms, it is another one.
  fileprivate mutating func order(ofGroups keys: [SortKey], ofWindow isWindow: Bool) throws(StoreError) -> String {
    var terms: [String] = []
    for key in keys {
      let column = (isWindow ? "+" : "") + (try value(key.value).sql)
      terms.append(Self.sorted(column, key) + (key.isDescending ? " DESC" : ""))
    }
    return " ORDER BY " + terms.joined(separator: ", ")
  }
}
