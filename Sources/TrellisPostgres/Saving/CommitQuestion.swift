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

  /// Leaves the mark.
  var statement: ServerStatement {
    ServerStatement(
      "INSERT INTO \(setup.layout.names.saves) VALUES ($1, $2, now()) "
        + "ON CONFLICT (\"connection\") DO UPDATE SET \"save\" = $2, \"time\" = now()", parameters)
  }

  /// Selects the mark if it is there.
  var question: ServerStatement {
    ServerStatement(
      "SELECT 1 FROM \(setup.layout.names.saves) WHERE \"connection\" = $1 AND \"save\" = $2", parameters)
  }

  /// Writes the mark again if it is there, and returns it. Its commit waits for the replicas that follow synchronously, and
  /// so for all that was committed before.
  var confirmation: ServerStatement {
    ServerStatement(
      "UPDATE \(setup.layout.names.saves) SET \"time\" = now() WHERE \"connection\" = $1 AND \"save\" = $2 RETURNING 1",
      parameters)
  }

  /// Deletes the marks of connections that were not used for a day.
  static func deleteOld(_ setup: PostgresSetup) -> ServerStatement {
    ServerStatement("DELETE FROM \(setup.layout.names.saves) WHERE \"time\" < now() - interval '1 day'")
  }
}

/// The question what has become of a transaction whose commit got no answer.
struct CommitQuestion {
  private let store: PostgresStore
  private let transaction: String
  private let mark: SaveMark

  init(_ store: PostgresStore, _ transaction: String, _ mark: SaveMark) {
    self.store = store
    self.transaction = transaction
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
        return try isInProgress(connection) ? nil : isThere(connection)
      }
      if let answer { return answer }
      Thread.sleep(forTimeInterval: pause)
      pause = min(1, pause * 2)
    } while Date.now < end
    throw StoreError(
      .inDoubt,
      "The connection to \(store.name) was lost while a save was committed, and the server did not say whether it was: "
        + "it is transaction \(transaction).",
      remedy: "When the server can be reached, read the objects again.")
  }

  /// Whether the mark is there. Nil if this is not known, because the server is a replica that may not have it yet.
  private func isThere(_ connection: ServerConnection) throws(ServerError) -> Bool? {
    // In this order: a replica that is promoted in between has everything when the mark is looked for.
    let (results, failure) = try connection.run([.isInRecovery, mark.question], isInterruptible: false)
    if let failure { throw failure }
    guard results.count == 2, results[0].count == 1, results[0].integer(0, 0) == 0 else { return nil }
    if results[1].count == 0 { return false }
    // A commit whose session was ended while it waited for a replica is there, and gone if the replica takes over.
    let confirmation = try connection.run([mark.confirmation], isInterruptible: false)
    if let failure = confirmation.failure { throw failure }
    return confirmation.results.first?.count == 1 ? true : nil
  }

  /// Whether the server still works on the transaction, because it has not noticed that its client is gone.
  private func isInProgress(_ connection: ServerConnection) throws(ServerError) -> Bool {
    var parameters = ServerParameters()
    parameters.add(transaction)
    do throws(ServerError) {
      let question = ServerStatement("SELECT pg_xact_status($1::xid8)", parameters)
      let (results, failure) = try connection.run([question], isInterruptible: false)
      if let failure { throw failure }
      return results.first?.text(0, 0) == "in progress"
    } catch {
      // A server that has crashed does not know the number yet.
      if error.isShutdown || error.isSilence { throw error }
      return false
    }
  }
}
