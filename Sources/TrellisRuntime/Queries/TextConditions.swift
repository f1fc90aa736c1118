public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Text, optional or not.
public protocol TextAttributeValue: AttributeValue {}

extension String: TextAttributeValue {}
extension Optional: TextAttributeValue where Wrapped: TextAttributeValue {}

extension AttributePath where Value: TextAttributeValue {
  /// Whether the text contains another, byte for byte unless options say otherwise. Every text contains the empty one.
  public func contains(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.contains, .value(.text(text)), kind: .text, options: options)
  }

  public func hasPrefix(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.hasPrefix, .value(.text(text)), kind: .text, options: options)
  }

  public func hasSuffix(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.hasSuffix, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the texts are the same under the options.
  public func equals(_ text: String, _ options: TextOptions) -> QueryCondition {
    compared(.equal, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the whole text looks like this: `*` stands for any number of Unicode scalars, `?` for one, and a backslash
  /// takes their meaning away.
  public func like(_ mask: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.like, .value(.text(mask)), kind: .text, options: options)
  }

  /// Whether the whole text matches a pattern, in the language that `pattern` in a model has. A pattern that is none matches
  /// nothing; in a format string it is an error.
  ///
  /// - Complexity: linear in the text for each object; no pattern takes exponential time.
  public func matches(_ pattern: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.matches, .value(.text(pattern)), kind: .text, options: options)
  }

  /// Whether the text has all words of a query, in any order, regardless of case and diacritics.
  ///
  /// ```swift
  /// let found = try context.fetch(
  ///   EmotionDiary.where { $0.content.matching("커피 산책") }.sorted { $0.content.rank(matching: "커피 산책") })
  /// ```
  /// 커피 is found inside 아이스커피, `cof` where a word begins so; ``SearchQuery`` states the rule. The answer is the same in every
  /// store. For an attribute that is `searchable` in the model SQLite looks into an index; for any other it looks at each text.
  ///
  /// - Parameter query: what people type. Without a letter, digit or picture in it no text matches.
  public func matching(_ query: String) -> QueryCondition {
    compared(.matching, .value(.text(query)), kind: .text, options: [])
  }

  /// Sorts by how well the texts match a query, the best first; see ``SearchQuery/rank(of:)``.
  ///
  /// - Complexity: each text that is found is looked at; no index is in this order.
  public func rank(matching query: String) -> SortTerm { SortTerm(SortKey(path, rankFor: query)) }

  /// The number of Unicode scalars.
  public var length: ComputedValue<Int64> { ComputedValue(.function(.length, .path(path))) }

  /// Sorts by the texts as the options prepare them.
  public func ascending(_ options: TextOptions) -> SortTerm { SortTerm(SortKey(path, kind: .text, options: options)) }

  public func descending(_ options: TextOptions) -> SortTerm {
    SortTerm(SortKey(path, descending: true, kind: .text, options: options))
  }
}
