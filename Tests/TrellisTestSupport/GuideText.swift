import Foundation

/// A page of the documentation.
package struct GuideText {
  private let file: URL

  package init(_ name: String) {
    let here = URL(filePath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    file = root.appending(path: "Docs/\(name)")
  }

  /// The Swift samples of the page whose lines do not stand together in a file of tests. Checks and indentation are left out.
  package func samples(missingFrom tests: String) throws -> [String] {
    let known = try lines(of: URL(filePath: tests))
    var missing: [String] = []
    var block: [String]?
    for line in try lines(of: file) {
      if line == "```swift" {
        block = []
      } else if line == "```", let done = block {
        if !known.contains(done) { missing.append(done.joined(separator: "\n")) }
        block = nil
      } else {
        block?.append(line)
      }
    }
    return missing
  }

  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("#expect") }
  }
}
