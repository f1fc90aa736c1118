import Foundation
import TrellisModel

/// Runs a closure on a thread of its own.
package func started<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) -> Future<Value> {
  let future = Future<Value>()
  let thread = Thread { future.set(Result { try body() }) }
  thread.start()
  return future
}

/// The result of a closure on another thread.
package final class Future<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, any Error>?>(nil)

  func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

  package var isDone: Bool { result.withLock { $0 != nil } }

  /// Waits at most a minute.
  package func value() throws -> Value {
    for _ in 0..<6_000 {
      if let found = result.withLock({ $0 }) { return try found.get() }
      Thread.sleep(forTimeInterval: 0.01)
    }
    throw CocoaError(.featureUnsupported)
  }
}
