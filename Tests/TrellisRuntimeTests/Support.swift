import Foundation
import Trellis

/// A container on a store of its own in memory.
func makeContainer() throws -> PersistentContainer {
  try PersistentContainer(model: .shapes, store: .memory) { _ in }
}

func makeContext() throws -> ManagedObjectContext { try makeContainer().newContext() }

/// Collects what is reported from any thread.
final class Problems: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var found: [ContextError] = []

  func add(_ problem: ContextError) { lock.withLock { found.append(problem) } }
  var messages: [String] { lock.withLock { found.map(\.message) } }
  var codes: [ContextError.Code] { lock.withLock { found.map(\.code) } }
}
