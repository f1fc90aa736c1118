package import Foundation

/// A program that was built beside the tests.
package enum BuiltProgram {
  /// Where a program lies; nil when it was not built.
  package static func url(of name: String) -> URL? {
    let places = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
    return places.map { $0.appending(path: name) }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
