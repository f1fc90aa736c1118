internal import CSQLite
import TrellisSchema

/// Tells the commits of this process's store from those of strangers.
///
/// The file counts its commits. Whoever is about to commit holds the write lock, so the count cannot change until then:
/// if it is not what the last one here has left, somebody else was there.
final class CommitLedger: Sendable {
  private struct State {
    /// What the counter is if nobody else commits; nil before it was first looked at.
    var expected: UInt32?
    /// Commits that are under way.
    var writing = 0
    var strangersWrote = false
  }

  private let state = Locked(State())

  /// Called inside a transaction that has written.
  func willCommit(at counter: UInt32) {
    state.withLock { state in
      if let expected = state.expected, expected != counter { state.strangersWrote = true }
      state.expected = counter &+ 1
      state.writing += 1
    }
  }

  func didEnd() { state.withLock { $0.writing -= 1 } }

  /// Whether a stranger committed since this last said so.
  func look(_ counter: UInt32) -> Bool {
    state.withLock { state in
      if state.writing == 0 {
        if let expected = state.expected, expected != counter { state.strangersWrote = true }
        state.expected = counter
      }
      defer { state.strangersWrote = false }
      return state.strangersWrote
    }
  }
}

extension Database {
  /// Where the file's commits are counted; nil when nobody counts them.
  func commitCounter() -> UnsafeRawPointer? { trellis_sqlite_commit_counter(handle) }
}

extension SQLiteConnection {
  /// How many commits the file has seen.
  var commitCount: UInt32? {
    if commitCounter == nil && !store.setup.options.isReadOnly && !store.setup.isImmutable {
      commitCounter = database.commitCounter()
    }
    return commitCounter.map { trellis_sqlite_read_counter($0) }
  }

  package func noticesStrangers() -> Bool { commitCount.map(store.ledger.look) ?? false }
}
