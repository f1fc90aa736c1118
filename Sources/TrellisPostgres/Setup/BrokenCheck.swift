import TrellisStorage

/// The refusal of a row by a check of the store itself. What Trellis writes keeps it, so another program has written the
/// row before the table had the check.
struct BrokenCheck {
  private let constraint: String
  private let table: String

  /// Nil for other errors.
  init?(_ error: ServerError, _ setups: [PostgresSetup]) {
    guard error.state == "23514", setups.contains(where: { $0.checks.contains(error.constraint) }) else { return nil }
    constraint = error.constraint
    table = error.table
  }

  private static let remedy =
    "Find the rows with check(), and repair or delete them in SQL: see The tables in Docs/PostgreSQL.md."

  func saveError(_ store: String, entity: String?) -> StoreError {
    StoreError(
      .refusedByServer,
      "The save would change a row of the table \(table) in \(store) that another program has written with a value that "
        + "the model does not have, against the constraint \(constraint); nothing was saved.",
      remedy: Self.remedy, entity: entity)
  }

  func migrationError(_ store: String) -> StoreError {
    StoreError(
      .refusedByServer,
      "\(store) cannot be migrated: it would change a row of the table \(table) that another program has written with a "
        + "value that the model does not have, against the constraint \(constraint); nothing was changed.",
      remedy: Self.remedy)
  }
}
