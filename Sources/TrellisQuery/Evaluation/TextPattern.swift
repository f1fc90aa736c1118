import TrellisSchema

/// What texts are compared with by `like` and `matches`: one for the evaluation in memory and for every store.
public struct TextPattern: Sendable {
  private let pattern: Pattern?

  /// A pattern for texts that ``Comparison/folding`` has prepared. A text that is no pattern matches nothing.
  public init(_ text: String, ignoringCase: Bool) {
    pattern = try? Pattern(text, ignoringCase: ignoringCase)
  }

  /// Whether the whole text matches. A match that would take more than ``Pattern/stepLimit`` steps is none.
  public func matches(_ text: String) -> Bool { pattern?.match(text) == .matches }

  /// Whether the whole text looks like the other, in which `*` and `?` stand for scalars and `\` quotes.
  ///
  /// - Complexity: linear in the text and the mask; where `?` stands between two `*`, in the text times what stands there.
  public static func isLike(_ text: String, _ mask: String) -> Bool { LikeMask(mask).matches(text) }
}
