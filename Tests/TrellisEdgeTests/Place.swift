import Foundation
import Trellis
import TrellisStorage
import TrellisTestSupport

/// The stores that every rule is tried on.
enum StoreKind: String, CaseIterable {
  case memory, sqlite
}

/// A store for one test, removed when it ends, which hands out planted values and fails when it is told to.
final class Place {
  let interference = Interference()
  let container: PersistentContainer
  let problems = Problems()
  private let folder: TestFolder

  init(_ kind: StoreKind) throws {
    folder = try TestFolder()
    let plain: StoreConfiguration =
      switch kind {
      case .memory: .memory
      case .sqlite: .sqlite(at: folder.file("store"), durability: .relaxed)
      }
    let (interference, problems) = (interference, problems)
    let store = StoreConfiguration { model in InterferingStore(try plain.open(model), interference, model) }
    container = try PersistentContainer(model: .edges, store: store) { problems.add($0) }
  }

  deinit { container.close() }
}

/// Collects what is reported from any thread.
final class Problems: @unchecked Sendable {  // a lock guards the only field
  private let lock = NSLock()
  private var found: [ContextError] = []

  func add(_ problem: ContextError) { lock.withLock { found.append(problem) } }
  var codes: [ContextError.Code] { lock.withLock { found.map(\.code) } }
}
