import Foundation
package import Trellis

/// A container with a store of its own, whose files are removed when this is released.
package final class TestContainer {
  package let container: PersistentContainer
  /// The errors that were reported instead of thrown.
  package let errors = ReportedErrors()
  private let folder: TestFolder

  package init(_ model: ObjectModel, _ kind: StoreKind = .memory) throws {
    folder = try TestFolder()
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder)) { [errors] in
      errors.add($0)
    }
  }
}

/// Collects the errors that are reported from any thread.
package final class ReportedErrors: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var found: [ContextError] = []

  package init() {}

  package func add(_ error: ContextError) { lock.withLock { found.append(error) } }
  package func removeAll() { lock.withLock { found.removeAll() } }
  package var all: [ContextError] { lock.withLock { found } }
  package var messages: [String] { all.map(\.message) }
  package var codes: [ContextError.Code] { all.map(\.code) }
}
