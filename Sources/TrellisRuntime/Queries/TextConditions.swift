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

  /// The number of Unicode scalars.
  public var length: ComputedValue<Int64> { ComputedValue(.function(.length, .path(path))) }

  /// Sorts by the texts as the options prepare them.
  public func ascending(_ options: TextOptions) -> SortTerm { SortTerm(SortKey(path, kind: .text, options: options)) }

  public func descending(_ options: TextOptions) -> SortTerm {
    SortTerm(SortKey(path, descending: true, kind: .text, options: options))
  }
}
