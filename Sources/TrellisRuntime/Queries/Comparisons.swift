public import Foundation
public import TrellisModel
@_spi(Generated) public import TrellisStorage

extension AttributePath {
  func compared(
    _ relation: ComparisonOperator, _ right: Operand, kind: ValueKind, options: TextOptions = []
  ) -> QueryCondition {
    QueryCondition(.comparison(Comparison(.path(path), relation, right, kind: kind, options: options)))
  }

  func compared(_ relation: ComparisonOperator, to value: Value) -> QueryCondition {
    compared(relation, .value(value.storedValue), kind: Value.valueKind)
  }

  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Value) -> QueryCondition { left.compared(.equal, to: right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Value) -> QueryCondition { left.compared(.notEqual, to: right) }

  /// Whether the values are equal.
  public static func == (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.equal, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the values differ.
  public static func != (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.notEqual, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Value>) -> QueryCondition {
    QueryCondition(.isIn(.path(path), values.map(\.storedValue), Value.valueKind))
  }
}

extension AttributePath where Value: SortableAttributeValue {
  /// The smallest value first; nil comes before every value.
  public var ascending: SortTerm { SortTerm(SortKey(path, kind: Value.valueKind)) }
  /// The greatest value first; nil comes last.
  public var descending: SortTerm { SortTerm(SortKey(path, descending: true, kind: Value.valueKind)) }
}

/// A type that predicates can compare by order: numbers, dates and texts, optional or not.
public protocol OrderedAttributeValue: SortableAttributeValue {
  /// The type without the optional.
  associatedtype Unwrapped: OrderedAttributeValue = Self
}

extension Bool: OrderedAttributeValue {}
extension Int16: OrderedAttributeValue {}
extension Int32: OrderedAttributeValue {}
extension Int64: OrderedAttributeValue {}
extension Float: OrderedAttributeValue {}
extension Double: OrderedAttributeValue {}
extension Decimal: OrderedAttributeValue {}
extension Date: OrderedAttributeValue {}
extension String: OrderedAttributeValue {}
extension Optional: OrderedAttributeValue where Wrapped: OrderedAttributeValue {
  public typealias Unwrapped = Wrapped.Unwrapped
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Whether the left value is less than the right one.
  public static func < (left: AttributePath, right: Value) -> QueryCondition { left.compared(.less, to: right) }
  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: AttributePath, right: Value) -> QueryCondition { left.compared(.lessOrEqual, to: right) }
  /// Whether the left value is greater than the right one.
  public static func > (left: AttributePath, right: Value) -> QueryCondition { left.compared(.greater, to: right) }
  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: AttributePath, right: Value) -> QueryCondition {
    left.compared(.greaterOrEqual, to: right)
  }

  /// Whether the left value is less than the right one.
  public static func < (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.less, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.lessOrEqual, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one.
  public static func > (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.greater, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.greaterOrEqual, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the value is in a closed range.
  public func isIn(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the value is in a half-open range.
  public func isIn(_ range: Range<Value>) -> QueryCondition where Value: Comparable {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the value is not nil and in a closed range.
  public func isIn<Wrapped>(_ range: ClosedRange<Wrapped>) -> QueryCondition
  where Value == Wrapped?, Wrapped: OrderedAttributeValue {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the value is not nil and in a half-open range.
  public func isIn<Wrapped>(_ range: Range<Wrapped>) -> QueryCondition
  where Value == Wrapped?, Wrapped: OrderedAttributeValue {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the value is between two values, both included.
  public func isBetween(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable { isIn(range) }
}

// MARK: - Text conditions

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
  /// are the same in every store. For an attribute that is `searchable` in the model, SQLite and PostgreSQL use
  /// an index; of any other attribute each text is read.
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

  /// The text in the order of a language, as a sort key.
  ///
  /// ```swift
  /// let names = try context.fetch(Contact.all.sorted { $0.name.localized(in: Locale(identifier: "ko")) })
  /// ```
  /// - Parameter locale: the locale with the language. The default is that of the program when the request is made.
  public func localized(in locale: Locale = .current) -> LocalizedText { LocalizedText(_operand, locale.identifier) }

  /// The initial under which a language lists the text, for the sections of live results.
  ///
  /// It is a letter of the language's alphabet: `ㄱ` for `김` in Korean, `Å` for `Åsa` in Swedish and `A` in German, `か` for
  /// `がく` in Japanese. A text in another script than that and the Latin one is under `…`, and digits and symbols are under
  /// `#`. The alphabets of some thirty languages are known; others have the Latin one.
  ///
  /// - Parameter locale: the locale with the language. The default is that of the program when the request is made.
  public func initial(in locale: Locale = .current) -> InitialValue { InitialValue(_operand, locale.identifier) }

  /// Sorts by the texts under the options, the smallest first.
  public func ascending(_ options: TextOptions) -> SortTerm { SortTerm(SortKey(path, kind: .text, options: options)) }

  /// Sorts by the texts under the options, the greatest first.
  public func descending(_ options: TextOptions) -> SortTerm {
    SortTerm(SortKey(path, descending: true, kind: .text, options: options))
  }
}

// MARK: - Localized text

/// A text attribute in the order of a language: `ä` beside `a` in German, after `z` in Swedish, and `file 9` before `file 10`.
///
/// The order is Foundation's, the same in every store and for unsaved objects. Texts that the language does not distinguish
/// are sorted by their bytes, and equal ones like any others, by the order of insertion.
public struct LocalizedText: Sendable {
  private let value: Operand
  private let language: String

  fileprivate init(_ value: Operand, _ language: String) {
    self.value = value
    self.language = language
  }

  /// The first text of the language first; nil comes before every text.
  ///
  /// - Complexity: a comparison takes microseconds. With a limit, each matching text is compared with the last of the
  ///   results so far; no index has this order.
  public var ascending: SortTerm { SortTerm(SortKey(value, kind: .text, language: language)) }

  /// The last text of the language first; nil comes last.
  public var descending: SortTerm { SortTerm(SortKey(value, descending: true, kind: .text, language: language)) }
}

/// The initial under which a language lists a text; see ``ManagedObjectContext/live(_:sectionedBy:)-(_,(Columns)->InitialValue)``.
public struct InitialValue: Hashable, Sendable {
  let text: Operand
  let language: String

  fileprivate init(_ text: Operand, _ language: String) {
    self.text = text
    self.language = language
  }
}

extension SortBuilder {
  /// Adds a text in the order of a language, ascending.
  public static func buildExpression(_ text: LocalizedText) -> [SortTerm] { [text.ascending] }
}

extension GroupSortBuilder {
  /// Adds a key of the groups, a text in the order of a language, ascending.
  public static func buildExpression(_ text: LocalizedText) -> [GroupSortTerm] { buildExpression(text.ascending) }
}

// MARK: - Object argument

/// A format argument that stands for one or more objects. Their class determines the model.
private protocol ObjectArgument {
  var objectClass: ManagedObject.Type? { get }
}

extension ManagedObject: ObjectArgument {
  fileprivate final var objectClass: ManagedObject.Type? { type(of: self) }
}

extension ObjectID: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { Object.self }
}

extension AnyObjectID: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { type }
}

extension Optional: ObjectArgument where Wrapped: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { self?.objectClass }
}

extension Array: ObjectArgument where Element: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { first?.objectClass }
}

extension Set: ObjectArgument where Element: ObjectArgument {
  fileprivate var objectClass: ManagedObject.Type? { first?.objectClass }
}

extension FormatArgument {
  /// The class of the object that the argument was made from; nil if it was not made from one. Only objects pay for the
  /// dynamic cast.
  func objectClass(of argument: any PredicateArgument) -> ManagedObject.Type? {
    isObject ? (argument as? any ObjectArgument)?.objectClass : nil
  }

  private var isObject: Bool {
    switch self {
    case .value(_, .object): true
    case .list(let values): values.first?.isObject == true
    case .value, .null, .range: false
    }
  }
}

// MARK: - External conditions

/// Comparisons of data with `externalStorage`, by its bytes. No file is read for them.
extension AttributePath where Value == ExternalData {
  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map(ExternalData.init)) }
}

extension AttributePath where Value == ExternalData? {
  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Data) -> QueryCondition { left == ExternalData(right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Data) -> QueryCondition { left != ExternalData(right) }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Data>) -> QueryCondition { isIn(values.map { ExternalData($0) }) }
}
