package import TrellisModel
package import TrellisStorage

/// A change of all rows of a request as one statement, which locks them in the order of their keys.
struct UpdateStatement {
  let statement: ServerStatement
  let entity: Int
  let mask: ColumnMask

  /// - Returns: nil if the server would not find or compute exactly the same.
  init?(_ update: BatchUpdate, _ store: PostgresStore) throws {
    let (request, setup) = (update.request, store.setup)
    guard request.limit == nil, request.offset == 0, !update.assignments.isEmpty,
      setup.model.dateUses(in: request, update.assignments.map(\.value)).isEmpty
    else { return nil }
    var translated = try TranslatedRequest(request, store, .none, isOrdered: false)
    guard translated.isExact else { return nil }
    let table = setup.layout.tables[request.entity]
    var values: [String] = []
    var changes: [String] = []
    for (number, assignment) in update.assignments.enumerated() {
      guard let attribute = setup.model.entities[request.entity].properties[assignment.property].attribute,
        let place = attribute.column,
        let value = try translated.conditions.assigned(assignment.value, setup.types[request.entity][place])
      else { return nil }
      values.append("\(value) AS v\(number)")
      changes.append("\(table.columns[place]) = v.v\(number)")
    }
    var isRefused = "FALSE"
    if let refused = update.refused {
      guard let term = try translated.conditions.exactCondition(refused) else { return nil }
      isRefused = "(\(term)) IS TRUE"
    }
    let root = translated.conditions.paths.rootAlias
    entity = request.entity
    mask = update.mask
    let selected = (["\(root).\(SQLName.id) AS id", "\(isRefused) AS r"] + values).joined(separator: ", ")
    let entityName = table.isInHierarchy ? ", u.\(SQLName.entity)" : ""
    statement = ServerStatement(
      "WITH v AS MATERIALIZED (SELECT \(selected) FROM \(translated.source) ORDER BY \(root).\(SQLName.id) "
        + "FOR NO KEY UPDATE OF \(root)) UPDATE \(table.name) AS u SET \(changes.joined(separator: ", ")), "
        + "\(SQLName.version) = u.\(SQLName.version) + 1 FROM v WHERE u.\(SQLName.id) = v.id "
        + "RETURNING u.\(SQLName.id), v.r\(entityName)", translated.conditions.parameters)
  }
}

extension PostgresConnection {
  /// Changes rows by one statement, if the server computes the same values, and otherwise reads and saves them.
  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    guard let statement = try UpdateStatement(update, store) else { return try updateAllByRows(update, in: model) }
    let request = SaveRequest()
    request.author = update.author
    do {
      var outcome = try run(request) { SaveStatements(statement, request, setup, store.history) }.batch
      outcome.updated.sort { $0.key < $1.key }
      return outcome
    } catch let error as StoreError where error.code == .unstorableValue || error.code == .refusedByServer {
      // Row by row it is known which of them the values do not fit, or which the rules refuse.
      return try updateAllByRows(update, in: model)
    }
  }
}
