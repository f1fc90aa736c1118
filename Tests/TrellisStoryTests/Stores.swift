import Foundation
import Trellis
import TrellisTestSupport

/// The stores on which each story is told.
enum StoreKind: String, CaseIterable {
  case memory, sqlite
}

/// A store of its own for one story, removed when the story ends.
final class Shelf {
  private let folder: TestFolder
  let container: PersistentContainer

  init(_ model: ObjectModel, _ kind: StoreKind) throws {
    folder = try TestFolder()
    let store: StoreConfiguration =
      switch kind {
      case .memory: .memory
      case .sqlite: .sqlite(at: folder.file("store.sqlite"))
      }
    container = try PersistentContainer(model: model, store: store)
  }

  deinit { container.close() }
}
