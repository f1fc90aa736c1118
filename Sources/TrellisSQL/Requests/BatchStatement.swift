import TrellisQuery
import TrellisSchema
package import TrellisStorage

/// The SQL of a change of many rows, and its parameters.
///
/// The statement returns the key and, in hierarchies, the entity of each changed row.
package struct BatchStatement {
  package let text: String
  package let parameters: [Parameter]

  /// - Throws: ``StoreError`` if the change names something that the model does not have, or is nested too deeply.
  /// - Complexity: linear in the number of predicate nodes.
  package init(_ update: BatchUpdate, in layout: TableLayout) throws(StoreError) {
    let request = update.request
    guard layout.tables.indices.contains(request.entity) else { throw PredicateTranslator.unknown("entity") }
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
      "UPDATE \(table.name) AS \(translator.rootAlias) SET \(assignments.joined(separator: ", "))\(rows)"
      + table.returning
    parameters = translator.parameters
  }

  /// The statement that deletes the rows of a request.
  ///
  /// - Throws: ``StoreError`` as for an update.
  package init(deleting request: StoreRequest, in layout: TableLayout) throws(StoreError) {
    guard layout.tables.indices.contains(request.entity) else { throw PredicateTranslator.unknown("entity") }
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
    guard isWindow || rootSource != "\(scopes[0].table.name) AS \(rootAlias)" else {
      return condition + noOrder(by: request.sort)
    }
    let order = isWindow ? try order(by: request.sort) : noOrder(by: request.sort)
    let window = window(limit: request.limit != nil, offset: request.offset > 0)
    let key = "\(rootAlias).\(SQLName.id)"
    return " WHERE \(key) IN (SELECT \(key) FROM \(rootSource)\(condition)\(order)\(window))"
  }

  /// The WHERE of a request. Empty if the request is for every row of the table.
  mutating func filter(_ request: StoreRequest) throws(StoreError) -> String {
    let table = scopes[0].table
    var terms: [String] = []
    if let term = request.includesSubentities ? table.subtreeTerm : table.ownTerm { terms.append(term(rootAlias)) }
    if let predicate = request.predicate { terms += try conjuncts(predicate) }
    return terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
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
    else { throw PredicateTranslator.unknown("property of the row") }
    return name
  }
}
