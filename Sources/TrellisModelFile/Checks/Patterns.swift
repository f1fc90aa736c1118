import TrellisSchema

/// A pattern is a regular expression of the kind that saving matches: what this reads is what counts then.
enum Patterns {
  static func check(_ text: String, of path: String, at offset: Int, _ findings: Findings) {
    do {
      _ = try Pattern(text)
    } catch {
      findings.error(
        .invalidPattern, at: offset,
        "The pattern of attribute '\(path)' is no regular expression: at its character \(error.position + 1) "
          + "\(error.message).")
    }
  }

  /// Whether the whole text matches; nil for a pattern that is none.
  static func matches(_ text: String, _ pattern: String) -> Bool? {
    guard let pattern = try? Pattern(pattern) else { return nil }
    return pattern.match(text) == .matches
  }
}
