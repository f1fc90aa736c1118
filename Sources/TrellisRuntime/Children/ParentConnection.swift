import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The connection of a child to its parent, which is the child's only store: the rows are the present objects of the
/// parent.
///
/// A child therefore fetches, loads and saves like every other context. The places of members are not passed in either
/// direction, because the parent's lists have an order without them.
final class ParentConnection: StoreConnection {
  let parent: ManagedObjectContext
  /// The child.
  let child: ContextLink
  var seen = ParentRowVersions()
  /// The keys of the parent's objects that had unsaved changes at the child's last merge.
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

  /// Whether no unsaved change of the parent affects a request.
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

  /// The parent's objects with some keys, in that order and with their values loaded. Deleted objects are left out.
  func objects(_ keys: [Int64], of entity: Int) throws -> [ManagedObject] {
    try parent.loadForChange(keys, entity: entity)
    return keys.compactMap { parent.map[$0] }.filter(\.isAlive)
  }

  /// Makes the parent load the objects of a child that it does not have in memory, to determine whether they exist.
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

  /// The present row of an object of the parent.
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
