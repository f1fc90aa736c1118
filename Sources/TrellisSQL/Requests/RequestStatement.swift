import TrellisQuery
package import TrellisStorage

/// The SQL of a request and its parameters.
package struct RequestStatement {
  package let text: String
  package let parameters: [Parameter]

  /// - Throws: ``StoreError`` if the request names something that the model does not have, or is nested too deeply.
  /// - Complexity: linear in the number of predicate nodes.
  package init(
    _ request: StoreRequest, for purpose: RequestShape.Purpose, projecting paths: [ProjectedPath] = [],
    in layout: TableLayout
  ) throws(StoreError) {
    guard layout.tables.indices.contains(request.entity) else { throw PredicateTranslator.unknown("entity") }
    let table = layout.tables[request.entity]
    var translator = PredicateTranslator(layout, entity: request.entity)
    let root = translator.rootAlias
    let condition = try translator.filter(request)
    var projected: [String] = []
    for path in paths { projected.append(try translator.property(path.path).sql) }
    let order = purpose == .count ? translator.noOrder(by: request.sort) : try translator.order(by: request.sort)
    let window = translator.window(limit: request.limit != nil, offset: request.offset > 0)
    let rest = translator.rootSource + condition + order + window
    switch purpose {
    case .rows: text = "SELECT \(table.selection(root)) FROM \(rest)"
    case .keys:
      let entity = table.isInHierarchy ? ", \(root).\(SQLName.entity)" : ""
      text = "SELECT \(root).\(SQLName.id)\(entity) FROM \(rest)"
    case .values: text = "SELECT \(projected.isEmpty ? "1" : projected.joined(separator: ", ")) FROM \(rest)"
    case .count:
      text = window.isEmpty ? "SELECT count(*) FROM \(rest)" : "SELECT count(*) FROM (SELECT 1 FROM \(rest))"
    case .update, .delete: throw PredicateTranslator.unknown("change of rows")
    }
    parameters = translator.parameters
  }
}

extension PredicateTranslator {
  /// The ORDER BY of a request: the sort keys, then the object's key in the direction of the last sort key.
  mutating func order(by keys: [SortKey]) throws(StoreError) -> String {
    var terms: [String] = []
    for (place, key) in keys.enumerated() {
      let column = try property(key.path)
      var text = column.sql
      if key.query != nil { text = "trellis_search_rank(\(text), \(nextValue(.plain)))" }
      if key.kind == .text && !key.options.isEmpty { text = Self.folded(text, key.options) }
      if key.kind == .decimal { text += Self.decimalOrder }
      terms.append(text + (key.isDescending ? " DESC" : ""))
      // Keys are unique, so later sort keys make no difference.
      if key.path.count == 0 {
        return " ORDER BY " + terms.joined(separator: ", ") + noOrder(by: keys.dropFirst(place + 1))
      }
    }
    terms.append("\(rootAlias).\(SQLName.id)" + (keys.last?.isDescending == true ? " DESC" : ""))
    return " ORDER BY " + terms.joined(separator: ", ")
  }

  /// Skips the values of sort keys that make no difference.
  mutating func noOrder(by keys: some Sequence<SortKey>) -> String {
    for key in keys where key.query != nil { _ = skipValue() }
    return ""
  }

  /// LIMIT and OFFSET. Their values come after the predicate's values.
  mutating func window(limit: Bool, offset: Bool) -> String {
    var text = ""
    if limit { text = " LIMIT \(nextValue(.plain))" } else if offset { text = " LIMIT -1" }
    if offset { text += " OFFSET \(nextValue(.plain))" }
    return text
  }
}
