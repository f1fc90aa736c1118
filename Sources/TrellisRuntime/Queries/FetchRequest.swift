public import TrellisModel
public import TrellisStorage

/// A query for objects: an entity, conditions, a sort order, a limit and an offset.
///
/// ```swift
/// let request = EmotionDiary.where {
///   $0.emotion == .happy
///   $0.content.contains("커피")
/// }.sorted { $0.createdAt.descending }.limit(20)
/// ```
/// A request is a value: it can be kept, passed on and refined, and used in any context of the model.
public struct FetchRequest<Columns: EntityColumns>: Sendable {
  /// What is asked for.
  private(set) var terms: RequestTerms

  /// The conditions as the predicate tree that stores evaluate. Nil if there are none, or if they contain formats,
  /// which the fetch parses.
  ///
  /// - Complexity: linear in the number of conditions.
  public var predicate: QueryPredicate? { terms.condition.flatMap { $0.hasFormats ? nil : $0.predicate } }

  /// Creates a request for every object of the entity and its subentities.
  public init() { self.init(RequestTerms()) }

  @_spi(Generated) public init(_ conditions: (Columns) -> QueryCondition) {
    self.init(RequestTerms(condition: conditions(Columns(PropertyPath(variable: 0))).tree))
  }

  /// A request that the model declares.
  @_spi(Generated) public init(
    predicate: QueryPredicate?, sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0, prefetch: [PropertyPath] = []
  ) {
    self.init(
      RequestTerms(
        condition: predicate.map { ConditionTree($0) }, sort: sort, maximum: limit, skipped: offset,
        prefetched: prefetch))
  }

  private init(_ terms: consuming RequestTerms) { self.terms = terms }

  /// The request with a change. A request that nothing else refers to, such as one in a chain of calls, is not copied:
  /// the functions that refine a request consume it.
  private consuming func refined(_ change: (RequestTerms) -> Void) -> FetchRequest {
    if !isKnownUniquelyReferenced(&terms) { terms = RequestTerms(copying: terms) }
    change(terms)
    return self
  }

  /// The request with additional conditions, all of which must hold as well.
  public consuming func `where`(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    self.where(conditions(Columns(PropertyPath(variable: 0))).tree)
  }

  /// The request with this sort order, the most important key first. An attribute alone is ascending. The order
  /// replaces any previous one. Objects with equal keys are returned in the order of their insertion, or in the reverse
  /// order if the last key is descending.
  public consuming func sorted(@SortBuilder _ terms: (Columns) -> [SortTerm]) -> FetchRequest {
    let keys = terms(Columns(PropertyPath(variable: 0))).map { $0.key }
    return refined { $0.sort(by: keys) }
  }

  /// The request with a sort order by property names that are known only at run time, the most important first.
  ///
  /// ```swift
  /// let request = DiaryImage.all.sorted(by: "-diary.createdAt", "imagePath")
  /// ```
  /// The names are those of the model, with dots between the steps of a path through to-one relationships, as in the
  /// `sort` of a model file. The prefix `-` puts the greatest value first. A to-many relationship sorts by the number
  /// of its members. The fetch checks the names, and throws ``PredicateFormatError`` for a name that the entity does
  /// not have or cannot be sorted by. The order replaces any previous one.
  public consuming func sorted(by names: String...) -> FetchRequest { sorted(by: names) }

  /// The same as ``sorted(by:)-(String...)``, with the names as an array.
  public consuming func sorted(by names: [String]) -> FetchRequest {
    refined { $0.sort(by: [], names: names) }
  }

  /// The request with a maximum number of objects. A negative number counts as 0, which returns no objects.
  public consuming func limit(_ count: Int) -> FetchRequest {
    refined { $0.maximum = max(0, count) }
  }

  /// The request without its first objects. A negative number counts as 0, which skips none.
  public consuming func offset(_ count: Int) -> FetchRequest {
    refined { $0.skipped = max(0, count) }
  }

  /// The request with prefetching of a to-many relationship: the members of all results are loaded in a few statements.
  ///
  /// ```swift
  /// let request = EmotionDiary.all.prefetching { $0.images }
  /// ```
  /// A relationship that is not prefetched is loaded on its first use, for all objects of the same fetch. Prefetching
  /// is therefore useful when the relationship is known to be used. It can be called several times.
  public consuming func prefetching<Target>(_ relationship: (Columns) -> ToManyPath<Target>) -> FetchRequest {
    prefetching(relationship(Columns(PropertyPath(variable: 0))).path)
  }

  /// The request with prefetching of a to-one relationship: the objects that the results refer to are loaded with them.
  ///
  /// ```swift
  /// let request = DiaryImage.all.prefetching { $0.diary }
  /// ```
  public consuming func prefetching<Target>(_ relationship: (Columns) -> ToOnePath<Target>) -> FetchRequest {
    prefetching(relationship(Columns(PropertyPath(variable: 0))).path)
  }

  /// The request with prefetching of a to-many relationship and of a relationship of its members.
  ///
  /// ```swift
  /// let request = Tag.all.prefetching({ $0.diaries }, then: { $0.images })
  /// ```
  public consuming func prefetching<Middle, Target>(
    _ relationship: (Columns) -> ToManyPath<Middle>, then next: (Middle) -> ToManyPath<Target>
  ) -> FetchRequest {
    prefetching(next(Middle(relationship(Columns(PropertyPath(variable: 0))).path)).path)
  }

  /// The request with prefetching of a to-many relationship and of a relationship of its members.
  public consuming func prefetching<Middle, Target>(
    _ relationship: (Columns) -> ToManyPath<Middle>, then next: (Middle) -> ToOnePath<Target>
  ) -> FetchRequest {
    prefetching(next(Middle(relationship(Columns(PropertyPath(variable: 0))).path)).path)
  }

  /// The request with a lazy loading rule for its results and the objects loaded from them. It applies if it is
  /// stricter than the context's rule.
  public consuming func lazyLoading(_ rule: LazyLoading) -> FetchRequest {
    refined { $0.lazyLoading = rule }
  }

  /// The request for objects of the entity itself, without its subentities.
  public consuming func withoutSubentities() -> FetchRequest {
    refined { $0.includesSubentities = false }
  }

  /// The request for the saved state of the store. The context's unsaved changes neither add objects to the results nor
  /// remove any, and objects with an unsaved delete are included. The objects themselves still have their unsaved
  /// values.
  public consuming func storedOnly() -> FetchRequest {
    refined { $0.seesPendingChanges = false }
  }

  /// The property numbers of the relationships to prefetch, and of those on the way to them.
  package var prefetchedSteps: [[Int]] {
    terms.prefetched.flatMap { path in path.steps.indices.map { Array(path.steps[...$0]) } }
  }

  private consuming func prefetching(_ path: PropertyPath) -> FetchRequest {
    refined { $0.prefetched.append(path) }
  }

  consuming func `where`(_ added: ConditionTree) -> FetchRequest {
    refined { $0.condition = $0.condition?.joined(.and, added) ?? added }
  }

  /// The request in the form for stores, with its formats parsed.
  ///
  /// - Throws: ``ContextError`` if the class belongs to another model; ``StoreError`` if the request is too large; and
  ///   ``PredicateFormatError``.
  func storeRequest(in graph: ObjectGraph) throws -> StoreRequest {
    try graph.runtime.check(Columns.Object.self)
    return try terms.storeRequest(for: Columns.Object._entity, in: graph.runtime)
  }
}

// MARK: - Terms

/// What a request asks for, of whatever entity.
///
/// Requests share their terms: generic code needs the metadata of a type to copy or destroy several values, and looks it
/// up each time, but not to copy a reference.
///
/// `@unchecked` is sound because the terms are only changed by the one request that refers to them: another request, in
/// whatever domain, would be a second reference, for which they are copied first. No field is accessed during a call to
/// other code, so accesses cannot overlap, and exclusivity is not checked.
final class RequestTerms: @unchecked Sendable {
  /// The conditions; nil for every object.
  @exclusivity(unchecked) var condition: ConditionTree?
  @exclusivity(unchecked) private(set) var sort: [SortKey]
  /// The names of properties to sort by instead of ``sort``. They are resolved when a context, and thus the model, is
  /// known.
  @exclusivity(unchecked) private(set) var sortNames: [String] = []
  @exclusivity(unchecked) var maximum: Int?
  @exclusivity(unchecked) var skipped: Int
  @exclusivity(unchecked) var prefetched: [PropertyPath]
  @exclusivity(unchecked) var lazyLoading = LazyLoading.allowed
  @exclusivity(unchecked) var includesSubentities = true
  @exclusivity(unchecked) var seesPendingChanges = true

  init(
    condition: consuming ConditionTree? = nil, sort: [SortKey] = [], maximum: Int? = nil, skipped: Int = 0,
    prefetched: [PropertyPath] = []
  ) {
    self.condition = condition
    self.sort = sort
    self.maximum = maximum
    self.skipped = skipped
    self.prefetched = prefetched
  }

  /// Creates terms with the same contents.
  init(copying other: RequestTerms) {
    condition = other.condition
    sort = other.sort
    sortNames = other.sortNames
    maximum = other.maximum
    skipped = other.skipped
    prefetched = other.prefetched
    lazyLoading = other.lazyLoading
    includesSubentities = other.includesSubentities
    seesPendingChanges = other.seesPendingChanges
  }

  /// Replaces the sort order.
  func sort(by keys: consuming [SortKey], names: [String] = []) {
    sort = keys
    sortNames = names
  }

  /// The part that does not concern stores.
  var rules: FetchRules { FetchRules(seesPendingChanges: seesPendingChanges, lazyLoading: lazyLoading) }

  /// The request in the form for stores, with its formats parsed.
  ///
  /// - Throws: ``StoreError`` if the request is too large; ``PredicateFormatError``.
  func storeRequest(for entity: Int, in runtime: RuntimeModel) throws -> StoreRequest {
    let condition = condition
    if condition?.isTooDeep == true { throw StoreRequest.tooDeep }
    var keys = sort
    for name in sortNames {
      keys.append(try SortKey(named: name, of: runtime.info(entity).entity, in: runtime.model))
    }
    let request = StoreRequest(
      entity: entity, includesSubentities: includesSubentities,
      predicate: try condition?.predicate(of: entity, in: runtime), sort: keys, limit: maximum, offset: skipped)
    try request.checkSortKeys()
    return request
  }
}

// MARK: - Equality

extension FetchRequest: Equatable {
  /// Whether two requests ask for the same in the same way: with the same conditions and values, sort order, limit, offset
  /// and rules. Conditions that mean the same in other words are not the same.
  ///
  /// - Complexity: linear in the number of conditions.
  public static func == (left: FetchRequest, right: FetchRequest) -> Bool {
    left.terms === right.terms || left.terms == right.terms
  }
}

extension RequestTerms: Equatable {
  static func == (left: RequestTerms, right: RequestTerms) -> Bool {
    left.sort == right.sort && left.sortNames == right.sortNames && left.maximum == right.maximum
      && left.skipped == right.skipped && left.prefetched == right.prefetched && left.lazyLoading == right.lazyLoading
      && left.includesSubentities == right.includesSubentities
      && left.seesPendingChanges == right.seesPendingChanges && left.condition == right.condition
  }
}

// MARK: - Formats

extension FetchRequest {
  /// The request with an additional predicate in a format string, which must hold as well.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.where("images.@count > %d", 3)
  /// ```
  /// The fetch parses the format, and throws ``PredicateFormatError`` if it is invalid.
  ///
  /// - Parameter arguments: the values of `%@` and other placeholders, in order, without the interpolations.
  /// - Parameter format: The predicate in the format language.
  public consuming func `where`(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    self.where(format, arguments: arguments)
  }

  /// The same as ``where(_:_:)``, with the arguments as an array.
  public consuming func `where`(_ format: PredicateFormat, arguments: [any PredicateArgument]) -> FetchRequest {
    self.where(ConditionTree(format.with(arguments)))
  }

  /// The request for the objects that match it already, and for those that satisfy all of these conditions.
  ///
  /// ```swift
  /// let request = EmotionDiary.where("mood BEGINSWITH[c] %@", "sun").or { $0.emotion == .happy }
  /// ```
  /// All conditions so far form one side of the `or`. Conditions that are added later apply to both sides. A request
  /// without conditions matches every object and stays unchanged.
  public consuming func or(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    or(conditions(Columns(PropertyPath(variable: 0))).tree)
  }

  /// The request for the objects that match it already, and for those that satisfy a predicate in a format string.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.or("images.@count > %d", 3)
  /// ```
  /// The fetch parses the format, and throws ``PredicateFormatError`` if it is invalid.
  ///
  /// - Parameter arguments: the values of `%@` and other placeholders, in order, without the interpolations.
  /// - Parameter format: The predicate in the format language.
  public consuming func or(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    or(ConditionTree(format.with(arguments)))
  }

  private consuming func or(_ added: ConditionTree) -> FetchRequest {
    refined { $0.condition = $0.condition?.joined(.or, added) }
  }
}

// MARK: - Description

extension FetchRequest: CustomStringConvertible {
  /// The request in readable form, with its conditions as a format and their values: `EmotionDiary where mood == 'sad'
  /// sorted by -createdAt limit 5`.
  ///
  /// The names come from the model, which is known after a container has been opened with it. Before that, conditions
  /// and sort keys are shown as `…`.
  public var description: String {
    let names = RequestNames(Columns.Object.self)
    var parts = ["\(Columns.Object.self)"]
    let terms = terms
    if let condition = terms.condition { parts.append("where " + condition.text(names.text)) }
    let keys = terms.sort.map(names.text) + terms.sortNames
    if !keys.isEmpty { parts.append("sorted by " + keys.joined(separator: ", ")) }
    if let maximum = terms.maximum { parts.append("limit \(maximum)") }
    if terms.skipped > 0 { parts.append("offset \(terms.skipped)") }
    if !terms.includesSubentities { parts.append("without subentities") }
    if !terms.seesPendingChanges { parts.append("stored only") }
    return parts.joined(separator: " ")
  }
}

/// The names of a request's entity and properties.
private struct RequestNames {
  let model: Model?
  let entity: Int

  init(_ type: ManagedObject.Type) {
    entity = type._entity
    let known = KnownModels.model(of: type)
    model = known.flatMap { $0.entities.indices.contains(type._entity) ? $0 : nil }
  }

  func text(of predicate: QueryPredicate) -> String {
    model.flatMap { try? predicate.formatText(of: entity, in: $0) } ?? "…"
  }

  func text(of key: SortKey) -> String {
    guard let model else { return "…" }
    let name =
      key.path.map { model.name(of: $0.steps, from: entity).split(separator: ".").dropFirst().joined(separator: ".") }
      ?? "a computed value"
    let letters = [(TextOptions.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n")]
    let options = key.language ?? letters.filter { key.options.contains($0.0) }.map(\.1).joined()
    let shown = key.query == nil ? name : "rank of \(name)"
    return (key.isDescending ? "-" : "") + shown + (options.isEmpty ? "" : "[\(options)]")
  }
}
