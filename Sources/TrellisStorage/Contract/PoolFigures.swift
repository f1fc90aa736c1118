/// What a pool of workers or of connections does at a moment, and what it has done since its container was opened.
///
/// The counts only grow, so a monitor that reads them regularly has rates from their differences.
public struct PoolFigures: Hashable, Sendable, CustomStringConvertible {
  /// The maximum number of members of the pool.
  public var limit: Int
  /// The number of members that work. A thread that already has a connection gets another one beyond the limit.
  public var inUse = 0
  /// The number of callers that wait for a member.
  public var waiting = 0
  /// The number of calls that got a member.
  public var uses = 0
  /// The number of calls whose wait for a member has ended.
  public var waits = 0
  /// The number of waits that ended without a member: after a timeout, or because their task was cancelled.
  public var refusals = 0
  /// The sum of the waits that have ended.
  public var waitTime = Duration.zero
  /// The longest of the waits that have ended.
  public var longestWait = Duration.zero
  /// The number of members that were made, such as connections that were opened.
  public var made = 0

  /// Creates the figures of a pool that has not been used.
  public init(limit: Int) { self.limit = limit }

  /// The members at work, and the callers that wait: `3 of 8 in use, 2 waiting`.
  public var description: String { "\(inUse) of \(limit) in use, \(waiting) waiting" }
}

extension PoolFigures {
  /// Counts a wait that has ended.
  ///
  /// - Parameter gotMember: whether it ended with a member.
  package mutating func addWait(since start: ContinuousClock.Instant, gotMember: Bool) {
    let wait = start.duration(to: .now)
    waits += 1
    waitTime += wait
    longestWait = max(longestWait, wait)
    if gotMember { uses += 1 } else { refusals += 1 }
  }
}

/// A store behind a pool of connections to a server.
package protocol ServedStore: Store {
  /// What the pool of connections does.
  var connectionFigures: PoolFigures { get }
  /// What the pool of connections to a replica does. Nil if the store has no replica.
  var replicaFigures: PoolFigures? { get }
  /// Creates a connection for a context that only reads, and that a replica may answer.
  func connectToReplica() throws -> any StoreConnection
  /// Asks the server whether the store can be used.
  ///
  /// - Parameter seconds: the number of seconds that the answer may take, including the wait for a connection.
  /// - Returns: whether the server accepts writes.
  /// - Throws: ``StoreError``.
  func checkHealth(within seconds: Double) throws -> Bool
}
