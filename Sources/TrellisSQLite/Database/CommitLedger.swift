internal import CSQLite
import TrellisSchema

/// Tells the commits of this process's store from those of strangers.
///
/// The file counts its commits. Whoever is about to commit holds the write lock, so the count cannot change until then:
/// if it is not what the last one here has left, somebody else was there.
final class CommitLedger: Sendable {
  // Sound because the memory of the counter belongs to all threads and processes, and is read as one word.
  private struct State: @unchecked Sendable {
    /// Where the file counts, in memory that is there as long as the store's first connection; nil until that one has looked.
    var counter: UnsafeRawPointer?
    var isClosed = false
    /// What the counter is if nobody else commits; nil before it was first looked at.
    var expected: UInt32?
    /// Commits that are under way.
    var writing = 0
    var strangersWrote = false
  }

  private let state = Locked(State())

  /// Called with the counter of the connection that stays open until ``close()``.
  func follow(_ counter: UnsafeRawPointer) {
    state.withLock { if !$0.isClosed { $0.counter = counter } }
  }

  /// Comes before the first connection is closed, and the memory of the counter goes.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.counter = nil
    }
  }

  /// Called inside a transaction that has written.
  func willCommit(at counter: UInt32) {
    state.withLock { state in
      if let expected = state.expected, expected != counter { state.strangersWrote = true }
      state.expected = counter &+ 1
      state.writing += 1
    }
  }

  func didEnd() { state.withLock { $0.writing -= 1 } }

  /// Whether a stranger committed since this last said so. No connection is needed for it.
  func look() -> Bool {
    state.withLock { state in
      guard let counter = state.counter.map({ trellis_sqlite_read_counter($0) }) else { return false }
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
  /// How many commits the file has seen; nil when they are not counted, and in a store that is only read.
  var commitCount: UInt32? {
    if let commitCounter { return trellis_sqlite_read_counter(commitCounter) }
    return findCounter().map { trellis_sqlite_read_counter($0) }
  }

  @inline(never) private func findCounter() -> UnsafeRawPointer? {
    guard !setup.options.isReadOnly && !setup.isImmutable else { return nil }
    commitCounter = database.commitCounter()
    if isFirst, let commitCounter { setup.ledger.follow(commitCounter) }
    return commitCounter
  }
}
