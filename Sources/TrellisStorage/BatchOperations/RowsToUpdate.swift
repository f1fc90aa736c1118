import TrellisQuery
import TrellisSchema

/// The rows of a ``BatchUpdate`` with their new values, for a store without a query language.
struct RowsToUpdate {
  private var request = SaveRequest()
  private var outcome = BatchOutcome()

  /// - Throws: ``RefusedRows``; ``StoreError``.
  /// - Complexity: linear in the number of rows, in time and memory.
  init(_ update: BatchUpdate, _ model: Model, _ connection: some StoreConnection) throws {
    let evaluators = try StoreError.evaluating {
      try update.assignments.map { (property: $0.property, value: try OperandEvaluator($0.value)) }
    }
    let refused = try StoreError.evaluating { try update.refused.map { try PredicateEvaluator($0) } }
    var refusedKeys: [Int64] = []
    var groups: [Int: SaveRequest.Updates] = [:]
    let mask = update.mask
    try connection.fetch(update.request) { reader in
      let row = try ReadRow(reader, model)
      if try refused?.matches(row) == true { refusedKeys.append(row.storedKey) }
      let values = try evaluators.map { try $0.value.value(of: row) }
      for (evaluator, value) in zip(evaluators, values) { row.set(evaluator.property, value) }
      groups[reader.entity, default: SaveRequest.Updates(entity: reader.entity)].records.append(row)
      groups[reader.entity]?.masks.append(mask)
      outcome.updated.append(BatchOutcome.Row(key: row.storedKey, entity: reader.entity, properties: mask))
    }
    if !refusedKeys.isEmpty { throw RefusedRows(keys: Array(refusedKeys.prefix(RefusedRows.most))) }
    request.updates = groups.values.sorted { $0.entity < $1.entity }
    outcome.found = outcome.updated.count
  }

  func write(_ connection: some StoreConnection) throws -> BatchOutcome {
    _ = try connection.save(request)
    return outcome
  }
}

extension StoreError {
  /// Runs `body` and converts an error of a predicate's evaluation to a store error.
  package static func evaluating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as EvaluationError {
      throw StoreError(.limit, "The store cannot evaluate the request.", remedy: error.description)
    }
  }
}
