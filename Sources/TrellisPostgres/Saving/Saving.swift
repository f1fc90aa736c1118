import Foundation
import TrellisModel
package import TrellisStorage

extension PostgresConnection {
  /// Writes a request in one round trip, or in two if this program has to read answers of the server before it commits.
  ///
  /// A save that meets a deadlock, or whose connection is lost, is tried again. If the connection is lost while it
  /// commits, the server is asked what has become of the transaction.
  @discardableResult package func save(_ request: SaveRequest) throws -> SaveOutcome {
    guard !request.isEmpty else { return SaveOutcome() }
    return try run(request) { try SaveStatements(request, setup, store.history) }.outcome
  }

  /// Runs the statements of a save, or of a change of many rows.
  ///
  /// - Throws: as `save`; ``RefusedRows``.
  func run(_ request: SaveRequest, _ makeStatements: () throws -> SaveStatements) throws -> SaveAnswer {
    guard !isPinned else {
      throw StoreError(
        .internalError, "A save was made while the connection shows one moment.", remedy: "Save after the reads.")
    }
    if onlyReads {
      throw StoreError(
        .readOnly, "A context that reads from a replica does not save.",
        remedy: "Save in a context of newContext(), or of perform without fromReplica.")
    }
    if let refusal = store.refusalOfWrites { throw refusal }
    let statements = try makeStatements()
    if let trace { for step in statements.steps { trace.noteRun(step.statement.text) } }
    return try SaveRun(store, request, statements).run()
  }
}

/// What the server has answered to the statements of a save.
struct SaveAnswer {
  var outcome = SaveOutcome()
  /// The rows that a request for many has changed and deleted.
  var batch = BatchOutcome()
  /// The record of the changes for the history. Nil if nothing is recorded.
  fileprivate var record: [UInt8]?
}

/// The execution of a save's statements.
struct SaveRun {
  private let store: PostgresStore
  private let request: SaveRequest
  private let statements: SaveStatements

  init(_ store: PostgresStore, _ request: SaveRequest, _ statements: SaveStatements) {
    self.store = store
    self.request = request
    self.statements = statements
  }

  /// The number of times that a save is tried.
  private static let mostAttempts = 10

  func run() throws -> SaveAnswer {
    var attempt = 1
    while true {
      do {
        return try attemptOnce()
      } catch let error as ServerError {
        let isAgain =
          error.isTransient || error.isShutdown && attempt < 3 || store.leavesReadOnlyServer(after: error)
        // A server that is silent on one connection is so on all.
        if error.isSilence && error.isLost { store.pool.renew() }
        guard isAgain, attempt < Self.mostAttempts else {
          throw error.storeError(store.name, doing: ServerError.saving)
        }
        if error.isShutdown { store.pool.renew() }
        // Savers that met each other wait for different times.
        if attempt > 1 { Thread.sleep(forTimeInterval: .random(in: 0.001...0.01) * Double(attempt)) }
        attempt += 1
      }
    }
  }

  private func attemptOnce() throws -> SaveAnswer {
    let connection = try store.pool.take()
    defer { store.pool.giveBack(connection) }
    connection.isInTransaction = true
    defer { connection.isInTransaction = false }
    return try store.watcher.countingTransaction { try attempt(on: connection) }
  }

  private static let begin = ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED")

  private func attempt(on connection: ServerConnection) throws -> SaveAnswer {
    let answer = try attemptAtOnce(on: connection) ?? attemptInTwo(on: connection)
    store.didWrite()
    store.didSave()
    return answer
  }

  /// Sends the whole transaction in one round trip, if the server itself can decide whether it is committed.
  ///
  /// - Returns: nil if this program has to decide, or has to find out why the server has refused the transaction.
  private func attemptAtOnce(on connection: ServerConnection) throws -> SaveAnswer? {
    guard let steps = statements.decidedByServer else { return nil }
    // Nothing has to be asked about a connection that is lost before anything is sent.
    if connection.isClosedByServer { throw ServerError(message: "the server has closed the connection", isLost: true) }
    var answer = SaveAnswer()
    answer.record = try store.history.flatMap { try SaveRecord(store, $0, request).record(of: [], statements) }
    let transaction = [Self.begin, store.generation.guarding] + steps.map(\.statement)
    do {
      try commit(connection, after: transaction, answer, isInterruptible: true)
      return answer
    } catch let error as ServerError where error.isOfWhatIsWritten {
      return nil
    }
  }

  /// Sends the statements in one round trip, and what commits them in another one.
  private func attemptInTwo(on connection: ServerConnection) throws -> SaveAnswer {
    let transaction =
      [Self.begin, store.generation.statement] + statements.steps.map(\.statement) + [SaveStatements.checkConstraints]
    let (results, failure) = try connection.run(transaction)
    let answer: SaveAnswer
    do {
      if results.count > 1 { try store.generation.check(results[1]) }
      answer = try read(Array(results.dropFirst(2)), failure)
    } catch {
      connection.rollBack()
      throw error
    }
    if Interruption.current?.isCancelled == true {
      connection.rollBack()
      throw ServerError.cancelled
    }
    try commit(connection, answer, isInterruptible: false)
    return answer
  }

  /// Commits a transaction, together with statements that begin it, or after them.
  ///
  /// - Parameter isInterruptible: whether the statements may be interrupted. What is sent alone is never interrupted.
  /// - Throws: ``ServerError`` if nothing is saved; ``StoreError`` if that is not known.
  private func commit(
    _ connection: ServerConnection, after leading: [ServerStatement] = [], _ answer: SaveAnswer, isInterruptible: Bool
  ) throws {
    let mark = SaveMark(store.setup, connection.identity)
    var transaction = leading + [mark.statement]
    if let record = answer.record, let history = store.history {
      transaction.append(HistoryStatement(store.setup, history).insert(record, author: request.author))
    }
    let place = transaction.count
    transaction.append(ServerStatement("COMMIT"))
    let replica = store.replica
    if replica != nil { transaction.append(ServerStatement("SELECT \(ReadReplica.position)")) }
    var error: ServerError
    do throws(ServerError) {
      let (results, failure) = try connection.run(transaction, isInterruptible: isInterruptible)
      if results.count > place {
        // The answer is there, whatever comes after it.
        replica?.require(failure == nil ? results.last : nil)
        if !connection.hasLonelyCommit { return }
      }
      // What no replica has is gone if one of them takes over.
      error = failure ?? ServerError(message: "the commit is at no replica", isLost: true)
    } catch let thrown {
      error = thrown
    }
    if isInDoubt(error, place, connection) {
      if try CommitQuestion(store, mark).isCommitted(error) { return requirePosition() }
    } else if connection.answeredStatements < place {
      connection.rollBack()
    }
    throw error
  }

  /// Whether a commit may be in the store though it has failed.
  ///
  /// - Parameter place: the place of the COMMIT among the statements that were sent together.
  private func isInDoubt(_ error: ServerError, _ place: Int, _ connection: ServerConnection) -> Bool {
    guard error.isLost && !error.isOfBusyPool || error.isShutdown else { return false }
    // What the server says before it ends a session is the answer to the statement that it has not done any more.
    return error.state.isEmpty || error.isSilence || connection.answeredStatements >= place
  }

  /// Asks for the position of a save whose own answer is lost.
  private func requirePosition() {
    guard let replica = store.replica else { return }
    replica.require(
      try? store.pool.withConnection { try $0.run(ServerStatement("SELECT \(ReadReplica.position)")) })
  }

  /// - Throws: ``SaveConflict``; ``ConstraintViolations``; ``RefusedRows``; ``StoreError``; a ``ServerError`` of the
  ///   connection.
  private func read(_ results: [ServerResult], _ failure: ServerError?) throws -> SaveAnswer {
    var answer = SaveAnswer()
    var refused: [Int64] = []
    var stale: [SaveConflict.Row] = []
    var broken = ConstraintViolations()
    var found: Set<Int64>?
    let leaving = request.denials.isEmpty ? nil : request.departures
    for (result, step) in zip(results, statements.steps) {
      switch step.purpose {
      case .other, .cleared, .placed, .pairs: break
      case .note(let name): if result.count != 1 { throw StoreNoteConflict(name: name) }
      case .found(let entity):
        answer.batch.deleted = rows(of: result, entity, entityColumn: 1)
        found = Set(answer.batch.deleted.map(\.key))
      case .deleted(let entity) where statements.returnsDeleted:
        add(rows(of: result, entity, entityColumn: 2), beyond: found, to: &answer.batch)
      case .deletedKeys(let entity) where statements.returnsDeleted:
        add(rows(of: result, entity, entityColumn: 1), beyond: found, to: &answer.batch)
      case .deleted, .deletedKeys: break
      case .unlinked(let relationship):
        let mask = ColumnMask(only: relationship.property)
        answer.batch.updated += rows(of: result, relationship.entity, entityColumn: 1, mask)
      case .stale(let entities):
        for row in 0..<result.count {
          let key = result.integer(row, 0)
          if let entity = entities[key] { stale.append(SaveConflict.Row(entity: entity, key: key)) }
        }
      case .denials(let relationship, let table, let isFirst):
        for row in 0..<result.count {
          let (owner, partner) = (result.integer(row, 0), result.integer(row, 1))
          if leaving?.takes(table, owner, partner, isFirst: isFirst) != true {
            broken.denials.append(.init(relationship: relationship, owner: owner, partner: partner))
          }
        }
      case .cascaded: answer.outcome.cascaded += (0..<result.count).map { result.integer($0, 0) }
      case .counts(let check):
        for row in 0..<result.count {
          let (owner, found) = (result.integer(row, 0), Int(result.integer(row, 1)))
          let entry = ConstraintViolations.Count(relationship: check.relationship, owner: owner, found: found)
          if !check.allows(found), !broken.counts.contains(entry) { broken.counts.append(entry) }
        }
      case .changed(let entity, let mask):
        for row in 0..<result.count where result.integer(row, 1) == 1 { refused.append(result.integer(row, 0)) }
        answer.batch.updated = rows(of: result, entity, entityColumn: 2, mask)
        answer.batch.found = result.count
      }
    }
    if let failure, failure.isTransient || failure.isShutdown || failure.isOfReadOnlyServer { throw failure }
    if !stale.isEmpty { throw SaveConflict(rows: stale) }
    if !refused.isEmpty { throw RefusedRows(keys: Array(refused.sorted().prefix(RefusedRows.most))) }
    if let failure {
      let entity = statements.steps.indices.contains(results.count) ? statements.steps[results.count].entity : nil
      throw WriteRefusal(store.setup).error(failure, entity)
    }
    if !broken.isEmpty { throw broken }
    if let history = store.history {
      answer.record = try SaveRecord(store, history, request).record(of: results, statements)
    }
    return answer
  }

  /// The rows of an answer, whose first column is the key.
  ///
  /// - Parameter entityColumn: the column with the entity in hierarchies.
  private func rows(
    of result: ServerResult, _ entity: Int, entityColumn: Int, _ mask: ColumnMask = ColumnMask(bits: 0)
  ) -> [BatchOutcome.Row] {
    let table = store.setup.layout.tables[entity]
    return (0..<result.count).map { row in
      let number = table.entity(named: result, row, entityColumn) ?? entity
      return BatchOutcome.Row(key: result.integer(row, 0), entity: number, properties: mask)
    }
  }

  /// Adds deleted rows behind those of the request. Without a list of these, all are of the request.
  private func add(_ rows: [BatchOutcome.Row], beyond found: Set<Int64>?, to batch: inout BatchOutcome) {
    batch.deleted += found.map { found in rows.filter { !found.contains($0.key) } } ?? rows
    batch.found = found?.count ?? batch.deleted.count
  }
}

// MARK: - Write refusal

/// Describes the server's constraint errors in the model's terms.
struct WriteRefusal {
  private let setup: PostgresSetup

  init(_ setup: PostgresSetup) { self.setup = setup }

  func error(_ error: ServerError, _ entity: Int?) -> StoreError {
    let name = entity.map { setup.model.entities[$0].name }
    switch error.state {
    case "23505", "23P01":
      guard let index = setup.constraints[error.constraint] else {
        guard setup.primaryKeys.contains(error.constraint) else { break }
        return StoreError(
          .notUnique, "A row with the key of a new \(name ?? error.table) is there already.",
          remedy: "Make the object again in a new context.", entity: name)
      }
      let owner = setup.model.entities[index.entity]
      let names = index.properties.map { owner.properties[$0].name }
      return StoreError(
        .notUnique, "Another \(owner.name) has the same \(names.joined(separator: ", ")).",
        remedy: "Give it another value, or change the other object in the same save.", entity: owner.name,
        properties: names)
    case "23503":
      guard let key = setup.foreignKeys[error.constraint] else {
        guard error.constraint.hasPrefix(PostgresSchema.foreignKeyPrefix) else { break }
        return StoreError(
          .refusedByServer,
          "An object of \(name ?? error.table) cannot be deleted: objects of a newer model refer to it, by a relationship that this "
            + "program does not know (\(error.table), \(error.constraint)).",
          remedy: "Delete it with a program that has the newer model.", entity: name)
      }
      let owner = setup.model.entities[key.entity]
      let property = owner.properties[key.property].name
      return StoreError(
        .danglingReference, "\(owner.name).\(property) leads to an object that is not in the store.",
        remedy: "Save the object it leads to in the same save, or set the relationship to nil.", entity: owner.name,
        properties: [property])
    case "23502":
      // Another program may have added a column that must have a value.
      guard let entity, setup.hasColumn(error.column, entity) else { break }
      return StoreError(
        .unstorableValue, "A required attribute of \(name ?? error.table) has no value (\(error.column)).",
        remedy: "Give it a value.", entity: name)
    case "54000":
      return StoreError(
        .limit,
        "\(name.map { "A value of \($0) is too long for one of its indexes" } ?? "A value is too long for an index, which may be that of a derived attribute"): \(error.message).",
        remedy: "Shorten the value, or take the index or the unique key out of the model.", entity: name)
    default: if let check = BrokenCheck(error, [setup]) { return check.saveError(setup.name, entity: name) }
    }
    return error.storeError(setup.name, doing: ServerError.saving)
  }
}
