import TrellisModel

/// Makes texts that match a pattern.
///
/// Anchors are left out, so a text of a pattern that has them where they cannot hold does not match. The caller checks
/// each text against the pattern.
struct PatternSample {
  private let tree: PatternTree

  /// The maximum number of scalars of a text.
  private static let longest = 2_000
  /// The maximum number of times that an unbounded repetition goes beyond its least.
  private static let mostMore = 4

  /// - Throws: ``PatternError``.
  init(_ pattern: String) throws(PatternError) {
    var parser = PatternParser(pattern)
    tree = try parser.parse()
  }

  /// A text; nil if a set of the pattern has no common scalar.
  ///
  /// - Parameter more: how many more times than the least a repetition may be repeated, for longer texts.
  func text(more: Int, _ random: inout SeedNumbers) -> String? {
    var text = String.UnicodeScalarView()
    return add(tree, more, to: &text, &random) ? String(text) : nil
  }

  private func add(
    _ tree: PatternTree, _ more: Int, to text: inout String.UnicodeScalarView, _ random: inout SeedNumbers
  ) -> Bool {
    switch tree {
    case .empty, .start, .end: return true
    case .set(let set):
      guard text.count < Self.longest, let scalar = Self.scalar(of: set, &random) else { return false }
      text.append(scalar)
      return true
    case .sequence(let terms):
      for term in terms where !add(term, more, to: &text, &random) { return false }
      return true
    case .choice(let alternatives):
      guard let chosen = alternatives.randomElement(using: &random) else { return true }
      return add(chosen, more, to: &text, &random)
    case .repeated(let inner, let least, let most):
      let count = Int.random(in: least...max(least, min(most ?? .max, least + Self.mostMore + more)), using: &random)
      for _ in 0..<count where !add(inner, more, to: &text, &random) { return false }
      return true
    }
  }

  /// The scalars that people read best, for classes and complements.
  private static let common: [Unicode.Scalar] =
    Array(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,:;!?@#%&*+=/()[]{}<>'\"\\|~^$`é커피☕️\t\n"
        .unicodeScalars)

  private static func scalar(of set: ScalarSet, _ random: inout SeedNumbers) -> Unicode.Scalar? {
    if let range = set.ranges.randomElement(using: &random),
      let scalar = Unicode.Scalar(UInt32.random(in: range.lowerBound.value...range.upperBound.value, using: &random)),
      set.contains(scalar)
    {
      return scalar
    }
    if let known = common.filter(set.contains).randomElement(using: &random) { return known }
    for _ in 0..<10_000 {
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)), set.contains(scalar) {
        return scalar
      }
    }
    return nil
  }
}
