public import TrellisModel

/// New values for all rows of a request.
public struct BatchUpdate: Sendable {
  /// The new value of one column.
  public struct Assignment: Hashable, Sendable {
    /// The number of an attribute, or of a to-one that is stored in the row.
    public var property: Int
    /// The value, computed from constants and from the row's old values.
    public var value: Operand

    public init(property: Int, value: Operand) {
      self.property = property
      self.value = value
    }
  }

  public var request: StoreRequest
  /// The assignments, at most one per property.
  public var assignments: [Assignment]
  /// A condition that no row of the request may meet; otherwise nothing is changed.
  public var refused: QueryPredicate?

  public init(request: StoreRequest, assignments: [Assignment], refused: QueryPredicate? = nil) {
    self.request = request
    self.assignments = assignments
    self.refused = refused
  }

  /// The assigned properties, as far as a mask can distinguish them.
  package var mask: ColumnMask { ColumnMask(bits: assignments.reduce(0) { $0 | ColumnMask.bit(of: $1.property) }) }
}

/// The deletion of all rows of a request, with the effects of the model's delete rules.
public struct BatchDelete: Sendable {
  public var request: StoreRequest

  public init(request: StoreRequest) { self.request = request }
}

/// The result of changing many rows.
public struct BatchOutcome: Hashable, Sendable {
  /// A row and its changed properties.
  public struct Row: Hashable, Sendable {
    public var key: Int64
    public var entity: Int
    public var properties: ColumnMask

    public init(key: Int64, entity: Int, properties: ColumnMask = ColumnMask(bits: 0)) {
      self.key = key
      self.entity = entity
      self.properties = properties
    }
  }

  /// The rows with new values; for a delete, the rows with references that became nil.
  public var updated: [Row]
  /// The deleted rows: first those of the request, then those deleted by cascades.
  public var deleted: [Row]
  /// The number of rows that the request matched.
  public var found: Int

  public init(updated: [Row] = [], deleted: [Row] = [], found: Int = 0) {
    self.updated = updated
    self.deleted = deleted
    self.found = found
  }
}

/// Rows that a ``BatchUpdate`` is not allowed to change as requested. Nothing was written.
public struct RefusedRows: Error, Hashable, Sendable, CustomStringConvertible {
  /// The keys of some of the rows.
  public var keys: [Int64]

  public init(keys: [Int64]) { self.keys = keys }

  public var description: String {
    "Nothing was changed: the rows of \(keys.prefix(5).map(String.init).joined(separator: ", "))"
      + "\(keys.count > 5 ? " and others" : "") would get values that their rules forbid."
  }

  /// The maximum number of reported keys.
  public static let most = 100
}

// MARK: - Batch operations

extension StoreConnection {
  public func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try untilNobodyInterferes { try RowsToUpdate(update, model, self).write(self) }
  }

  public func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try deleteAllByRows(delete, in: model)
  }

  /// Reads the rows to delete or change, and saves them.
  package func deleteAllByRows(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try untilNobodyInterferes { try RowsToDelete(delete.request, model, self).write(self) }
  }

  /// Retries `body`, which first reads rows and then writes them by a save. The save fails if another writer changed
  /// the rows in between.
  private func untilNobodyInterferes<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<64 {
      do { return try body() } catch is SaveConflict {} catch is NewPartners {}
    }
    throw StoreError(
      .busy, "Others kept writing the rows of a change faster than it could be made.", remedy: "Try again later.")
  }
}

/// A save met partners that did not exist when its rows were read.
struct NewPartners: Error {}

/// A row that was read to be written back with other values.
final class ReadRow: StoredRecord, QueryObject {
  let entity: Entity
  let storedKey: Int64
  let storedVersion: Int64
  private var values: [StoredValue]

  init(_ row: RowReader, _ model: Model) throws {
    guard model.entities.indices.contains(row.entity) else {
      throw StoreError(
        .unreadableValue, "A row belongs to no entity of the model.", remedy: "Restore the file from a backup.")
    }
    entity = model.entities[row.entity]
    storedKey = row.key
    storedVersion = row.version
    row.problem = nil
    values = entity.columns.enumerated().map { row.value($0, $1.storageClass) }
    if let problem = row.problem {
      throw StoreError(
        .unreadableValue, "A value of \(entity.name) does not fit: \(problem.what).",
        remedy: "Repair the row with another tool, or restore the file from a backup.", entity: entity.name)
    }
  }

  /// The value of a property that is stored in the row; null for any other property.
  func value(_ property: Int) -> StoredValue {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else {
      return .null
    }
    return values[column]
  }

  func set(_ property: Int, _ value: StoredValue) {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else { return }
    values[column] = value
    // An object that is no longer a member has no position among the members.
    if value.isNull, case .column(_, let order?) = entity.properties[property].relationship?.home {
      values[order] = .null
    }
  }

  func writeRow(to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) { row.write(value, of: column, in: entity) }
  }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) where properties.contains(column.property) {
      row.write(value, of: column, in: entity)
    }
  }

  // MARK: QueryObject

  var queryKey: Int64 { storedKey }
  var queryEntityName: String { entity.name }
  func queryValue(_ property: Int) -> StoredValue { value(property) }
  func queryPartner(_ property: Int) -> ReadRow? { nil }
  func queryMembers(_ property: Int) -> [ReadRow] { [] }
}

// MARK: - Rows to update

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
