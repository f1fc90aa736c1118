// Spellings of other frameworks for contexts, objects and to-manys. None is ever called: each message names the spelling
// here.

// MARK: - Context

extension ManagedObjectContext {
  @available(
    *, unavailable, message: "fetch takes a request: fetch(EmotionDiary.all), or fetch(EmotionDiary.where { … })"
  )
  public func fetch<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] { [] }

  @available(
    *, unavailable, message: "count takes a request: count(EmotionDiary.all), or count(EmotionDiary.where { … })"
  )
  public func count<Object: ManagedObject>(_ type: Object.Type) throws -> Int { 0 }

  @available(
    *, unavailable, message: "first takes a request: first(EmotionDiary.all), or first(EmotionDiary.where { … })"
  )
  public func first<Object: ManagedObject>(_ type: Object.Type) throws -> Object? { nil }

  @available(
    *, unavailable,
    message: "deleteAll takes a request: deleteAll(EmotionDiary.all), or deleteAll(EmotionDiary.where { … })"
  )
  public func deleteAll<Object: ManagedObject>(_ type: Object.Type) throws {}

  @available(*, unavailable, message: "write count(request)")
  public func count<Columns: EntityColumns>(for request: FetchRequest<Columns>) throws -> Int { 0 }

  @available(*, unavailable, message: "write count(request)")
  public func fetchCount<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int { 0 }

  @available(*, unavailable, message: "write object(with: id), which is nil if there is none")
  public func existingObject<Object: ManagedObject>(with id: ObjectID<Object>) throws -> Object? { nil }

  @available(
    *, unavailable,
    message: "an object belongs to a context from the start: EmotionDiary(in: context, content: text)"
  )
  public func insert(_ object: ManagedObject) {}

  @available(
    *, unavailable,
    message: "write deleteAll(request), which deletes in the store at once, or delete each of the fetched objects"
  )
  public func delete<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws {}

  @available(*, unavailable, message: "write for object in objects { try context.delete(object) }")
  public func delete<Object: ManagedObject>(_ objects: [Object]) throws {}

  @available(*, unavailable, message: "write deleteAll(EmotionDiary.all), or deleteAll(EmotionDiary.where { … })")
  public func delete<Object: ManagedObject>(model type: Object.Type) throws {}

  @available(*, unavailable, message: "write refresh(object), or refresh(object, discardingChanges: true)")
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {}

  @available(
    *, unavailable, message: "use the context where it was made; for work in the background write container.perform"
  )
  public func perform<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

  @available(
    *, unavailable, message: "use the context where it was made; for work in the background write container.perform"
  )
  public func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
}

// MARK: - Requests

extension FetchRequest {
  @available(*, unavailable, message: "ask the context: try context.fetch(request)")
  public func fetchAll(_ context: ManagedObjectContext) throws -> [Columns.Object] { [] }

  @available(*, unavailable, message: "ask the context: try context.first(request)")
  public func fetchOne(_ context: ManagedObjectContext) throws -> Columns.Object? { nil }

  @available(*, unavailable, message: "ask the context: try context.count(request)")
  public func fetchCount(_ context: ManagedObjectContext) throws -> Int { 0 }
}

extension FetchableObject {
  @available(*, unavailable, message: "ask the context: try context.fetch(EmotionDiary.all)")
  public static func fetchAll(_ context: ManagedObjectContext) throws -> [Columns.Object] { [] }
}

// MARK: - Objects

// Members of a protocol and not of the class, so that an extension of a class may declare a `delete` of its own. The name
// of each is reserved in models, so that words as common as `value` and `save` have no place here.
extension IdentifiedObject {
  @available(
    *, unavailable,
    message: "write in: for the context, and the attributes that need a value: EmotionDiary(in: context, content: text)"
  )
  public init() { self.init(PlaceholderRow(key: 0), in: ContextLink()) }

  @available(
    *, unavailable,
    message: "write in: for the context, and the attributes that need a value: EmotionDiary(in: context, content: text)"
  )
  public init(context: ManagedObjectContext) { self.init(PlaceholderRow(key: 0), in: context.graph.link) }

  @available(
    *, unavailable, message: "an attribute without a default needs a value: EmotionDiary(in: context, content: text)"
  )
  public init(in context: ManagedObjectContext) { self.init(PlaceholderRow(key: 0), in: context.graph.link) }

  @available(*, unavailable, message: "delete it in its context: try context.delete(object)")
  public func delete() {}
}

// MARK: - To many

extension ToManyView {
  @available(*, unavailable, message: "write append(object)")
  public func insert(_ object: Element) {}

  @available(*, unavailable, message: "a to-many is a collection; objects is an array of its members")
  public var allObjects: [Element] { objects }

  @available(*, unavailable, message: "a to-many is a collection; objects is an array of its members")
  public var array: [Element] { objects }

  @available(*, unavailable, message: "write remove(object), or remove(at: count - 1) if it is ordered")
  @discardableResult public func removeLast() -> Element? { nil }

  @available(*, unavailable, message: "write remove(object), or remove(at: 0) if it is ordered")
  @discardableResult public func removeFirst() -> Element? { nil }
}

extension ToMany {
  @available(
    *, unavailable, message: "the members have no order: write append(object), or \"ordered\": true in the model"
  )
  public func insert(_ object: Member, at position: Int) {}

  @available(
    *, unavailable, message: "the members have no order: write remove(object), or \"ordered\": true in the model"
  )
  public func remove(at position: Int) {}
}
