public import Foundation
public import TrellisStorage

// Spellings of requests in other frameworks. None is ever called: each message names the spelling here.
//
// Where a correct call has a trailing closure, the parameters have defaults. Otherwise the compiler would try to pass the
// closure for them, and would not find the mistake in a closure.

extension FetchRequest {
  @available(
    *, unavailable,
    message:
      "a format is a literal, into which values are interpolated; for text that comes at run time write PredicateFormat(verbatim: text)"
  )
  public func `where`(_ text: String = "", _ arguments: any PredicateArgument...) -> FetchRequest { self }

  @available(
    *, unavailable, message: "write the format itself, where(\"number > %d\", 3), or a block, where { $0.number > 3 }"
  )
  public func `where`(_ predicate: NSPredicate? = nil) -> FetchRequest { self }

  @available(*, unavailable, message: "write where { … }")
  public func filter(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest { self }

  @available(*, unavailable, message: "write sorted { $0.createdAt }, or sorted { $0.createdAt.descending }")
  public func sorted<Value>(
    by property: KeyPath<Columns.Object, Value>? = nil, order: Foundation.SortOrder = .forward
  ) -> FetchRequest { self }

  @available(*, unavailable, message: "write sorted { $0.createdAt }, or sorted { $0.createdAt.descending }")
  public func sorted<Value>(_ property: KeyPath<Columns, Value>? = nil) -> FetchRequest { self }

  @available(*, unavailable, message: "write sorted { $0.createdAt }, or sorted { $0.createdAt.descending }")
  public func sorted(by descriptors: [SortDescriptor<Columns.Object>] = []) -> FetchRequest { self }

  @available(*, unavailable, message: "write sorted(by: \"name\"), or sorted(by: \"-name\") for the greatest first")
  public func sorted(by name: String, ascending: Bool) -> FetchRequest { self }

  @available(*, unavailable, message: "write sorted { … }")
  public func order(@SortBuilder _ terms: (Columns) -> [SortTerm]) -> FetchRequest { self }

  @available(*, unavailable, message: "write limit(count)")
  public func prefix(_ count: Int) -> FetchRequest { self }

  @available(*, unavailable, message: "write limit(count).offset(number)")
  public func limit(_ count: Int, offset: Int) -> FetchRequest { self }
}

extension FetchableObject {
  @available(
    *, unavailable,
    message: "write EmotionDiary.all or EmotionDiary.where { … }, and sorted { … } and limit(_:) after it"
  )
  public static func fetchRequest() -> FetchRequest { all }

  @available(
    *, unavailable,
    message:
      "a format is a literal, into which values are interpolated; for text that comes at run time write PredicateFormat(verbatim: text)"
  )
  public static func `where`(_ text: String = "", _ arguments: any PredicateArgument...) -> FetchRequest { all }

  @available(
    *, unavailable, message: "write the format itself, where(\"number > %d\", 3), or a block, where { $0.number > 3 }"
  )
  public static func `where`(_ predicate: NSPredicate? = nil) -> FetchRequest { all }

  @available(*, unavailable, message: "write where { … }")
  public static func filter(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest { all }

  @available(*, unavailable, message: "begin with all: EmotionDiary.all.sorted { … }")
  public static func sorted(@SortBuilder _ terms: (Columns) -> [SortTerm]) -> FetchRequest { all }

  @available(*, unavailable, message: "begin with all: EmotionDiary.all.limit(count)")
  public static func limit(_ count: Int) -> FetchRequest { all }
}
