import Foundation

/// A page of the documentation, whose samples stand in tests, where they are compiled and run.
package struct GuideText {
  private let name: String
  private let file: URL

  package init(_ name: String) {
    self.name = name
    let here = URL(filePath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    file = root.appending(path: "Docs/\(name)")
  }

  /// The Swift samples of the page whose lines do not stand together in one of some files of tests. Checks, indentation
  /// and the word `static` are left out. A page without samples is reported as well.
  package func samples(missingFrom tests: String...) throws -> [String] {
    let known = try tests.map { try lines(of: URL(filePath: $0)) }
    var missing: [String] = []
    var block: [String]?
    var isEmpty = true
    for line in try lines(of: file) {
      if line == "```swift" {
        block = []
      } else if line == "```", let done = block {
        isEmpty = false
        if !known.contains(where: { $0.contains(done) }) { missing.append(done.joined(separator: "\n")) }
        block = nil
      } else {
        block?.append(line)
      }
    }
    return isEmpty ? ["\(name) has no sample"] : missing
  }

  /// The blocks of a language on the page, in their order.
  package func blocks(_ language: String) throws -> [String] {
    var blocks: [String] = []
    var lines: [String]?
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "```\(language)" {
        lines = []
      } else if line == "```" {
        if let lines { blocks.append(lines.joined(separator: "\n")) }
        lines = nil
      } else {
        lines?.append(String(line))
      }
    }
    return blocks
  }

  package func contains(_ text: some StringProtocol) throws -> Bool {
    try String(contentsOf: file, encoding: .utf8).contains(text)
  }

  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces).replacing("static func", with: "func") }
      .filter { !$0.isEmpty && !$0.hasPrefix("#expect") }
  }
}
