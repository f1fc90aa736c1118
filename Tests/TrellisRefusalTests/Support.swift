import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// Collects what is reported from any thread.
final class Problems: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var found: [ContextError] = []

  func add(_ problem: ContextError) { lock.withLock { found.append(problem) } }
  var messages: [String] { lock.withLock { found.map(\.message) } }
  var codes: [ContextError.Code] { lock.withLock { found.map(\.code) } }
}

enum StoreKind: String, CaseIterable {
  case memory, sqlite, json
}

/// A store of its own, removed when the test ends.
final class Place {
  let container: PersistentContainer
  let problems = Problems()
  private let folder: TestFolder

  init(_ model: ObjectModel, _ kind: StoreKind = .memory) throws {
    folder = try TestFolder()
    let store: StoreConfiguration =
      switch kind {
      case .memory: .memory
      case .sqlite: .sqlite(at: folder.file("store.sqlite"))
      case .json: .json(at: folder.file("store.json"))
      }
    container = try PersistentContainer(model: model, store: store) { [problems] in problems.add($0) }
  }
}

extension Trait where Self == TimeLimitTrait {
  /// Far more than is needed: what is meant is that it ends.
  static var ends: Self { .timeLimit(.minutes(3)) }
}
