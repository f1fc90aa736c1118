package import TrellisModel
package import TrellisStorage

// Access by numbers, for code that knows a model only at run time. The functions are those that generated code and
// `ToMany` call. They throw the errors that generated properties can only report.

extension ObjectModel {
  /// A model of which the classes are made at run time. The classes may belong to several models.
  ///
  /// - Parameter classes: The classes, in the order of the description's entities.
  package init(_ description: ModelDescription, sharedClasses classes: [ManagedObject.Type], checksum: String) {
    self.description = description
    self.checksum = checksum
    types = classes
  }
}

// MARK: - Requests

extension ManagedObjectContext {
  /// Throws the error of an earlier use of an object that could only report it.
  ///
  /// - Throws: ``ContextError``.
  package func throwPendingFailure() throws { try graph.throwPendingFailure() }
}

extension ManagedObjectContext {
  /// The model of the context's container, with its numbers.
  package var model: Model { graph.runtime.model }

  /// A request with a predicate in a format string and sort keys by name.
  ///
  /// - Parameters:
  ///   - entity: The number of the entity.
  ///   - format: The predicate; nil for all objects.
  ///   - arguments: The values of the format's placeholders, in order.
  ///   - bindings: The values of the format's variables, by name.
  ///   - sort: The names of the sort keys, as in `-diary.createdAt`.
  /// - Throws: ``PredicateFormatError``; ``StoreError`` with the code `limit` for a request that is too large.
  package func request(
    for entity: Int, format: String? = nil, arguments: [FormatArgument] = [], bindings: [String: FormatArgument] = [:],
    sort: [String] = [], limit: Int? = nil, offset: Int = 0, includesSubentities: Bool = true
  ) throws -> StoreRequest {
    var keys: [SortKey] = []
    for name in sort { keys.append(try SortKey(named: name, of: model.entities[entity], in: model)) }
    let predicate = try format.map { format in
      try graph.runtime.formats.predicate(
        FormatCache.Request(text: format, interpolated: [], given: arguments, bindings: bindings), of: entity, in: model
      )
    }
    let request = StoreRequest(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate, sort: keys,
      limit: limit.map { max(0, $0) }, offset: max(0, offset))
    try request.checkSortKeys()
    return request
  }

  /// The objects of a request, as if the unsaved changes were saved.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  package func objects(of request: StoreRequest, prefetching paths: [PropertyPath] = []) throws -> [ManagedObject] {
    let objects = try graph.results(of: request, .usual)
    if !paths.isEmpty { try graph.prefetch(paths, for: objects) }
    return objects
  }

  /// The number of objects of a request.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  package func count(of request: StoreRequest) throws -> Int {
    try graph.prepareFetch()
    return try graph.influence(on: request, .usual) == .none
      ? graph.connection().count(request) : graph.results(of: request, .usual).count
  }

  /// The keys of a request's objects.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  package func keys(of request: StoreRequest) throws -> [Int64] {
    try graph.prepareFetch()
    return try graph.keys(of: request, .usual)
  }

  /// How the store would answer a request.
  ///
  /// - Throws: ``StoreError`` if the store cannot plan the request.
  package func plan(of request: StoreRequest) throws -> QueryPlan { try graph.connection().plan(of: request) }

  /// The objects of an entity and its subentities with some keys. A key without an object has none in the result.
  ///
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` if an earlier load failed.
  package func objects(_ keys: [Int64], entity: Int) throws -> [Int64: ManagedObject] {
    try graph.prepareFetch()
    let missing = keys.filter { graph.map[$0] == nil }
    if !missing.isEmpty { try graph.loadObjects(missing, entity: entity) }
    var found: [Int64: ManagedObject] = [:]
    let subtree = model.entities[entity].subtree
    for key in keys {
      guard let object = graph.map[key], object.isAlive, subtree.contains(type(of: object)._entity) else { continue }
      found[key] = object
    }
    return found
  }

  /// The objects that have some values in a unique key, as if the unsaved changes were saved. An object whose key was
  /// edited counts with its new values, and a new object counts.
  ///
  /// - Parameters:
  ///   - key: A unique key. Objects of the entity that declares it and of its descendants are searched.
  ///   - values: A list for each property of the key, as in ``UniqueKey/properties``. The n-th values of all lists
  ///     together are what is searched for; the value of a reference is the key of the partner. Values may come several
  ///     times. A null is equal to nothing.
  /// - Returns: an object or nil for each of the values. If several objects have them until a save, the one that was
  ///   not edited, otherwise the one that was saved before, otherwise the first new one.
  /// - Throws: the same errors as ``fetch(_:)``.
  /// - Complexity: one search of the store for all values together, plus the number of unsaved changes.
  package func holders(of key: UniqueKey, values: [[StoredValue]]) throws -> [ManagedObject?] {
    try graph.prepareFetch()
    let search = KeyHolderSearch(graph, key, values: values)
    var found: [ManagedObject?] = Array(repeating: nil, count: search.combinations.count)
    try search.forEach { number, object in if found[number] == nil { found[number] = object } }
    return search.combinations.map { $0.flatMap { found[$0] } }
  }
}

extension FetchRules {
  fileprivate static let usual = FetchRules(seesPendingChanges: true, lazyLoading: .allowed)
}

// MARK: - Relationships

extension ManagedObject {
  /// The partner of a to-one relationship; nil if there is none, or the reference leads to no object.
  ///
  /// - Throws: ``ContextError`` if it cannot be loaded.
  package final func partner(of property: Int) throws -> ManagedObject? {
    try throwing {
      _willRead(property)
      return _findPartner(property)
    }
  }

  /// The members of a to-many relationship.
  ///
  /// - Throws: ``ContextError`` if they cannot be loaded.
  package final func members(of property: Int) throws -> [ManagedObject] {
    try throwing { members(property, as: ManagedObject.self) }
  }

  /// The keys of the members of a to-many relationship. The objects are not loaded.
  ///
  /// - Throws: ``ContextError`` if they cannot be loaded.
  package final func keysOfMembers(of property: Int) throws -> [Int64] { try throwing { Array(memberKeys(property)) } }

  /// Sets the partner of a to-one relationship, and updates the inverse.
  ///
  /// - Throws: ``ContextError``. Then nothing has changed.
  package final func setPartner(of property: Int, _ partner: ManagedObject?) throws {
    try changing(property, to: partner.map { [$0] } ?? []) { _setPartner(property, partner) }
  }

  /// Adds a member to a to-many relationship, or moves it.
  ///
  /// - Parameter position: The position in an ordered relationship; nil for the end.
  /// - Throws: ``ContextError``. Then nothing has changed.
  package final func add(_ member: ManagedObject, to property: Int, at position: Int? = nil) throws {
    try changing(property, to: [member]) { addMember(property, member, at: position.map { max(0, $0) }) }
  }

  /// Removes a member from a to-many relationship, without deleting it.
  ///
  /// - Throws: ``ContextError``. Then nothing has changed.
  package final func remove(_ member: ManagedObject, from property: Int) throws {
    try changing(property, to: []) { removeMember(property, member) }
  }

  /// Makes some objects the members of a to-many relationship, in their order.
  ///
  /// - Throws: ``ContextError``. Then nothing has changed.
  package final func replaceMembers(of property: Int, with members: [ManagedObject]) throws {
    try changing(property, to: members) { replaceMembers(property, members) }
  }

  /// Checks that the object can be written to.
  ///
  /// - Throws: ``ContextError`` with the code `ignored-write` if it is deleted or belongs to no context any more.
  package final func checkWritable() throws(ContextError) {
    if attachedGraph == nil || isDeleted {
      throw ContextError(
        .ignoredWrite, "\(self) cannot be changed, since it is \(isDeleted ? "deleted" : "of no context any more").")
    }
  }

  /// Calls a function that reports its errors, and throws the one that it has reported.
  private final func throwing<Result>(_ body: () -> Result) throws -> Result {
    guard let graph = link.graph else {
      throw ContextError(.loadFailed, "The partners of \(self) cannot be loaded, since the object's context is gone.")
    }
    let result = body()
    try graph.throwPendingFailure()
    return result
  }

  private final func changing(_ property: Int, to partners: [ManagedObject], _ body: () -> Void) throws {
    try checkWritable()
    guard let graph = attachedGraph, let relationship = graph.relationship(property, of: self) else { return }
    for partner in partners {
      if let refusal = graph.refusal(of: partner, as: "the partner", in: relationship) { throw refusal }
    }
    try throwing(body)
  }
}
