import TrellisQuery
import TrellisSchema
import TrellisStorage

/// A child's way to its parent, which is the only store that it knows: rows are the parent's objects as they are now.
///
/// So a child fetches, loads and saves like every other context. Places of members are left out on both ways: the parent's lists
/// have an order without them.
final class ParentConnection: StoreConnection {
  let parent: ManagedObjectContext
  /// Whose way it is.
  let child: ContextLink
  var seen = ParentRowVersions()
  /// The parent's objects that had unsaved changes when the child looked last.
  var changedInParent: Set<Int64> = []
  private let reader = ValueReader()
  private let writer = ValueWriter()
  private let rules = FetchRules(seesPendingChanges: true, lazyLoading: .allowed)

  init(_ parent: ManagedObjectContext, for child: ContextLink) {
    self.parent = parent
    self.child = child
  }

  // MARK: Requests

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    for object in try parent.results(of: request, rules) { try body(row(of: object)) }
  }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    if try isStored(request) { return try parent.connection().fetchKeys(request, body) }
    for object in try parent.results(of: request, rules) { try body(object._key, type(of: object)._entity) }
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try parent.prepareFetch()
    try parent.forEachRow(of: request, rules, paths, false, body)
  }

  func count(_ request: StoreRequest) throws -> Int {
    try isStored(request) ? parent.connection().count(request) : parent.results(of: request, rules).count
  }

  func plan(of request: StoreRequest) throws -> QueryPlan { try parent.connection().plan(of: request) }

  /// Whether the parent has changed nothing that matters to a request.
  private func isStored(_ request: StoreRequest) throws -> Bool {
    try parent.prepareFetch()
    return try parent.influence(on: request, rules) == .none
  }

  // MARK: Rows and members

  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    let subtree = parent.runtime.entities[entity].entity.subtree
    for object in try objects(keys, of: entity) where subtree.contains(type(of: object)._entity) {
      try body(row(of: object))
    }
  }

  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    for (owner, destination, keys) in try partners(of: owners, relationship) {
      for member in try objects(keys, of: destination) { try body(owner, row(of: member)) }
    }
  }

  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    for (owner, _, keys) in try partners(of: owners, relationship) { for key in keys { try body(owner, key, 0) } }
  }

  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) {}

  func pin() throws {
    throw StoreError(
      .unsupported, "A child context cannot show one moment of the store.",
      remedy: "Use pinned of a context without a parent.")
  }

  /// The parent's objects of some keys, with their values, in that order; those that are deleted are left out.
  func objects(_ keys: [Int64], of entity: Int) throws -> [ManagedObject] {
    try parent.loadForChange(keys, entity: entity)
    return keys.compactMap { parent.map[$0] }.filter(\.isAlive)
  }

  /// Makes the parent load those of a child's objects that it has not in memory, so that it says whether they exist.
  func load(_ keys: Set<Int64>, asIn child: ManagedObjectContext) throws {
    let missing = keys.filter { parent.map[$0] == nil }.sorted().compactMap { child.map[$0] }
    for (entity, objects) in Dictionary(grouping: missing, by: { type(of: $0)._entity }).sorted(by: { $0.key < $1.key })
    {
      try parent.loadForChange(objects.map(\._key), entity: entity)
    }
  }

  /// The partners of some of the parent's objects, loaded in a few statements.
  private func partners(
    of owners: [Int64], _ number: RelationshipNumber
  ) throws -> [(owner: Int64, destination: Int, keys: [Int64])] {
    guard let relationship = parent.runtime.relationship(number) else { return [] }
    let owners = try objects(owners, of: relationship.entity)
    if relationship.isToMany {
      let unloaded = owners.filter { !parent.list(of: $0, relationship).isLoaded }
      if !unloaded.isEmpty { try parent.loadMembers(of: unloaded, relationship) }
    }
    let found = owners.map { owner in
      if relationship.isToMany {
        return (owner._key, relationship.destination, Array(parent.shownKeys(parent.list(of: owner, relationship))))
      }
      let partner = parent.partnerKey(of: owner, relationship)
      return (owner._key, relationship.destination, partner > 0 ? [partner] : [])
    }
    try parent.throwPendingFailure()
    return found
  }

  /// The row of a parent's object as it is now.
  private func row(of object: ManagedObject) -> RowReader {
    show(object, in: parent, version: seen.version(of: object, parent.info(of: object)))
  }

  /// The values of an object as a row.
  func show(_ object: ManagedObject, in context: ManagedObjectContext, version: Int64) -> RowReader {
    let entity = context.info(of: object).entity
    let values = writer.collect(entity.columns.count, object.writeRow) ?? []
    reader.show(key: object._key, version: version, entity: entity.index, values: values)
    return reader
  }
}
