package import TrellisModel

/// The SQL of a request and its parameters.
package struct RequestStatement {
  package let text: String
  package let parameters: [Parameter]

  /// - Throws: ``StoreError`` if the request names something that the model does not have, or is nested too deeply.
  /// - Complexity: linear in the number of predicate nodes.
  package init(
    _ request: StoreRequest, for purpose: RequestShape.Purpose, projecting values: [ProjectedValue] = [],
    in layout: SQLiteLayout
  ) throws(StoreError) {
    guard layout.tables.indices.contains(request.entity) else { throw QueryFault.unknown("entity") }
    let table = layout.tables[request.entity]
    var translator = PredicateTranslator(layout, entity: request.entity)
    let root = translator.rootAlias
    let condition = try translator.filter(request)
    var projected: [String] = []
    for value in values { projected.append(try translator.value(value.value).sql) }
    let order = request.isSorted(for: purpose) ? try translator.order(by: request.decidingSort) : ""
    let window = translator.window(limit: request.limit != nil, offset: request.offset > 0)
    let rest = translator.rootSource + condition + order + window
    switch purpose {
    case .rows: text = "SELECT \(table.selection(root)) FROM \(rest)"
    case .keys:
      let entity = table.isInHierarchy ? ", \(root).\(SQLName.entity)" : ""
      text = "SELECT \(root).\(SQLName.id)\(entity) FROM \(rest)"
    case .values: text = "SELECT \(projected.isEmpty ? "1" : projected.separated(by: ", ")) FROM \(rest)"
    case .count:
      text = window.isEmpty ? "SELECT count(*) FROM \(rest)" : "SELECT count(*) FROM (SELECT 1 FROM \(rest))"
    case .update, .delete, .groups: throw QueryFault.unknown("statement that selects rows")
    }
    parameters = translator.parameters
  }
}

extension PredicateTranslator {
  /// The ORDER BY of a request: the sort keys, then the object's key in the direction of the last sort key.
  mutating func order(by keys: ArraySlice<SortKey>) throws(StoreError) -> String {
    var terms: [String] = []
    for key in keys {
      var text = try value(key.value).sql
      if key.query != nil { text = "trellis_search_rank(\(text), \(nextValue(.plain)))" }
      text = Self.sorted(text, key)
      terms.append(text + (key.isDescending ? " DESC" : ""))
    }
    if keys.last?.isOwnKey != true {
      terms.append("\(rootAlias).\(SQLName.id)" + (keys.last?.isDescending == true ? " DESC" : ""))
    }
    return " ORDER BY " + terms.separated(by: ", ")
  }

  /// A value as it is compared by a sort key.
  static func sorted(_ sql: String, _ key: SortKey) -> String {
    if let language = key.language { return "\(sql) COLLATE \(SQLName.quoted(languagePrefix + language))" }
    return key.kind == .text && !key.options.isEmpty ? folded(sql, key.options) : sql + collation(key.kind)
  }

  /// LIMIT and OFFSET. Their values come after the predicate's values.
  mutating func window(limit: Bool, offset: Bool) -> String {
    var text = ""
    if limit { text = " LIMIT \(nextValue(.plain))" } else if offset { text = " LIMIT -1" }
    if offset { text += " OFFSET \(nextValue(.plain))" }
    return text
  }
}

// MARK: - Request values

/// One value of a request, or one list of values.
package enum BoundValue: Sendable {
  case single(StoredValue)
  case list([StoredValue])
}

/// The source of a statement's parameter: a value of the request and its form.
package struct Parameter: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    case plain
    /// Folded in the same way as the column.
    case folded(TextOptions)
    /// The smallest text after all texts with the value as their prefix.
    case endOfPrefix
    /// Decimals as their canonical text.
    case canonical
    /// The full-text query for a search.
    case searchTerms
    /// Bytes as a reference to the file that contains them.
    case reference
  }

  /// The position among the request's values.
  package let value: Int
  package let form: Form
}

extension StoredValue {
  /// Whether SQLite would store the value as null.
  var isNil: Bool {
    switch self {
    case .null: true
    case .real(let real): real.isNaN
    default: false
    }
  }
}

extension [StoredValue] {
  var hasNull: Bool { contains { $0.isNil } }
}

// MARK: - Batch statement

/// The SQL of a change of many rows, and its parameters.
///
/// The statement returns the key and, in hierarchies, the entity of each changed row.
package struct BatchStatement {
  package let text: String
  package let parameters: [Parameter]

  /// - Throws: ``StoreError`` if the change names something that the model does not have, or is nested too deeply.
  /// - Complexity: linear in the number of predicate nodes.
  package init(_ update: BatchUpdate, in layout: SQLiteLayout) throws(StoreError) {
    let request = update.request
    guard layout.tables.indices.contains(request.entity) else { throw QueryFault.unknown("entity") }
    let table = layout.tables[request.entity]
    var translator = PredicateTranslator(layout, entity: request.entity)
    let rows = try translator.rows(of: request)
    var assignments: [String] = []
    for assignment in update.assignments {
      let column = try layout.column(of: assignment.property, in: request.entity)
      assignments.append("\(column) = \(try translator.plain(assignment.value))")
    }
    assignments.append("\(SQLName.version) = \(SQLName.version) + 1")
    text =
      "UPDATE \(table.name) AS \(translator.rootAlias) SET \(assignments.separated(by: ", "))\(rows)"
      + table.returning
    parameters = translator.parameters
  }

  /// The statement that deletes the rows of a request.
  ///
  /// - Throws: ``StoreError`` as for an update.
  package init(deleting request: StoreRequest, in layout: SQLiteLayout) throws(StoreError) {
    guard layout.tables.indices.contains(request.entity) else { throw QueryFault.unknown("entity") }
    let table = layout.tables[request.entity]
    var translator = PredicateTranslator(layout, entity: request.entity)
    let rows = try translator.rows(of: request)
    text = "DELETE FROM \(table.name) AS \(translator.rootAlias)\(rows)\(table.returning)"
    parameters = translator.parameters
  }
}

extension PredicateTranslator {
  /// The WHERE of a statement that changes the rows of a request. If the condition needs more than the row itself, the
  /// rows are selected by key.
  fileprivate mutating func rows(of request: StoreRequest) throws(StoreError) -> String {
    let condition = try filter(request)
    let isWindow = request.limit != nil || request.offset > 0
    guard isWindow || rootSource != "\(paths.scopes[0].table.name) AS \(rootAlias)" else {
      return condition
    }
    let order = isWindow ? try order(by: request.decidingSort) : ""
    let window = window(limit: request.limit != nil, offset: request.offset > 0)
    let key = "\(rootAlias).\(SQLName.id)"
    return " WHERE \(key) IN (SELECT \(key) FROM \(rootSource)\(condition)\(order)\(window))"
  }

  /// The WHERE of a request. Empty if the request is for every row of the table.
  mutating func filter(_ request: StoreRequest) throws(StoreError) -> String {
    let table = paths.scopes[0].table
    var terms: [String] = []
    if let term = request.includesSubentities ? table.subtreeTerm : table.ownTerm { terms.append(term(rootAlias)) }
    if let predicate = request.predicate { terms += try conjuncts(predicate) }
    return terms.isEmpty ? "" : " WHERE " + terms.separated(by: " AND ")
  }
}

extension EntityTable {
  fileprivate var returning: String {
    " RETURNING \(SQLName.id)" + (isInHierarchy ? ", \(SQLName.entity)" : "")
  }
}

extension TableLayout {
  /// The statement that sets the references to deleted owners to nil, with their positions. Parameter: the list of
  /// owners. Nil if the reference is not stored in a column.
  package func unlinkStatement(_ reference: RelationshipNumber) -> String? {
    guard case .column(let number, let order)? = relationship(reference.entity, reference.property)?.home,
      let column = column(number, of: reference.entity)
    else { return nil }
    let table = tables[reference.entity]
    let place = order.flatMap { self.column($0, of: reference.entity) }.map { ", \($0) = NULL" } ?? ""
    return "UPDATE \(table.name) SET \(column) = NULL\(place), \(SQLName.version) = \(SQLName.version) + 1"
      + " WHERE \(column) IN \(ListParameter.values)\(table.returning)"
  }

  /// The quoted column of a property.
  fileprivate func column(of property: Int, in entity: Int) throws(StoreError) -> String {
    let properties = model.entities[entity].properties
    guard properties.indices.contains(property), let number = properties[property].column,
      let name = column(number, of: entity)
    else { throw QueryFault.unknown("property of the row") }
    return name
  }
}
