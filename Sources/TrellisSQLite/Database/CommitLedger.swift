internal import CSQLite
import TrellisSchema

/// Distinguishes the commits of this store from those of other writers.
///
/// The file counts its commits. A connection that is about to commit holds the write lock, so the count cannot change
/// until then: if it differs from the count after this store's last commit, another writer has committed.
final class CommitLedger: Sendable {
  // Sound because the counter's memory is shared by all threads and processes, and is read as one word.
  private struct State: @unchecked Sendable {
    /// The memory of the file's commit counter, which exists as long as the store's first connection. Nil until that
    /// connection has looked it up.
    var counter: UnsafeRawPointer?
    var isClosed = false
    /// The counter's value if no other writer commits. Nil before the counter was first read.
    var expected: UInt32?
    /// The number of commits in progress.
    var writing = 0
    var hasExternalWrites = false
  }

  private let state = Locked(State())

  /// Sets the counter, which belongs to the connection that stays open until ``close()``.
  func follow(_ counter: UnsafeRawPointer) {
    state.withLock { if !$0.isClosed { $0.counter = counter } }
  }

  /// Called before the first connection is closed, because the counter's memory is freed with it.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.counter = nil
    }
  }

  /// Called inside a transaction that has written something.
  func willCommit(at counter: UInt32) {
    state.withLock { state in
      if let expected = state.expected, expected != counter { state.hasExternalWrites = true }
      state.expected = counter &+ 1
      state.writing += 1
    }
  }

  func didEnd() { state.withLock { $0.writing -= 1 } }

  /// Whether another writer has committed since the last call. This needs no connection.
  func look() -> Bool {
    state.withLock { state in
      guard let counter = state.counter.map({ trellis_sqlite_read_counter($0) }) else { return false }
      if state.writing == 0 {
        if let expected = state.expected, expected != counter { state.hasExternalWrites = true }
        state.expected = counter
      }
      defer { state.hasExternalWrites = false }
      return state.hasExternalWrites
    }
  }
}

extension Database {
  /// The address of the file's commit counter. Nil if commits are not counted.
  func commitCounter() -> UnsafeRawPointer? { trellis_sqlite_commit_counter(handle) }
}

extension SQLiteConnection {
  /// The number of commits to the file. Nil if they are not counted, or if the store is read-only.
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
