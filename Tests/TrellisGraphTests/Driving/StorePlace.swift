import Foundation
import Trellis

/// Where a test's store lies.
struct StorePlace {
  let configuration: StoreConfiguration
  private let folder: URL?

  init(_ kind: Episode.StoreKind) throws {
    switch kind {
    case .memory:
      configuration = .memory
      folder = nil
    case .sqlite, .json:
      let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-graph-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appending(path: "store")
      configuration = kind == .json ? .json(at: url, durability: .relaxed) : .sqlite(at: url, durability: .relaxed)
      self.folder = folder
    }
  }

  func remove() { if let folder { try? FileManager.default.removeItem(at: folder) } }
}
