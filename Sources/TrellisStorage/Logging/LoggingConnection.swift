package import TrellisSchema

/// A connection that logs its requests. It exists only with a log, so other connections have no overhead.
package final class LoggingConnection: StoreConnection {
  private let connection: any StoreConnection
  private let log: QueryLog
  private let model: Model
  private let statements: StatementTrace

  package init(_ connection: any StoreConnection, _ log: QueryLog, _ model: Model) {
    self.connection = connection
    self.log = log
    self.model = model
    statements = StatementTrace(includesValues: log.includesValues)
    connection.trace = statements
  }

  deinit { connection.trace = nil }

  package var trace: StatementTrace? {
    get { connection.trace }
    set { connection.trace = newValue }
  }

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try logged(.fetch, name(request.entity), request.constants) { rows in
      try connection.fetch(request) {
        rows += 1
        try body($0)
      }
    }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try logged(.keys, name(request.entity), request.constants) { rows in
      try connection.fetchKeys(request) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try logged(.values, name(request.entity), request.constants) { rows in
      try connection.fetchValues(request, of: paths) {
        rows += 1
        try body($0)
      }
    }
  }

  package func count(_ request: StoreRequest) throws -> Int {
    try logged(.count, name(request.entity), request.constants) { _ in try connection.count(request) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try connection.plan(of: request) }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try logged(.rows, name(entity), Self.values(keys)) { rows in
      try connection.rows(of: entity, keys: keys) {
        rows += 1
        try body($0)
      }
    }
  }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try logged(.members, name(relationship), Self.values(owners)) { rows in
      try connection.members(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try logged(.memberKeys, name(relationship), Self.values(owners)) { rows in
      try connection.memberKeys(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1, $2)
      }
    }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try logged(.lastPlaces, name(relationship), Self.values(owners)) { rows in
      try connection.lastPlaces(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func save(_ request: SaveRequest) throws -> SaveOutcome {
    try logged(.save, nil, []) { rows in
      let outcome = try connection.save(request)
      rows = request.rowCount + outcome.cascaded.count
      return outcome
    }
  }

  package func rehearse(_ request: SaveRequest) throws { try connection.rehearse(request) }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try logged(.updateAll, name(update.request.entity), update.constants) { rows in
      let outcome = try connection.updateAll(update, in: model)
      rows = outcome.updated.count
      return outcome
    }
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try logged(.deleteAll, name(delete.request.entity), delete.request.constants) { rows in
      let outcome = try connection.deleteAll(delete, in: model)
      rows = outcome.updated.count + outcome.deleted.count
      return outcome
    }
  }

  package func pin() throws { try connection.pin() }
  package func unpin() { connection.unpin() }
  package func check(_ body: (StoreFinding) throws -> Void) throws { try connection.check(body) }
  package func hasExternalChanges() -> Bool { connection.hasExternalChanges() }

  // MARK: Steps

  private func logged<Result>(
    _ kind: QueryLogEntry.Kind, _ subject: String?, _ values: @autoclosure () -> [StoredValue],
    _ body: (inout Int) throws -> Result
  ) throws -> Result {
    _ = statements.take()
    let clock = ContinuousClock()
    let start = clock.now
    var rows = 0
    var failure: String?
    defer {
      log.add(
        QueryLogEntry(
          kind: kind, subject: subject, rows: rows, duration: clock.now - start, statements: statements.take(),
          values: log.includesValues ? values() : [], failure: failure))
    }
    do {
      return try body(&rows)
    } catch {
      // Messages of other errors may contain user data.
      failure = (error as? StoreError)?.code.rawValue ?? "\(type(of: error))"
      throw error
    }
  }

  private static func values(_ keys: [Int64]) -> [StoredValue] { keys.map { .integer($0) } }

  private func name(_ entity: Int) -> String {
    model.entities.indices.contains(entity) ? model.entities[entity].name : "entity \(entity)"
  }

  private func name(_ relationship: RelationshipNumber) -> String {
    guard model.entities.indices.contains(relationship.entity) else { return name(relationship.entity) }
    let entity = model.entities[relationship.entity]
    guard entity.properties.indices.contains(relationship.property) else { return entity.name }
    return "\(entity.name).\(entity.properties[relationship.property].name)"
  }
}

extension SaveRequest {
  /// The number of inserted, updated and deleted rows, and of changed pairs of join tables.
  fileprivate var rowCount: Int {
    inserts.reduce(0) { $0 + $1.records.count } + updates.reduce(0) { $0 + $1.records.count }
      + deletes.reduce(0) { $0 + $1.keys.count }
      + pairs.reduce(0) { $0 + $1.added.count + $1.removed.count + $1.moved.count }
  }
}
