import TrellisSchema

/// Checks that a pattern is a regular expression, with the same parser that validates values on save.
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

  /// Whether the whole text matches; nil for an invalid pattern.
  static func matches(_ text: String, _ pattern: String) -> Bool? {
    guard let pattern = try? Pattern(pattern) else { return nil }
    return pattern.match(text) == .matches
  }
}
