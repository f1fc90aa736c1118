public import TrellisModel

extension StoreConfiguration {
  /// A new, empty in-memory store for each container that opens it.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .memory)
  /// ```
  public static var memory: StoreConfiguration {
    StoreConfiguration { MemoryStore($0) }
  }

  /// An in-memory store that is shared by all containers of this process that open it by the same name. It is released
  /// with the last container. A container merges the saves of the other containers like those of other processes to a
  /// file.
  ///
  /// - Parameter name: any text. Opening throws ``StoreError`` if the store was created with another model. Models that
  ///   differ only in docs, rules, defaults or indexes count as the same.
  public static func memory(named name: String) -> StoreConfiguration {
    StoreConfiguration { model in try NamedRows.open(name, model) }
  }
}

/// The rows that are shared by name.
private enum NamedRows {
  private struct Entry {
    weak var rows: MemoryRows?
  }

  private static let entries = Locked<[String: Entry]>([:])

  static func open(_ name: String, _ model: Model) throws -> MemoryStore {
    let made = MemoryRows(Layout(model))
    let rows = entries.withLock { entries in
      if let rows = entries[name]?.rows { return rows }
      entries[name] = Entry(rows: made)
      return made
    }
    guard rows.layout.model.isKept(as: model) else {
      throw StoreError(
        .otherModel, "The store in memory named \(name) was made with another model.",
        remedy: "Use another name, or the same model.")
    }
    return MemoryStore(sharing: rows, name: name)
  }
}

extension Model {
  /// Whether the store accepts rows of the other model: both have the same storage layout and the same numbers of
  /// entities and properties, by which a store is queried.
  fileprivate func isKept(as other: Model) -> Bool {
    name == other.name && storageSignature == other.storageSignature && entities.count == other.entities.count
      && zip(entities, other.entities).allSatisfy { mine, others in
        mine.name == others.name && mine.properties.map(\.name) == others.properties.map(\.name)
      }
  }
}

// MARK: - Memory rows

/// The rows of a store in memory. Each container that opens a store by name has a ``MemoryStore`` of its own, and all of
/// these share the rows.
private final class MemoryRows: Sendable {
  struct Contents: Sendable {
    var state: MemoryState
    var nextKey: Int64 = 1
    /// The number of saves.
    var saves = 0
  }

  let layout: Layout
  let contents: Locked<Contents>

  init(_ layout: Layout) {
    self.layout = layout
    contents = Locked(Contents(state: MemoryState(layout)))
  }

  init(_ state: MemoryState, nextKey: Int64, _ layout: Layout) {
    self.layout = layout
    contents = Locked(Contents(state: state, nextKey: nextKey))
  }
}

// MARK: - Memory store

/// An in-memory store for tests, previews and work that needs no file. Its contents are lost when it is released.
///
/// It behaves like every other store with respect to conflicts, uniqueness, dangling references and order. A reader
/// works on a snapshot and holds no lock, so readers and a writer do not wait for each other.
public final class MemoryStore: Store, SnapshotSource {
  public let name: String
  package let layout: Layout

  /// The saves of the rows that this store knows.
  private struct KnownSaves: Sendable {
    /// The number of its own.
    var own = 0
    /// The number of those of other stores when it was last asked for them.
    var external: Int
  }

  private let rows: MemoryRows
  /// Whether other stores may share the rows.
  private let isShared: Bool
  private let known: Locked<KnownSaves>
  /// Whether saves refuse a value of a unique key that another row has.
  private let checksUniqueKeys: Bool

  /// Creates a store for the steps of a migration, which may begin with rows that violate unique keys.
  package init(_ state: MemoryState, nextKey: Int64, _ layout: Layout, name: String) {
    self.name = name
    self.layout = layout
    checksUniqueKeys = false
    rows = MemoryRows(state, nextKey: nextKey, layout)
    isShared = false
    known = Locked(KnownSaves(external: 0))
  }

  /// Creates an empty store.
  ///
  /// - Parameter name: the store's name in messages.
  /// - Parameter model: The model of the rows.
  public init(_ model: Model, name: String = "memory") {
    self.name = name
    layout = Layout(model)
    checksUniqueKeys = true
    rows = MemoryRows(layout)
    isShared = false
    known = Locked(KnownSaves(external: 0))
  }

  fileprivate init(sharing rows: MemoryRows, name: String) {
    self.name = name
    layout = rows.layout
    checksUniqueKeys = true
    self.rows = rows
    isShared = true
    known = Locked(KnownSaves(external: rows.contents.withLock { $0.saves }))
  }

  public func connect() -> any StoreConnection { MemoryConnection(self) }

  public func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    try rows.contents.withLock { contents in
      let (end, overflow) = contents.nextKey.addingReportingOverflow(max(0, count))
      guard !overflow else {
        throw StoreError(.limit, "The store has no keys left.", remedy: "Reserve fewer keys at a time.")
      }
      defer { contents.nextKey = end }
      return contents.nextKey..<end
    }
  }

  public func returnKeys(_ unused: Range<Int64>) {
    rows.contents.withLock { contents in
      if unused.upperBound == contents.nextKey && !unused.isEmpty { contents.nextKey = unused.lowerBound }
    }
  }

  /// A snapshot of the current state. Later saves do not change it.
  package func snapshot() -> Snapshot {
    Snapshot(rows.contents.withLock { $0.state }, layout)
  }

  package func lineage() -> StoreLineage { StoreLineage(nextKey: rows.contents.withLock { $0.nextKey }) }

  /// The state, and the next key that no row has.
  package func contents() -> (state: MemoryState, nextKey: Int64) { rows.contents.withLock { ($0.state, $0.nextKey) } }

  /// Reads the records first, without the lock, because they may be slow. Then checks and writes under one lock.
  package func save(_ request: SaveRequest) throws -> SaveOutcome {
    var draft = try SaveDraft(request, layout)
    draft.checksUniqueKeys = checksUniqueKeys
    return try rows.contents.withLock { contents in
      let outcome = try Self.save(draft, to: &contents.state, layout)
      contents.nextKey = max(contents.nextKey, draft.highestKey &+ 1)
      contents.saves += 1
      if isShared { known.withLock { $0.own += 1 } }
      return outcome
    }
  }

  package func takeExternalChanges() -> Bool {
    guard isShared else { return false }
    return rows.contents.withLock { contents in
      known.withLock { known in
        let external = contents.saves - known.own
        defer { known.external = external }
        return external != known.external
      }
    }
  }

  private static func save(_ draft: SaveDraft, to state: inout MemoryState, _ layout: Layout) throws -> SaveOutcome {
    if draft.counts.isEmpty && draft.denials.isEmpty {
      // Nothing can fail after the plan is made, so the state is changed in place, without copying a block.
      let plan = try SavePlan(draft, state, layout)
      plan.apply(to: &state, layout)
      return SaveOutcome(cascaded: plan.cascaded)
    }
    let saved = try state.saving(draft, layout)
    state = saved.state
    return saved.outcome
  }
}

// MARK: - Memory connection

/// A context's connection to a store that has its rows in memory. Each call reads the store's state at the start of the
/// call.
public final class MemoryConnection: StoreConnection {
  private let store: any SnapshotSource
  private let reader = ValueReader()

  /// The snapshot that is read while the connection is pinned.
  private var pinned: Snapshot?

  package init(_ store: any SnapshotSource) { self.store = store }

  public func pin() throws { pinned = try store.snapshot() }
  /// Ends the snapshot of ``pin()``.
  public func unpin() { pinned = nil }

  private func snapshot() throws -> Snapshot { try pinned ?? store.snapshot() }

  /// Whether another store that shares the rows by name was saved to since a connection of this one last returned true.
  public func hasExternalChanges() -> Bool { store.takeExternalChanges() }

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
    _ request: StoreRequest, of values: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    let evaluators = try StoreError.evaluating { try values.map { try OperandEvaluator($0.value) } }
    let snapshot = try snapshot()
    try RowSelection(request, snapshot).forEach { row in
      let object = RowObject(row: row, snapshot: snapshot)
      try body(try evaluators.map { try $0.value(of: object) })
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

  public func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    let index = try Members(relationship, snapshot()).index
    for member in Set(members) {
      if let place = index.place(owner, member) { try body(member, place) }
    }
  }

  @discardableResult public func save(_ request: SaveRequest) throws -> SaveOutcome {
    try store.save(request)
  }
}

extension MemoryConnection: TransferSource {
  package func pairs(of table: Int, _ body: (SaveRequest.Pairs.Pair) throws -> Void) throws {
    let state = try snapshot().state
    guard state.forward.indices.contains(table) else { throw StoreError.noSuchEntity }
    let join = store.layout.model.joinTables[table]
    // The request of a save may have positions for an end without an order.
    let (hasPlace, hasInversePlace) = (join.first.orderColumn != nil, join.second?.orderColumn != nil)
    var failure: (any Error)?
    state.forEachPair(of: table) { pair in
      var pair = pair
      if !hasPlace { pair.place = nil }
      if !hasInversePlace { pair.inversePlace = nil }
      do { try body(pair) } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
  }

  package func lineage() throws -> StoreLineage { try store.lineage() }
}
