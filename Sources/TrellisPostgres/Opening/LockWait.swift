import Foundation
import TrellisStorage

/// Runs what needs locks at an opening again and again, until it has them. In between the calls of others go on.
struct LockWait {
  private let store: String
  private let observer: MigrationObserver?
  private let end = ContinuousClock.now + .seconds(Self.longestWait)

  /// The number of seconds that a program waits for the migration of another one, or for open transactions.
  private static let longestWait = 600.0
  /// The number of seconds between two attempts: at first, and later.
  private static let pauses = (first: 0.1, last: 2.0)

  init(of store: String, _ observer: MigrationObserver?) {
    self.store = store
    self.observer = observer
  }

  func run<Result>(_ body: () throws -> Result) throws -> Result {
    var pause = Self.pauses.first
    while true {
      do { return try body() } catch let error as ServerError {
        // The cancellation of a migration interrupts a statement.
        if error.state == ServerError.endedState { try observer?.check(store) }
        // A lock that was not to be had in time, or a deadlock with another program's transaction.
        guard error.state == ServerError.lockState || error.isTransient else { throw error }
        try sleep(pause * .random(in: 0.75...1.25))
        pause = min(Self.pauses.last, pause * 1.5)
        guard ContinuousClock.now < end else {
          throw StoreError(
            .busy, "\(store) could not be opened, because it was held by others, which may be migrating it.",
            remedy: "Try again later, and end transactions that have been open for long.")
        }
      }
    }
  }

  private func sleep(_ seconds: TimeInterval) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while Date.now < end {
      try observer?.check(store)
      Thread.sleep(forTimeInterval: min(0.1, max(0, end.timeIntervalSinceNow)))
    }
    try observer?.check(store)
  }
}
