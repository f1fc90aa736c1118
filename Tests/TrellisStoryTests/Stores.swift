import Foundation
import Trellis

/// The stores on which each story is told.
enum StoreKind: String, CaseIterable {
  case memory, sqlite
}

/// A store of its own for one story, removed when the story ends.
final class Shelf {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-story-\(UUID().uuidString)")
  let container: PersistentContainer

  init(_ model: ObjectModel, _ kind: StoreKind) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store: StoreConfiguration =
      switch kind {
      case .memory: .memory
      case .sqlite: .sqlite(at: folder.appending(path: "store.sqlite"))
      }
    container = try PersistentContainer(model: model, store: store)
  }

  deinit {
    container.close()
    try? FileManager.default.removeItem(at: folder)
  }
}
