package import Foundation

/// A folder for one test, which goes when nobody holds this any more.
package final class TestFolder: Sendable {
  package let url = FileManager.default.temporaryDirectory.appending(path: "trellis-\(UUID().uuidString)")

  package init() throws {
    LinkFindings.demandNone()
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func file(_ name: String) -> URL { url.appending(path: name) }

  package func path(_ name: String) -> String { file(name).path }
}
