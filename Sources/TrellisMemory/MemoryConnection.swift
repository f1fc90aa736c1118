import TrellisQuery
public import TrellisSchema
public import TrellisStorage

/// A context's connection to a store that has its rows in memory. Each call reads the store's state at the start of the
/// call.
public final class MemoryConnection: StoreConnection {
  private let store: any SnapshotSource
  private let reader = ValueReader()

  /// The snapshot that is read while the connection is pinned.
  private var pinned: Snapshot?

  package init(_ store: any SnapshotSource) { self.store = store }

  public func pin() throws { pinned = try store.snapshot() }
  public func unpin() { pinned = nil }

  private func snapshot() throws -> Snapshot { try pinned ?? store.snapshot() }

  public func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try RowSelection(request, snapshot()).forEach { row in
      reader.show(row)
      try body(reader)
    }
  }

  public func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try RowSelection(request, snapshot()).forEach { try body($0.key, $0.entity) }
  }

  public func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    let snapshot = try snapshot()
    try RowSelection(request, snapshot).forEach { row in
      let object = RowObject(row: row, snapshot: snapshot)
      try body(try paths.map { try object.value(at: $0.path) })
    }
  }

  public func plan(of request: StoreRequest) throws -> QueryPlan {
    let model = store.layout.model
    guard model.entities.indices.contains(request.entity) else { throw StoreError.noSuchEntity }
    let entity = model.entities[request.entity]
    let lookup = KeyLookup(snapshot: try snapshot(), entity: entity)
    if !lookup.findsFew(request.predicate), let walk = IndexWalk(request, try snapshot(), entity) {
      let names = walk.index.shape.columns.map { entity.properties[entity.columns[$0].property].name }
      return QueryPlan(
        steps: ["goes along the index \(names.joined(separator: ", ")) in order"], scansWholeTable: false,
        entity: entity.name)
    }
    let found = lookup.candidates(request.predicate)
    var steps = [found.map { "tests \($0.count) rows found by key" } ?? "goes through all rows by key"]
    if !request.sort.isEmpty { steps.append("sorts the matches") }
    return QueryPlan(steps: steps, scansWholeTable: found == nil, entity: entity.name)
  }

  public func count(_ request: StoreRequest) throws -> Int {
    // The sort order does not change the count, and without it no rows are collected.
    var request = request
    request.sort = []
    var count = 0
    try RowSelection(request, snapshot()).forEach { _ in count += 1 }
    return count
  }

  public func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    let snapshot = try snapshot()
    let model = snapshot.layout.model
    guard model.entities.indices.contains(entity) else { throw StoreError.noSuchEntity }
    let isWanted = model.wanted(model.entities[entity], withSubentities: true)
    let root = model.entities[entity].root
    for key in Set(keys) {
      guard let row = snapshot.state.row(root, key), isWanted[row.entity] else { continue }
      reader.show(row)
      try body(reader)
    }
  }

  public func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    let members = try Members(relationship, snapshot())
    try members.forEach(owners) { owner, key, _ in
      guard let row = members.row(key) else { return }
      reader.show(row)
      try body(owner, reader)
    }
  }

  public func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try Members(relationship, snapshot()).forEach(owners, body)
  }

  public func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    let members = try Members(relationship, snapshot())
    var last: [Int64: Int64] = [:]
    try members.forEach(owners) { owner, _, place in last[owner] = place }
    for owner in owners { if let place = last.removeValue(forKey: owner) { try body(owner, place) } }
  }

  @discardableResult public func save(_ request: SaveRequest) throws -> SaveOutcome {
    try store.save(request)
  }

  public func rehearse(_ request: SaveRequest) throws {
    _ = try store.snapshot().state.saving(SaveDraft(request, store.layout), store.layout)
  }
}
