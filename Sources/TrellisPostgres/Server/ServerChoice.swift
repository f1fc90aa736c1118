import TrellisModel
import TrellisStorage

/// What a store remembers of the servers that its address names, for all connections: which was the right one, and how far
/// the history of the cluster has come.
///
/// A replica that is promoted begins a new timeline. A former primary that comes back, or was only cut off, is on a former
/// one: what is committed there is lost, and what it answers is old.
final class ServerChoice: Sendable {
  private struct State {
    /// The number of the server that is tried first.
    var first = 0
    /// The highest timeline that a server has had; 0 if it is not known.
    var timeline: Int64 = 0
  }

  private let count: Int
  private let state = Locked(State())

  /// - Parameter count: the number of servers in the address.
  init(count: Int) { self.count = max(1, count) }

  /// The number of the server that is tried first.
  var first: Int { state.withLock { $0.first } }

  /// Tries a server first from now on, because a connection to it was made.
  func prefer(_ number: Int) { state.withLock { $0.first = number % count } }

  /// Tries a server last from now on, because it is silent or left behind.
  func leave(_ number: Int) {
    state.withLock { state in if state.first == number { state.first = (number + 1) % count } }
  }

  enum Timeline {
    case known, new, former
  }

  /// Notes the timeline of a server that accepts writes.
  func note(timeline: Int64) -> Timeline {
    state.withLock { state in
      if timeline < state.timeline { return .former }
      defer { state.timeline = timeline }
      // The first one tells nothing of others.
      return timeline > state.timeline && state.timeline > 0 ? .new : .known
    }
  }

  /// Selects the timeline of a server that accepts writes, and null at a replica. Some services refuse the question.
  static let question = ServerStatement(
    "SELECT CASE WHEN NOT pg_is_in_recovery() THEN "
      + "('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint END")
}
