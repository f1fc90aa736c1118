import TrellisModel
import TrellisStorage

/// Deletes transactions from a history. The newest one always stays.
struct HistoryPurge {
  private let pool: ServerPool
  private let formerRows: FormerRows
  private let history: ServerHistory

  init(_ pool: ServerPool, _ setup: PostgresSetup, _ history: ServerHistory) {
    self.pool = pool
    formerRows = FormerRows(setup)
    self.history = history
  }

  private var names: SQLNames { formerRows.names }

  /// - Returns: the number of deleted transactions.
  func delete(before number: Int64) throws -> Int {
    var parameters = ServerParameters()
    parameters.add(number)
    let count = try delete("\"number\" < $1", parameters)
    try deleteFormerRows()
    return count
  }

  /// Deletes what is beyond the model's limit.
  func deleteOld() throws {
    guard let limit = history.limit else { return }
    if let days = limit.days {
      var parameters = ServerParameters()
      // A hundred thousand years are more than any history has.
      parameters.add(Int64(min(days, 36_500_000)))
      _ = try delete("\"time\" < now() - make_interval(days => $1::int)", parameters)
    }
    if let transactions = limit.transactions {
      var parameters = ServerParameters()
      parameters.add(Int64(transactions))
      _ = try delete(
        "\"number\" <= (SELECT \"number\" FROM \(names.history) ORDER BY \"number\" DESC OFFSET $1 LIMIT 1)", parameters
      )
    }
    try deleteFormerRows()
  }

  /// What a call that fails leaves, the next one deletes.
  private func deleteFormerRows() throws {
    for table in history.former.tables {
      try pool.reading(doing: "delete old history") { connection in
        _ = try connection.run(ServerStatement(formerRows.purge(table)))
      }
    }
  }

  private func delete(_ condition: String, _ parameters: ServerParameters) throws -> Int {
    // The first number that stays is noted with the delete, so that older positions are known to be gone.
    let text =
      "WITH d AS (DELETE FROM \(names.history) WHERE \(condition) AND \"number\" < (SELECT max(\"number\") FROM "
      + "\(names.history)) RETURNING \"number\"), n AS (UPDATE \(names.metadata) SET \"value\" = "
      + "greatest(\"value\"::bigint, (SELECT max(\"number\") + 1 FROM d))::text WHERE \"key\" = 'historyDeleted' "
      + "AND EXISTS (SELECT 1 FROM d)) SELECT count(*) FROM d"
    return try pool.reading(doing: "delete old history") { connection in
      Int(try connection.run(ServerStatement(text, parameters)).integer(0, 0))
    }
  }
}
