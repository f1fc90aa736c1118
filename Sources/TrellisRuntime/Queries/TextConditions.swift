public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Text, optional or not.
public protocol TextAttributeValue: AttributeValue {}

extension String: TextAttributeValue {}
extension Optional: TextAttributeValue where Wrapped: TextAttributeValue {}

extension AttributePath where Value: TextAttributeValue {
  /// Whether the text contains another text, compared by bytes unless the options say otherwise. Every text contains
  /// the empty text.
  public func contains(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.contains, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the text starts with another text, compared by bytes unless the options say otherwise.
  public func hasPrefix(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.hasPrefix, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the text ends with another text, compared by bytes unless the options say otherwise.
  public func hasSuffix(_ text: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.hasSuffix, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the texts are equal under the options.
  public func equals(_ text: String, _ options: TextOptions) -> QueryCondition {
    compared(.equal, .value(.text(text)), kind: .text, options: options)
  }

  /// Whether the whole text matches a mask: `*` stands for any number of Unicode scalars, `?` for one, and a backslash
  /// escapes them.
  public func like(_ mask: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.like, .value(.text(mask)), kind: .text, options: options)
  }

  /// Whether the whole text matches a pattern, in the same language as `pattern` in a model. An invalid pattern matches
  /// nothing; in a format string it is an error.
  ///
  /// - Complexity: linear in the length of the text for each object; no pattern takes exponential time.
  public func matches(_ pattern: String, _ options: TextOptions = []) -> QueryCondition {
    compared(.matches, .value(.text(pattern)), kind: .text, options: options)
  }

  /// Whether the text contains all words of a query, in any order, regardless of case and diacritics.
  ///
  /// ```swift
  /// let found = try context.fetch(
  ///   EmotionDiary.where { $0.content.matching("커피 산책") }.sorted { $0.content.rank(matching: "커피 산책") })
  /// ```
  /// 커피 is found inside 아이스커피, but `cof` only where a word begins with it; ``SearchQuery`` states the rule. The results
  /// are the same in every store. For an attribute that is `searchable` in the model, SQLite uses an index; for any
  /// other attribute it reads each text.
  ///
  /// - Parameter query: the user's input. A query without a letter, digit or pictograph matches no text.
  public func matching(_ query: String) -> QueryCondition {
    compared(.matching, .value(.text(query)), kind: .text, options: [])
  }

  /// Sorts by how well the texts match a query, the best match first; see ``SearchQuery/rank(of:)``.
  ///
  /// - Complexity: each matching text is read, because no index has this order.
  public func rank(matching query: String) -> SortTerm { SortTerm(SortKey(path, rankFor: query)) }

  /// The number of Unicode scalars.
  public var length: ComputedValue<Int64> { ComputedValue(.function(.length, .path(path))) }

  /// Sorts by the texts under the options, the smallest first.
  public func ascending(_ options: TextOptions) -> SortTerm { SortTerm(SortKey(path, kind: .text, options: options)) }

  /// Sorts by the texts under the options, the greatest first.
  public func descending(_ options: TextOptions) -> SortTerm {
    SortTerm(SortKey(path, descending: true, kind: .text, options: options))
  }
}
