package import Foundation

/// A place for a store on disk, emptied when nobody needs it any more. Without a folder the store says so.
package final class TemporaryFile {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "Trellis-\(UUID().uuidString)")

  package init() { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  package var url: URL { folder.appending(path: "store.sqlite") }
}
