public import TrellisStorage

// Spellings of conditions in other frameworks. None is ever called: each message names the spelling here.
//
// The compiler looks at an unavailable declaration only after everything else has failed, so that it neither changes the
// meaning of a correct program nor takes part in its overload resolution. Overloads of `&&` and `||` are left out,
// because they slow down the compilation of correct conditions nevertheless.

// MARK: - Attributes

extension AttributePath {
  @available(*, unavailable, message: "this attribute is not optional, so it is never nil")
  public static func == (left: AttributePath, right: _OptionalNilComparisonType) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "this attribute is not optional, so it is never nil")
  public static func != (left: AttributePath, right: _OptionalNilComparisonType) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write isIn([a, b])")
  public func `in`(_ values: some Sequence<Value>) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write isIn(low...high)")
  public func between(_ low: Value, _ high: Value) -> QueryCondition { .unreachable }

  @available(
    *, unavailable, message: "conditions on a list are written as a format: where(\"words CONTAINS %@\", word)"
  )
  public func contains<Element>(_ element: Element) -> QueryCondition where Value == [Element] { .unreachable }
}

extension AttributePath where Value: OrderedAttributeValue {
  @available(*, unavailable, message: "write the attribute first: $0.number > 3")
  public static func < (left: Value, right: AttributePath) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write the attribute first: $0.number >= 3")
  public static func <= (left: Value, right: AttributePath) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write the attribute first: $0.number < 3")
  public static func > (left: Value, right: AttributePath) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write the attribute first: $0.number <= 3")
  public static func >= (left: Value, right: AttributePath) -> QueryCondition { .unreachable }
}

extension AttributePath where Value: ModelEnum {
  @available(*, unavailable, message: "compare with a case: $0.emotion == .happy")
  public var rawValue: AttributePath { self }

  @available(*, unavailable, message: "compare with a case: $0.emotion == .happy")
  public static func == (left: AttributePath, right: Value.RawValue) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "compare with a case: $0.emotion != .happy")
  public static func != (left: AttributePath, right: Value.RawValue) -> QueryCondition { .unreachable }
}

extension AttributePath where Value: TextAttributeValue {
  @available(*, unavailable, message: "write length: $0.content.length > 3")
  public var count: ComputedValue<Int64> { length }

  @available(*, unavailable, message: "compare with the empty text: $0.content == \"\"")
  public var isEmpty: QueryCondition { .unreachable }

  @available(*, unavailable, message: "write contains(text, [.caseInsensitive, .diacriticInsensitive])")
  public func localizedStandardContains(_ text: String) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write contains(text, .caseInsensitive)")
  public func localizedCaseInsensitiveContains(_ text: String) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write hasPrefix(text)")
  public func starts(with text: String) -> QueryCondition { .unreachable }
}

extension AttributePath<Bool> {
  @available(*, unavailable, message: "write $0.isPaid == false")
  public static prefix func ! (attribute: AttributePath) -> QueryCondition { .unreachable }
}

extension QueriedValue where Value: SummableAttributeValue {
  @available(*, unavailable, message: "write remainder(dividingBy:)")
  public static func % (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.remainder(dividingBy: right)
  }
}

// MARK: - Lists and ranges

extension Sequence where Element: AttributeValue {
  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn([1, 2])")
  public func contains(_ attribute: AttributePath<Element>) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn([1, 2])")
  public func contains(_ attribute: AttributePath<Element?>) -> QueryCondition { .unreachable }
}

extension Sequence where Element: ManagedObject {
  @available(*, unavailable, message: "write isIn after the relationship: $0.author.isIn(authors)")
  public func contains<Columns: EntityColumns>(_ relationship: ToOnePath<Columns>) -> QueryCondition
  where Columns.Object == Element { .unreachable }
}

extension ClosedRange where Bound: AttributeValue {
  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn(1...3)")
  public func contains(_ attribute: AttributePath<Bound>) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn(1...3)")
  public func contains(_ attribute: AttributePath<Bound?>) -> QueryCondition { .unreachable }
}

extension Range where Bound: AttributeValue {
  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn(1..<3)")
  public func contains(_ attribute: AttributePath<Bound>) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write isIn after the attribute: $0.number.isIn(1..<3)")
  public func contains(_ attribute: AttributePath<Bound?>) -> QueryCondition { .unreachable }
}

// MARK: - Relationships

extension ToOnePath {
  @available(*, unavailable, message: "ask with is(_:), as in $0.author.is(author)")
  public static func == <Other: ManagedObject>(path: ToOnePath, object: Other?) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "ask with is(_:), as in !$0.author.is(author)")
  public static func != <Other: ManagedObject>(path: ToOnePath, object: Other?) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "ask with is(_:), as in $0.author.is(author)")
  public static func === (path: ToOnePath, object: Columns.Object?) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "ask with is(_:), as in $0.author.is(id)")
  public static func == (path: ToOnePath, id: ObjectID<Columns.Object>) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "ask with is(_:), as in !$0.author.is(id)")
  public static func != (path: ToOnePath, id: ObjectID<Columns.Object>) -> QueryCondition { .unreachable }
}

extension ToManyPath {
  @available(*, unavailable, message: "write any { … }, as in $0.tags.any { $0.name == text }")
  public func contains(@ConditionBuilder where conditions: (Columns) -> QueryCondition) -> QueryCondition {
    .unreachable
  }

  @available(*, unavailable, message: "write all { … }, as in $0.tags.all { $0.name != text }")
  public func allSatisfy(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "write any { … }, or count { … } for the number of such members")
  public func filter(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> ToManyPath { self }

  @available(*, unavailable, message: "positions are written in a format: where(\"pages[FIRST].size > %d\", 3)")
  public var first: Columns { Columns(path) }

  @available(*, unavailable, message: "positions are written in a format: where(\"pages[LAST].size > %d\", 3)")
  public var last: Columns { Columns(path) }

  @available(*, unavailable, message: "a to-many is never nil; write isEmpty")
  public static func == (path: ToManyPath, nothing: _OptionalNilComparisonType) -> QueryCondition { .unreachable }

  @available(*, unavailable, message: "a to-many is never nil; write !$0.tags.isEmpty")
  public static func != (path: ToManyPath, nothing: _OptionalNilComparisonType) -> QueryCondition { .unreachable }
}

extension QueryCondition {
  /// The result of functions that cannot be called.
  fileprivate static var unreachable: QueryCondition { QueryCondition(.constant(false)) }
}
