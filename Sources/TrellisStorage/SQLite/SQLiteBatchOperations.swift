internal import CSQLite
import Foundation
package import TrellisModel

/// Changes of many rows. The number of statements does not depend on the number of rows.
extension SQLiteConnection {
  /// - Throws: ``RefusedRows``; ``StoreError``.
  /// - Complexity: that of SQLite's query plan, and memory for the keys of the rows.
  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    var outcome = BatchOutcome()
    try writing(by: update.author) {
      var update = try inFiles(update)
      if let refused = update.refused {
        if update.request.limit != nil || update.request.offset > 0 {
          update.request = try requestByKey(update.request)
        }
        try refuse(refused, update.request)
      }
      let mask = update.mask
      if let history { try keepRows(of: update.request, history) }
      let statement = try statement(update)
      try database.bind(shape.values, to: statement)
      try runForKeys(statement, update.request.entity) { key, entity in
        outcome.updated.append(BatchOutcome.Row(key: key, entity: entity, properties: mask))
      }
      if let history { note(outcome.updated, history) }
    }
    outcome.found = outcome.updated.count
    return outcome
  }

  /// Writes large data of a change to files, so that each row gets the text that refers to its file.
  private func inFiles(_ update: BatchUpdate) throws(StoreError) -> BatchUpdate {
    guard let externals, layout.model.entities.indices.contains(update.request.entity) else { return update }
    let properties = layout.model.entities[update.request.entity].properties
    var update = update
    for (place, assignment) in update.assignments.enumerated() {
      guard case .value(.blob(let bytes)) = assignment.value, properties.indices.contains(assignment.property),
        properties[assignment.property].attribute?.description.isExternal == true
      else { continue }
      if let file = externals.file(for: ExternalData(Data(bytes))) {
        update.assignments[place].value = .value(.file(file))
      }
      if let problem = externals.problem { throw problem }
    }
    return update
  }

  /// - Throws: ``RefusedRows`` if the rows of the request include any that match `refused`.
  private func refuse(_ refused: QueryPredicate, _ request: StoreRequest) throws {
    var request = request
    request.predicate = .and([request.predicate ?? .constant(true), refused])
    request.limit = RefusedRows.most
    var keys: [Int64] = []
    try fetchKeys(request) { key, _ in keys.append(key) }
    if !keys.isEmpty { throw RefusedRows(keys: keys) }
  }

  /// A request for the same rows by key.
  private func requestByKey(_ request: StoreRequest) throws -> StoreRequest {
    var keys: [StoredValue] = []
    try fetchKeys(request) { key, _ in keys.append(.integer(key)) }
    return StoreRequest(
      entity: request.entity, includesSubentities: request.includesSubentities,
      predicate: .isIn(.path(PropertyPath(variable: 0)), keys, .integer))
  }

  /// Runs a write statement and reads the keys of its rows.
  private func runForKeys(
    _ statement: Statement, _ entity: Int, _ body: (_ key: Int64, _ entity: Int) throws -> Void
  ) throws {
    let isInHierarchy = layout.tables[entity].isInHierarchy
    let root = layout.model.entities[entity].root
    try run(statement) { pointer in
      while true {
        let code = trellis_sqlite3_step(pointer)
        if code == TRELLIS_SQLITE_DONE { return }
        guard code == TRELLIS_SQLITE_ROW else { throw violation(code, entity) }
        let key = trellis_sqlite3_column_int64(pointer, 0)
        try body(key, isInHierarchy ? try self.entity(of: pointer, in: root) : entity)
      }
    }
  }

  // MARK: History

  /// Keeps the rows of a request as they are.
  private func keepRows(of request: StoreRequest, _ history: HistoryWriter) throws {
    guard history.plan.entities[request.entity]?.hasValues == true else { return }
    var keys: [Int64] = []
    try fetchKeys(request) { key, _ in keys.append(key) }
    try keepRows(of: request.entity, keys, history)
  }

  /// Notes changed rows.
  private func note(_ rows: [BatchOutcome.Row], _ history: HistoryWriter) {
    var start = 0
    while start < rows.count {
      let first = rows[start]
      let end = rows[start...].firstIndex { $0.entity != first.entity || $0.properties != first.properties }
      let group = rows[start..<(end ?? rows.endIndex)]
      history.changes.addUpdates(of: first.entity, first.properties, group.map(\.key))
      start = group.endIndex
    }
  }

  /// Notes the rows of a request before they are deleted, if that is needed to keep anything of them.
  ///
  /// - Returns: false if their keys are enough, and not noted yet.
  private func noteDeletes(of request: StoreRequest, _ history: HistoryWriter) throws -> Bool {
    let plan = history.plan
    let entities = layout.model.entities[request.entity].subtree
    guard plan.entities[request.entity]?.hasValues == true || entities.contains(where: { !plan.kept[$0].isEmpty })
    else { return false }
    var keys: [Int64] = []
    try fetchKeys(request) { key, _ in keys.append(key) }
    try noteDeletes(of: request.entity, keys, isExact: false, history)
    return true
  }

  // MARK: Deleting

  /// - Throws: ``ConstraintViolations``; ``StoreError``.
  /// - Complexity: a few statements for each level of cascades, and memory for the keys of the rows. If a partner may
  ///   deny the delete, or must keep a number of members, the rows are read.
  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    guard layout.tables.indices.contains(delete.request.entity) else { throw PlanError.unknownEntity }
    let reach = DeleteReach(delete.request, model)
    if reach.asksPartners { return try deleteAllByRows(delete, in: model) }
    var outcome = BatchOutcome()
    try writing(by: delete.author) {
      outcome = reach.isAlone ? try deleteAlone(delete.request) : try deleteWithMembers(delete.request, reach)
    }
    return outcome
  }

  private func deleteAlone(_ request: StoreRequest) throws -> BatchOutcome {
    var outcome = BatchOutcome()
    let isNoted = try history.map { try noteDeletes(of: request, $0) } ?? true
    let statement = try statement(deleting: request)
    try database.bind(shape.values, to: statement)
    try runForKeys(statement, request.entity) { key, entity in
      outcome.deleted.append(BatchOutcome.Row(key: key, entity: entity))
    }
    if let history, !isNoted {
      for (entity, rows) in Dictionary(grouping: outcome.deleted, by: \.entity).sortedByKey {
        history.changes.add(.deleted, of: entity, rows.map(\.key))
      }
    }
    outcome.found = outcome.deleted.count
    return outcome
  }

  /// Finds the keys level by level. Then the references from remaining rows are cleared, and the rows are deleted, the
  /// last level first.
  private func deleteWithMembers(_ request: StoreRequest, _ reach: DeleteReach) throws -> BatchOutcome {
    var outcome = BatchOutcome()
    var seen: Set<Int64> = []
    var level: [BatchOutcome.Row] = []
    try fetchKeys(request) { level.append(BatchOutcome.Row(key: $0, entity: $1)) }
    outcome.found = level.count
    var levels: [[BatchOutcome.Row]] = []
    while !level.isEmpty {
      for row in level { seen.insert(row.key) }
      outcome.deleted += level
      levels.append(level)
      level = try members(under: level, seen)
    }
    for number in reach.unlinking { try unlink(number, of: outcome.deleted, seen, &outcome) }
    if let history { note(outcome.updated, history) }
    for level in levels.reversed() {
      for root in Set(level.map { layout.model.entities[$0.entity].root }).sorted() {
        try deleteRows(of: root, keys(in: level) { layout.model.entities[$0].root == root })
      }
    }
    return outcome
  }

  /// The members of a level that are deleted by cascade.
  private func members(under level: [BatchOutcome.Row], _ seen: Set<Int64>) throws -> [BatchOutcome.Row] {
    var found: [BatchOutcome.Row] = []
    var new: Set<Int64> = []
    for entity in Set(level.map(\.entity)).sorted() {
      for case .relationship(let relationship) in layout.model.entities[entity].properties
      where relationship.cascadesInStore {
        guard let inverse = relationship.inverse else { continue }
        let keys = keys(in: level) { $0 == entity }
        let path = PropertyPath(variable: 0).appending(inverse)
        let request = StoreRequest(
          entity: relationship.destination, predicate: .isIn(.path(path), keys.map { .integer($0) }, .integer))
        try fetchKeys(request) { key, entity in
          if !seen.contains(key) && new.insert(key).inserted {
            found.append(BatchOutcome.Row(key: key, entity: entity))
          }
        }
      }
    }
    return found
  }

  /// Clears the references from remaining rows to deleted rows.
  private func unlink(
    _ number: RelationshipNumber, of victims: [BatchOutcome.Row], _ seen: Set<Int64>, _ outcome: inout BatchOutcome
  ) throws {
    guard let reference = layout.relationship(number.entity, number.property) else { return }
    let owners = layout.model.entities[reference.destination].subtree
    let keys = keys(in: victims, owners.contains)
    let mask = ColumnMask(bits: ColumnMask.bit(of: number.property))
    if let history, history.plan.hasValues {
      for (entity, rows) in try rowsReferring(by: number, to: keys) { try keepRows(of: entity, rows, history) }
    }
    let statement = try memberStatement(.unlink, number) { layout.unlinkStatement(number) }
    try withKeys(keys, statement) {
      try runForKeys(statement, number.entity) { key, entity in
        guard !seen.contains(key) else { return }
        outcome.updated.append(BatchOutcome.Row(key: key, entity: entity, properties: mask))
      }
    }
  }

  /// The sorted keys of the rows of some entities.
  private func keys(in rows: [BatchOutcome.Row], _ isWanted: (Int) -> Bool) -> [Int64] {
    rows.compactMap { isWanted($0.entity) ? $0.key : nil }.sorted()
  }
}
