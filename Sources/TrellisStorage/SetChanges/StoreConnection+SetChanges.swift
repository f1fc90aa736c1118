import TrellisQuery
public import TrellisSchema

extension StoreConnection {
  public func updateAll(_ update: SetUpdate, in model: Model) throws -> SetOutcome {
    try untilNobodyInterferes { try RowsToUpdate(update, model, self).write(self) }
  }

  public func deleteAll(_ delete: SetDelete, in model: Model) throws -> SetOutcome {
    try deleteAllByRows(delete, in: model)
  }

  /// Reads the rows that go or let go, and saves them.
  package func deleteAllByRows(_ delete: SetDelete, in model: Model) throws -> SetOutcome {
    try untilNobodyInterferes { try RowsToDelete(delete.request, model, self).write(self) }
  }

  /// Rows are read first and written by a save, which refuses when somebody else has written meanwhile; then it begins
  /// again.
  private func untilNobodyInterferes<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<64 {
      do { return try body() } catch is SaveConflict {} catch is NewPartners {}
    }
    throw StoreError(
      .busy, "Others kept writing the rows of a change faster than it could be made.", remedy: "Try again later.")
  }
}

/// A save met partners that nobody had when its rows were read.
struct NewPartners: Error {}

/// A row that was read, to be written back with other values.
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

  /// The value of a property that lies in the row; null for any other.
  func value(_ property: Int) -> StoredValue {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else {
      return .null
    }
    return values[column]
  }

  func set(_ property: Int, _ value: StoredValue) {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else { return }
    values[column] = value
    // Whoever is no member any more has no place among them.
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
