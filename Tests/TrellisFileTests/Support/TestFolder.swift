import Foundation

/// A folder for one test, which goes when nobody holds this any more.
final class TestFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "trellis-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
}
