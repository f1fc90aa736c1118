public import TrellisStorage

/// Declarations that developers expect from other frameworks. They are never called; their messages name the
/// replacement.
extension ManagedObjectContext {
  @available(
    *, unavailable, message: "fetch takes a request: fetch(EmotionDiary.all), or fetch(EmotionDiary.where { … })"
  )
  public func fetch<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] { [] }

  @available(
    *, unavailable, message: "count takes a request: count(EmotionDiary.all), or count(EmotionDiary.where { … })"
  )
  public func count<Object: ManagedObject>(_ type: Object.Type) throws -> Int { 0 }
}

extension IdentifiedObject {
  @available(
    *, unavailable,
    message: "write in: for the context, and the attributes that need a value: EmotionDiary(in: context, content: text)"
  )
  public init(context: ManagedObjectContext) { self.init(PlaceholderRow(key: 0), in: context.link) }
}

extension FetchRequest {
  @available(
    *, unavailable,
    message:
      "a format is a literal, into which values are interpolated; for text that comes at run time write PredicateFormat(verbatim: text)"
  )
  public func `where`(_ text: String, _ arguments: any PredicateArgument...) -> FetchRequest { self }
}
