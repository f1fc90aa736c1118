public import TrellisQuery
import TrellisStorage

/// What to fetch: an entity, conditions, an order, and how many.
///
/// ```swift
/// let request = EmotionDiary.where {
///   $0.emotion == .happy
///   $0.content.contains("커피")
/// }.sorted { $0.createdAt.descending }.limit(20)
/// ```
/// A request is a value: it may be kept, passed on and refined, and used in any context of the model.
public struct FetchRequest<Columns: EntityColumns>: Sendable {
  /// What must hold; nil for every object.
  var condition: ConditionTree?
  private(set) var sort: [SortKey] = []
  /// Names of properties to sort by in place of ``sort``, read when a context, and with it the model, is known.
  private(set) var sortNames: [String] = []
  private(set) var maximum: Int?
  private(set) var skipped = 0
  private(set) var prefetched: [PropertyPath] = []
  private(set) var lazyLoading = LazyLoading.allowed
  private(set) var includesSubentities = true
  private(set) var seesPendingChanges = true

  /// The conditions as the tree that stores understand; nil when there are none, and when formats are among them, which are
  /// read by the fetch.
  ///
  /// - Complexity: linear in the number of conditions.
  public var predicate: QueryPredicate? { condition.flatMap { $0.hasFormats ? nil : $0.predicate } }

  /// A fetch of every object of the entity and of those below it.
  public init() {}

  @_spi(Generated) public init(_ conditions: (Columns) -> QueryCondition) {
    condition = conditions(Columns(PropertyPath(variable: 0))).tree
  }

  /// A request that the model declares.
  @_spi(Generated) public init(
    predicate: QueryPredicate?, sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0, prefetch: [PropertyPath] = []
  ) {
    condition = predicate.map { ConditionTree($0) }
    self.sort = sort
    maximum = limit
    skipped = offset
    prefetched = prefetch
  }

  /// The request with more conditions, all of which must hold too.
  public func `where`(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    self.where(conditions(Columns(PropertyPath(variable: 0))).tree)
  }

  /// The request with this order, the most important key first; an attribute alone is ascending. It comes in place of
  /// any the request had. Objects that are equal in it come in the order in which they were inserted, or the reverse where
  /// the last key is descending.
  public func sorted(@SortBuilder _ terms: (Columns) -> [SortTerm]) -> FetchRequest {
    var refined = self
    refined.sort = terms(Columns(PropertyPath(variable: 0))).map { $0.key }
    refined.sortNames = []
    return refined
  }

  /// The request with an order by properties whose names come at run time, the most important first.
  ///
  /// ```swift
  /// let request = DiaryImage.all.sorted(by: "-diary.createdAt", "imagePath")
  /// ```
  /// A name is that of the model, with points between the steps of a path through to-ones, as in the `sort` of a model
  /// file; with `-` before it the greatest comes first. A to-many sorts by the number of its members. The names are checked by the fetch, which throws
  /// ``PredicateFormatError`` for one that the entity does not have or cannot be sorted by. The order comes in place of any the
  /// request had.
  public func sorted(by names: String...) -> FetchRequest { sorted(by: names) }

  /// As ``sorted(by:)-(String...)``, with the names as a list.
  public func sorted(by names: [String]) -> FetchRequest {
    var refined = self
    refined.sort = []
    refined.sortNames = names
    return refined
  }

  /// The request for at most so many objects; less than 0 counts as 0, for which there are none.
  public func limit(_ count: Int) -> FetchRequest {
    var refined = self
    refined.maximum = max(0, count)
    return refined
  }

  /// The request without the first so many objects; less than 0 counts as 0, which leaves none out.
  public func offset(_ count: Int) -> FetchRequest {
    var refined = self
    refined.skipped = max(0, count)
    return refined
  }

  /// The request with the members of a to-many loaded along with the results, those of all results in a few statements.
  ///
  /// ```swift
  /// let request = EmotionDiary.all.prefetching { $0.images }
  /// ```
  /// What is not asked for comes when it is first used, the siblings' with it; so this is for when one knows that everything is
  /// going to be used. It may be said several times.
  public func prefetching<Target>(_ relationship: (Columns) -> ToManyPath<Target>) -> FetchRequest {
    prefetching(relationship(Columns(PropertyPath(variable: 0))).path)
  }

  /// The request with the objects that a to-one leads to loaded along with the results.
  ///
  /// ```swift
  /// let request = DiaryImage.all.prefetching { $0.diary }
  /// ```
  public func prefetching<Target>(_ relationship: (Columns) -> ToOnePath<Target>) -> FetchRequest {
    prefetching(relationship(Columns(PropertyPath(variable: 0))).path)
  }

  /// The request with what lies behind the members of a to-many loaded too.
  ///
  /// ```swift
  /// let request = Tag.all.prefetching({ $0.diaries }, then: { $0.images })
  /// ```
  public func prefetching<Middle, Target>(
    _ relationship: (Columns) -> ToManyPath<Middle>, then next: (Middle) -> ToManyPath<Target>
  ) -> FetchRequest {
    prefetching(next(Middle(relationship(Columns(PropertyPath(variable: 0))).path)).path)
  }

  /// The request with what lies behind the members of a to-many loaded too.
  public func prefetching<Middle, Target>(
    _ relationship: (Columns) -> ToManyPath<Middle>, then next: (Middle) -> ToOnePath<Target>
  ) -> FetchRequest {
    prefetching(next(Middle(relationship(Columns(PropertyPath(variable: 0))).path)).path)
  }

  /// The request whose results, and what is found from them, may be under a stricter rule than the context.
  public func lazyLoading(_ rule: LazyLoading) -> FetchRequest {
    var refined = self
    refined.lazyLoading = rule
    return refined
  }

  /// The request for objects of the entity itself, without those of the entities below it.
  public func withoutSubentities() -> FetchRequest {
    var refined = self
    refined.includesSubentities = false
    return refined
  }

  /// The request for what the store holds, without regard to the context's unsaved changes: they neither bring objects nor
  /// keep any away, those deleted but not saved included. The objects themselves have their unsaved values all the same.
  public func storedOnly() -> FetchRequest {
    var refined = self
    refined.seesPendingChanges = false
    return refined
  }

  private func prefetching(_ path: PropertyPath) -> FetchRequest {
    var refined = self
    refined.prefetched.append(path)
    return refined
  }

  func `where`(_ added: ConditionTree) -> FetchRequest {
    var refined = self
    refined.condition = condition?.joined(.and, added) ?? added
    return refined
  }

  /// The request as stores understand it, its formats read.
  ///
  /// - Throws: ``ContextError`` when it is for a class of another model; ``StoreError`` when it is too large; and
  ///   ``PredicateFormatError``.
  func storeRequest(in context: ManagedObjectContext) throws -> StoreRequest {
    try context.runtime.check(Columns.Object.self)
    if condition?.isTooDeep == true { throw StoreRequest.tooDeep }
    let entity = Columns.Object._entity
    var keys = sort
    for name in sortNames {
      keys.append(try SortKey(named: name, of: context.runtime.entities[entity].entity, in: context.runtime.model))
    }
    let request = StoreRequest(
      entity: entity, includesSubentities: includesSubentities,
      predicate: try condition?.predicate(of: entity, in: context.runtime), sort: keys, limit: maximum,
      offset: skipped)
    try request.checkSortKeys()
    return request
  }
}
