import Foundation
import TrellisModelFile
import TrellisTestSupport

/// Files of this package that tests read; they lie beside the sources, so that no resources need to be copied.
enum Folders {
  static let tests = URL(filePath: #filePath).deletingLastPathComponent()
  static let root = tests.deletingLastPathComponent().deletingLastPathComponent()
  static let cases = tests.appending(path: "Cases")
  static let good = tests.appending(path: "Good")

  /// - Throws: when the folder cannot be read, or has nothing in it.
  static func names(in folder: URL) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    return try some(names.filter { !$0.hasPrefix(".") }.sorted(), "files in \(folder.lastPathComponent)")
  }

  static func bytes(_ url: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }
}

/// Reads a model from text under a short file name.
func parse(_ text: String) -> ModelFileResult { ModelFile.parse(Array(text.utf8), path: "M.model.json") }

/// The codes of what was found, in order.
func codes(_ text: String) -> [String] { parse(text).diagnostics.map(\.code.rawValue) }
