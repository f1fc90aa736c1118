public import Foundation
import TrellisQuery

extension PredicateExpressions.CollectionContainsCollection: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.search(base, .contains, other)
  }
}

extension PredicateExpressions.SequenceStartsWith: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.search(base, .hasPrefix, prefix)
  }
}

extension PredicateReading {
  fileprivate mutating func search(
    _ base: some PredicateExpression, _ relation: ComparisonOperator, _ part: some PredicateExpression,
    _ options: TextOptions = []
  ) throws(PredicateImportError) -> ImportedTerm {
    let (base, part) = (try text(base), try text(part))
    return .condition(
      base.holds { text in
        part.holds { part in
          .comparison(Comparison(text, relation, part, kind: .text, options: options))
        }
      })
  }
}

// Declares the expression that Foundation has on Apple platforms only, so that `localizedStandardContains` in a
// predicate compiles, evaluates and works in stores on all platforms.

#if canImport(Darwin)
  extension PredicateExpressions.StringLocalizedStandardContains: ImportableExpression {
    func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
      try reading.search(root, .contains, other, [.caseInsensitive, .diacriticInsensitive])
    }
  }
#else
  extension PredicateExpressions {
    /// Whether a text contains another, ignoring case and diacritics.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      public typealias Output = Bool
      public let root: Root
      public let other: Other

      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
      }
    }

    /// The macro `#Predicate` calls this for `$0.title.localizedStandardContains(keyword)`.
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions.StringLocalizedStandardContains: ImportableExpression {
    func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
      try reading.search(root, .contains, other, [.caseInsensitive, .diacriticInsensitive])
    }
  }
#endif
