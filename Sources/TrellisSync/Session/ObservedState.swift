import Observation
import TrellisModel

/// The state of a session, and those who follow it.
final class ObservedState: Sendable, Observable {
  private struct Content {
    var state = SyncState.stopped(nil)
    /// The number of the run whose state counts.
    var run = 0
    var readers: [Int: AsyncStream<SyncState>.Continuation] = [:]
    var lastReader = 0
  }

  private let registrar = ObservationRegistrar()
  private let content = Locked(Content())

  var state: SyncState {
    registrar.access(self, keyPath: \.state)
    return content.withLock { $0.state }
  }

  /// Shows a state, unless it is of a run that another one has followed.
  func show(_ state: SyncState, run: Int) {
    let isNew = content.withLock { $0.run <= run && $0.state != state }
    guard isNew else { return content.withLock { $0.run = max($0.run, run) } }
    // Without the lock, since observers may read the state.
    registrar.withMutation(of: self, keyPath: \.state) {
      content.withLock { content in
        guard content.run <= run else { return }
        content.run = run
        content.state = state
        for reader in content.readers.values { reader.yield(state) }
      }
    }
  }

  /// The present state and those that follow. A reader that is slow misses those between.
  var states: AsyncStream<SyncState> {
    let (stream, reader) = AsyncStream.makeStream(of: SyncState.self, bufferingPolicy: .bufferingNewest(1))
    let number = content.withLock { content in
      content.lastReader += 1
      content.readers[content.lastReader] = reader
      reader.yield(content.state)
      return content.lastReader
    }
    reader.onTermination = { [weak self] _ in
      self?.content.withLock { _ = $0.readers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Ends all streams.
  func finish() {
    let readers = content.withLock { content in
      defer { content.readers = [:] }
      return content.readers.values
    }
    for reader in readers { reader.finish() }
  }
}
