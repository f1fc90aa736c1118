import Foundation
import Trellis
import TrellisStorage
import TrellisTestSupport

/// A store for one test, removed when it ends, which hands out planted values and fails when it is told to.
final class Place {
  let interference = Interference()
  let container: PersistentContainer
  let problems = ReportedErrors()
  private let folder: TestFolder

  init(_ kind: StoreKind) throws {
    folder = try TestFolder()
    let plain = kind.configuration(in: folder)
    let (interference, problems) = (interference, problems)
    let store = StoreConfiguration { model in InterferingStore(try plain.open(model), interference, model) }
    container = try PersistentContainer(model: .edges, store: store) { problems.add($0) }
  }

  deinit { container.close() }
}
