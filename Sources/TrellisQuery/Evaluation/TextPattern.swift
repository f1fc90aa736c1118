import TrellisSchema

/// The pattern matching of `like` and `matches`, shared by the evaluation in memory and all stores.
public struct TextPattern: Sendable {
  private let pattern: Pattern?

  /// Creates a pattern for texts prepared by ``Comparison/folding``. An invalid pattern matches nothing.
  public init(_ text: String, ignoringCase: Bool) {
    pattern = try? Pattern(text, ignoringCase: ignoringCase)
  }

  /// Whether the whole text matches. A match that would take more than ``Pattern/stepLimit`` steps fails.
  public func matches(_ text: String) -> Bool { pattern?.match(text) == .matches }

  /// Whether the whole text matches the mask: `*` stands for any number of scalars, `?` for one, and `\` escapes.
  ///
  /// - Complexity: linear in the text and the mask; if `?` occurs between two `*`, linear in the text times that part.
  public static func isLike(_ text: String, _ mask: String) -> Bool { LikeMask(mask).matches(text) }
}
