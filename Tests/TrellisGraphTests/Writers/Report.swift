import Foundation

/// One of the reports in `Reports.txt`.
struct Report {
  let heading: Substring
  /// The seed of the plan.
  let seed: UInt64
  let acts: Substring
  /// Whether the plan is one of couples in a context and its child.
  var isOfCouples: Bool { heading.contains("(couples)") }

  static func all() throws -> [Report] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Reports.txt")
    let sections = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\nseed ").dropFirst()
    return sections.compactMap { section in
      let end = section.firstIndex(of: "\n") ?? section.endIndex
      guard let seed = UInt64(section.prefix { $0.isNumber }) else { return nil }
      return Report(heading: section[..<end], seed: seed, acts: section[end...])
    }
  }
}
