import Foundation
package import TrellisStorage

extension PostgresStore: ServedStore {
  package var connectionFigures: PoolFigures { pool.figures }

  package var replicaFigures: PoolFigures? { replica?.pool.figures }

  package func connectToReplica() throws -> any StoreConnection { PostgresConnection(self, fromReplica: true) }

  package func checkHealth(within seconds: Double) throws -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    do {
      return try checkHealth(before: end)
    } catch let error as ServerError {
      // The server has closed an idle connection, which says nothing of the next one.
      guard error.isLost || error.isShutdown, !error.isSilence, Date.now < end else {
        throw error.storeError(name, doing: "answer")
      }
      pool.renew()
    }
    do { return try checkHealth(before: end) } catch let error as ServerError {
      throw error.storeError(name, doing: "answer")
    }
  }

  private func checkHealth(before end: Date) throws -> Bool {
    try pool.withConnection(within: max(0, end.timeIntervalSinceNow)) { connection in
      defer { connection.patience = setup.options.statementPatience }
      connection.patience = max(0.1, end.timeIntervalSinceNow)
      let question = ServerStatement(
        "SELECT (NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off')::int::bigint")
      let answer = try connection.run(question, after: generation.statement) { try generation.check($0) }
      return answer.count == 1 && answer.integer(0, 0) == 1 && refusalOfWrites == nil
    }
  }
}
