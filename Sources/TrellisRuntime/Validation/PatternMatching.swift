/// Whole-text matching of the patterns in models.
enum PatternMatching {
  /// Whether the whole text matches. A pattern that is none matches nothing; the model tool has refused it before.
  static func matches(_ text: String, _ pattern: String) -> Bool {
    guard let expression = try? Regex(pattern) else { return false }
    return (try? expression.wholeMatch(in: text)) != nil
  }
}
