import TrellisQuery
public import TrellisSchema

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
