import Foundation

// What a model does not say is written in Swift: a generated class is extended like any other.
extension EmotionDiary {
  /// The entry on one line: its day, emotion and text, its tags, and how many pictures it has.
  public var summary: String {
    let words = tags.map { "#\($0.name)" }.sorted().joined(separator: " ")
    let pictures = images.isEmpty ? "" : "(\(images.count) \(images.count == 1 ? "picture" : "pictures"))"
    return [day, emotion.rawValue, content, words, pictures].filter { !$0.isEmpty }.joined(separator: "  ")
  }

  /// The day on which the entry was begun, as `2026-01-31`.
  public var day: String { createdAt.formatted(.iso8601.year().month().day()) }
}
