package import TrellisModel
package import TrellisStorage

/// What finds the rows of a ``BatchDelete`` on the server. They are locked in the order of their keys.
struct DeleteStatement {
  let entity: Int
  let reach: DeleteReach
  private let translated: TranslatedRequest
  /// The rows that the limit and the offset of the request leave. Nil if it has none.
  private let window: String?
  private let table: EntityTable

  /// - Returns: nil if the server would not find exactly the same rows, or a rule asks rows that stay.
  init?(_ delete: BatchDelete, _ store: PostgresStore) throws {
    let (request, setup) = (delete.request, store.setup)
    reach = DeleteReach(request, setup.model)
    guard !reach.asksPartners, setup.model.dateUses(in: request, []).isEmpty else { return nil }
    let isWindow = request.limit != nil || request.offset > 0
    var translated = try TranslatedRequest(request, store, .none, isOrdered: isWindow)
    guard translated.isExact, translated.questionOfOrder == nil else { return nil }
    entity = request.entity
    table = setup.layout.tables[request.entity]
    window = isWindow ? translated.source + translated.window(request) : nil
    self.translated = translated
  }

  private var root: String { translated.conditions.paths.rootAlias }

  /// One statement that deletes the rows, if this has no effect on others.
  ///
  /// - Parameter columns: the columns to return, of the rows with an alias.
  func alone(returning columns: (_ alias: String) -> String) -> ServerStatement? {
    let isJoined = translated.conditions.paths.rootSource != "\(table.name) AS \(root)"
    guard reach.isAlone, window == nil, !isJoined else { return nil }
    return ServerStatement(
      "DELETE FROM \(translated.rows()) RETURNING \(columns(root))", translated.conditions.parameters)
  }

  /// The columns of the rows of the request, `o`: their keys, and their entities in hierarchies.
  var selection: String { "o.key\(table.isInHierarchy ? ", o.entity" : "") FROM o" }

  /// The beginning of a statement that finds the rows of the request, `o`, and all that are deleted, `f(root, key)`.
  func found(followedBy closure: CascadeClosure) throws -> ServerStatement {
    var text = "WITH RECURSIVE "
    // The rows are chosen before they are locked, because the wait for a lock could change their order.
    if let window { text += "w AS MATERIALIZED (SELECT \(root).\(SQLName.id) AS key FROM \(window)), " }
    let rows = translated.rows(where: window.map { _ in "\(root).\(SQLName.id) IN (SELECT key FROM w)" })
    let entityColumn = table.isInHierarchy ? ", \(root).\(SQLName.entity) AS entity" : ""
    text +=
      "o AS MATERIALIZED (SELECT \(root).\(SQLName.id) AS key\(entityColumn) FROM \(rows) ORDER BY "
      + "\(root).\(SQLName.id) FOR UPDATE OF \(root))"
    let rootEntity = closure.model.entities[entity].root
    var all = "SELECT \(rootEntity) AS root, o.key FROM o"
    if !closure.isEmpty {
      let starts = try closure.model.furtherCascades(from: entity).compactMap {
        try closure.members(of: $0) { "\($0) IN (SELECT o.key FROM o)" }
      }
      text += ", v(r, key) AS (SELECT * FROM (\(starts.joined(separator: " UNION "))) AS s(r, key)"
      if let further = try closure.further {
        text += " UNION SELECT n.r, n.key FROM v JOIN LATERAL \(further) AS n ON TRUE"
      }
      text += ")"
      all += " UNION SELECT \(closure.root(of: "v.r")), v.key FROM v"
    }
    return ServerStatement("\(text), f AS MATERIALIZED (\(all))", translated.conditions.parameters)
  }
}

extension PostgresConnection {
  /// Deletes rows by statements, if the server finds the same rows and no rule asks others; otherwise reads and saves them.
  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    guard layout.tables.indices.contains(delete.request.entity) else { throw RequestFault.unknown }
    guard let statement = try DeleteStatement(delete, store) else { return try deleteAllByRows(delete, in: model) }
    let request = SaveRequest()
    request.author = delete.author
    do {
      return try run(request) { try SaveStatements(statement, request, setup, store.history) }.batch
    } catch let error as StoreError where error.code == .danglingReference {
      // Others have added rows that refer to deleted ones, after these were found.
      return try deleteAllByRows(delete, in: model)
    }
  }
}
