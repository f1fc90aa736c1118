import Foundation
import Testing

/// Runs the samples of a guide, and holds what they print against what the guide says.
///
/// The samples stand in the tests as they stand in the guide; there `print` means this one.
class GuideRun {
  private var printed: [String] = []

  func print(_ items: Any...) {
    printed += items.map { "\($0)" }.joined(separator: " ").split(separator: "\n").map(String.init)
  }

  /// - Parameters:
  ///   - guide: the page's name in Docs.
  ///   - file: the test's own source, in which the samples stand.
  func expectPrinted(as guide: String, _ file: StaticString = #filePath) throws {
    let page = try Page(guide)
    let source = Self.trimmed(try String(contentsOf: URL(fileURLWithPath: "\(file)"), encoding: .utf8))
    #expect(!page.samples.isEmpty)
    for sample in page.samples {
      let stands = source.contains(Self.trimmed(sample.code))
      #expect(stands, "Docs/\(guide).md: \(sample.code)")
    }
    #expect(printed == page.samples.flatMap { $0.output.split(separator: "\n").map(String.init) })
  }

  /// The samples of a guide that print something: each block of Swift that is followed by what it prints.
  struct Page {
    struct Sample {
      let code: String
      let output: String
    }

    private(set) var samples: [Sample] = []
    /// Pieces of model files.
    private(set) var models: [String] = []

    init(_ guide: String) throws {
      let text = try String(contentsOf: Self.root.appending(path: "Docs/\(guide).md"), encoding: .utf8)
      let parts = text.components(separatedBy: "\n```")
      // Text and blocks take turns; a block begins with its language.
      let blocks = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
      for (index, block) in blocks.enumerated() {
        if block.hasPrefix("json\n") { models.append(String(block.dropFirst(5))) }
        guard block.hasPrefix("swift\n"), blocks.indices.contains(index + 1) else { continue }
        let next = blocks[index + 1]
        if next.hasPrefix("text\n") {
          samples.append(Sample(code: String(block.dropFirst(6)), output: String(next.dropFirst(5))))
        }
      }
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
  }

  static func trimmed(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
      .joined(separator: "\n")
  }
}
