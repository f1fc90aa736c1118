import Foundation
import Synchronization
import TrellisModel
import TrellisStorage

/// The connections to a replica that answers reads.
///
/// It answers what it has replayed at least up to the last save that this program has made or heard of. A read waits for
/// that for a moment, and goes to the primary otherwise. So a program sees its own saves in both cases.
final class ReadReplica: Sendable {
  let pool: ServerPool
  private let generation: StoreGeneration
  private let metadata: String
  /// The position in the log of the primary that the replica has to have replayed.
  private let required = Atomic<Int64>(0)
  /// Whether the position of a save is not known, so that the replica answers nothing until the next one.
  private let isUnknown = Atomic(false)
  /// Until when the replica is left alone, because it could not be reached.
  private let rest = Locked<ContinuousClock.Instant?>(nil)

  /// The answer of a replica that cannot be used for this read.
  private struct Refusal: Error {
    /// Whether it has not replayed enough yet.
    let isBehind: Bool
  }

  /// How long a read waits for the replica, and for a connection to it.
  private static let patience = 0.1
  /// How long a replica that could not be reached is left alone.
  private static let pause = Duration.seconds(5)

  init(_ pool: ServerPool, _ generation: StoreGeneration, _ setup: PostgresSetup) {
    self.pool = pool
    self.generation = generation
    metadata = setup.layout.names.metadata(.migrations)
  }

  // MARK: Positions

  /// Selects the position of the primary's log up to which everything lies that is committed by now. Null at a replica.
  ///
  /// Commits that do not wait for the disk may lie after what has been written to it.
  static let position =
    "(SELECT CASE WHEN NOT pg_is_in_recovery() THEN ((CASE current_setting('synchronous_commit') WHEN 'off' "
    + "THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) - '0/0'::pg_lsn)::bigint END)"

  /// Notes the answer to ``position``. Without one, or from a server that is a replica itself, the position of a save is
  /// unknown.
  func require(_ answer: ServerResult?, column: Int = 0) {
    guard let answer, answer.count == 1, !answer.isNull(0, column) else {
      return isUnknown.store(true, ordering: .sequentiallyConsistent)
    }
    required.max(answer.integer(0, column), ordering: .sequentiallyConsistent)
    isUnknown.store(false, ordering: .sequentiallyConsistent)
  }

  // MARK: Reading

  /// Lets the replica answer.
  ///
  /// - Returns: nil if the primary has to.
  /// - Throws: errors of the closure that are not those of the server.
  func reading<Result>(_ body: (ServerConnection, ReadCheck) throws -> Result) throws -> Result? {
    try trying { connection in
      defer { pool.giveBack(connection) }
      return try body(connection, check)
    }
  }

  /// Takes a connection to a replica that has replayed enough, for reads that see one moment.
  ///
  /// - Returns: nil if the primary has to answer.
  func take() throws -> ServerConnection? {
    try trying { connection in
      do {
        let check = check
        try check.check(connection.run(check.statement))
        return connection
      } catch {
        pool.giveBack(connection)
        throw error
      }
    }
  }

  private func trying<Result>(_ body: (ServerConnection) throws -> Result) throws -> Result? {
    let end = ContinuousClock.now + .seconds(Self.patience)
    var pause = 0.001
    while !isResting, !isUnknown.load(ordering: .sequentiallyConsistent) {
      guard let connection = try? pool.take(within: Self.patience) else {
        // A pool whose connections are all in use is no reason to rest.
        if pool.figures.inUse == 0 { leaveAlone() }
        return nil
      }
      do {
        return try body(connection)
      } catch let error as ServerError where error.state != ServerError.cancelled.state {
        if error.isLost || error.isShutdown {
          pool.renew()
          leaveAlone()
        }
        return nil
      } catch let refusal as Refusal {
        guard refusal.isBehind, ContinuousClock.now < end else { return nil }
        Thread.sleep(forTimeInterval: pause)
        pause *= 2
      }
    }
    return nil
  }

  private var isResting: Bool {
    rest.withLock { until in
      guard let end = until else { return false }
      if end > .now { return true }
      until = nil
      return false
    }
  }

  private func leaveAlone() { rest.withLock { $0 = .now + Self.pause } }

  /// Asks for the generation and for the position in one statement. The rows that a later statement reads are as new as
  /// the answer, or newer.
  private var check: ReadCheck {
    let position = required.load(ordering: .sequentiallyConsistent)
    var parameters = ServerParameters()
    parameters.add(position)
    let isCurrent =
      "(NOT pg_is_in_recovery() OR coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)::bigint >= $1)::int::bigint"
    return ReadCheck(statement: ServerStatement("SELECT \(metadata), \(isCurrent)", parameters)) {
      [generation] answer in
      guard answer.count == 1, answer.integer(0, 1) == 1 else { throw Refusal(isBehind: true) }
      // A replica may not have a migration yet, or have one already that the primary tells of in a moment.
      do { try generation.check(answer) } catch { throw Refusal(isBehind: false) }
    }
  }
}
