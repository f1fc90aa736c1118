import Foundation
import TrellisModel
import TrellisStorage

/// What a save leaves in its transaction, so that it can be found afterwards: a random number in the row of its connection,
/// which the next save of the connection overwrites.
///
/// The number of the transaction is no such mark: a server that has crashed gives the number of a transaction that it has
/// lost to another one.
struct SaveMark {
  private let setup: PostgresSetup
  private let connection: Int64
  private let save = Int64.random(in: 1 ... .max)

  init(_ setup: PostgresSetup, _ connection: Int64) {
    self.setup = setup
    self.connection = connection
  }

  private var parameters: ServerParameters {
    var parameters = ServerParameters()
    parameters.add(connection)
    parameters.add(save)
    return parameters
  }

  /// Leaves the mark. Fails if the connection's row was ended by ``ending``.
  var statement: ServerStatement {
    ServerStatement(
      "INSERT INTO \(setup.layout.names.saves) AS s VALUES ($1, $2, now()) ON CONFLICT (\"connection\") DO UPDATE SET "
        + "\"save\" = CASE WHEN s.\"save\" = 0 THEN NULL ELSE $2 END, \"time\" = now()", parameters)
  }

  /// Selects 1 if the mark is there. Else it ends the connection's row, so that a transaction that has not left its mark
  /// yet never does.
  ///
  /// It waits for a transaction that has. Its own commit waits for the replicas that follow synchronously, and so for all
  /// that was committed before.
  var ending: ServerStatement {
    ServerStatement(
      "INSERT INTO \(setup.layout.names.saves) AS s VALUES ($1, 0, now()) ON CONFLICT (\"connection\") DO UPDATE SET "
        + "\"save\" = CASE WHEN s.\"save\" = $2 THEN $2 ELSE 0 END, \"time\" = now() "
        + "RETURNING (\"save\" = $2)::int::bigint", parameters)
  }

  /// Deletes the marks of connections that were not used for a day.
  static func deleteOld(_ setup: PostgresSetup) -> ServerStatement {
    ServerStatement("DELETE FROM \(setup.layout.names.saves) WHERE \"time\" < now() - interval '1 day'")
  }
}

/// The question what has become of a transaction whose commit got no answer.
struct CommitQuestion {
  private let store: PostgresStore
  private let mark: SaveMark

  init(_ store: PostgresStore, _ mark: SaveMark) {
    self.store = store
    self.mark = mark
  }

  /// The number of seconds that the server is asked for, while it cannot be reached or still works on the transaction.
  private static let patience: TimeInterval = 60

  /// - Parameter error: why the commit got no answer. A server that was silent is asked for the store's timeout only.
  /// - Throws: ``StoreError`` if the server cannot be asked.
  func isCommitted(_ error: ServerError) throws -> Bool {
    // A cancelled task needs the answer as well.
    try Interruption.$current.withValue(nil) { try ask(error) }
  }

  private func ask(_ error: ServerError) throws -> Bool {
    let patience = error.isSilence ? min(Self.patience, store.setup.options.timeout) : Self.patience
    let end = Date(timeIntervalSinceNow: patience)
    var pause = 0.01
    repeat {
      store.pool.renew()
      // Nil as well if the server cannot be reached yet.
      let answer = try? store.pool.withConnection { connection -> Bool? in
        // The question ends with this wait, and goes on if the task is cancelled.
        defer { connection.patience = store.setup.options.statementPatience }
        connection.patience = max(0.5, end.timeIntervalSinceNow)
        return try isThere(connection)
      }
      if let answer { return answer }
      Thread.sleep(forTimeInterval: pause)
      pause = min(1, pause * 2)
    } while Date.now < end
    throw StoreError(
      .inDoubt,
      "The connection to \(store.name) was lost during a save, and the server did not say whether it is committed.",
      remedy: "When the server can be reached, read the objects again.")
  }

  /// Whether the mark is there. A replica fails, because it cannot end the connection's row.
  private func isThere(_ connection: ServerConnection) throws(ServerError) -> Bool? {
    let (results, failure) = try connection.run([mark.ending], isInterruptible: false)
    if let failure { throw failure }
    // The answer of a commit that is at no replica is gone if one of them takes over.
    if connection.hasLonelyCommit { return nil }
    return results.first.flatMap { $0.count == 1 ? $0.integer(0, 0) == 1 : nil }
  }
}
