public import TrellisModel

/// A persistent store, shared by all contexts of a container and used from any thread.
///
/// For implementers of a store, `TrellisStoreTesting` contains the rules that it has to follow, as cases to run against
/// it.
public protocol Store: AnyObject, Sendable {
  /// The name of the store in messages, such as a file's path.
  var name: String { get }
  /// Creates a connection for one context.
  ///
  /// - Throws: ``StoreError``.
  func connect() throws -> any StoreConnection
  /// Reserves keys that no object has or ever had, in this process or another.
  ///
  /// - Throws: ``StoreError``. A container goes without keys after the codes `readOnly`, `cannotOpen` and `full`, and asks
  ///   again when it needs them.
  func reserveKeys(_ count: Int64) throws -> Range<Int64>
  /// The number of keys that a container reserves at a time. The default, 2³², is enough for the life of a process, so
  /// that inserting never waits for the store; a store that many machines open at once should have fewer.
  var keyBlock: Int64 { get }
  /// The number of blocks of work that a container runs at a time unless it is told otherwise. The default is 1: blocks
  /// run one after the other.
  var concurrentWorkers: Int { get }
  /// Returns the upper part of the last reserved range, if no object uses it. A store may ignore it.
  func returnKeys(_ unused: Range<Int64>)
  /// Writes a copy of the store, as it is at one moment, to another file, while the store stays in use. The default
  /// implementation throws an error with the code `unsupported`.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - replacing: whether an existing file may be replaced.
  /// - Throws: ``StoreError``. An existing file is then unchanged.
  func backUp(to path: String, replacing: Bool) throws
  /// Removes the files of external data that no row and no value in memory refers to. The default implementation has no
  /// such files.
  ///
  /// - Returns: the number of removed files.
  /// - Throws: ``StoreError`` with the code `busy` if the store is open elsewhere.
  func collectExternalFiles() throws -> Int
  /// Ends what connections do, and releases locks and files, until ``resume()``. Until then, calls of connections and of
  /// this store throw ``StoreError`` with the code `suspended`. A store without locks and files need not implement it.
  ///
  /// - Parameter timeout: the maximum time.
  /// - Throws: ``StoreError`` with the code `timedOut`. The store stays suspended.
  func suspend(within timeout: Duration) throws
  /// Ends a suspension.
  func resume()
  /// Releases the resources that no connection needs. After that, no connection is made and no keys are reserved or
  /// returned. A store without resources need not implement it.
  func close()
}

extension Store {
  public func close() {}
  public func suspend(within timeout: Duration) throws {}
  public func resume() {}
  public var keyBlock: Int64 { KeyReservation.size }
  public var concurrentWorkers: Int { 1 }
  public func collectExternalFiles() throws -> Int { 0 }

  public func backUp(to path: String, replacing: Bool) throws {
    throw StoreError(
      .unsupported, "The store \(name) cannot be copied to a file.",
      remedy: "Use a store that lies in a file, or save the objects to a second store.")
  }
}

/// A context's connection to a store. Used by one thread at a time.
public protocol StoreConnection: AnyObject {
  /// Reads the rows of a request, in its order.
  ///
  /// - Parameter body: receives each row. The reader is the same each time and valid only inside the call. `body` must
  ///   not use the connection.
  /// - Parameter request: The request for the rows.
  /// - Throws: ``StoreError``, or errors of `body`.
  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws
  /// Reads the keys and entities of the rows of a request, in its order.
  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws
  /// Reads some values of each row of a request, in its order. A path through nil is null. Each row is returned once,
  /// even if other rows have the same values.
  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws
  /// Reads groups of rows, in the order of the request. A group's keys come first, then its aggregates.
  ///
  /// The default implementation reads the values of all rows; a store that can group and add up should.
  ///
  /// - Throws: ``StoreError``, with the code `limit` for too many sort keys, or errors of `body`.
  func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws
  /// The query plan of the store for a request.
  func plan(of request: StoreRequest) throws -> QueryPlan
  /// The trace to which the connection reports its statements; nil if there is none. A store without statements need
  /// not implement it.
  var trace: StatementTrace? { get set }
  /// The number of rows of a request, after its limit and offset.
  func count(_ request: StoreRequest) throws -> Int
  /// Reads the rows with these keys, of an entity and its descendants, in any order. Keys without a row are skipped.
  /// There may be many keys.
  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws
  /// Reads the rows that have one of some values in a unique key, in any order, with the number of the values that a row
  /// has.
  ///
  /// The default implementation fetches the rows by a predicate and compares their values; a store that can search its
  /// index for many values at once should.
  ///
  /// - Parameters:
  ///   - key: A unique key. Rows of the entity that declares it and of its descendants are searched.
  ///   - values: A list for each property of the key. The n-th values of all lists together are what is searched for.
  ///     None of them is null, and no combination comes twice.
  ///   - model: The model of the store.
  ///   - body: Receives the number of the values in the lists, and the row.
  func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws
  /// Reads the members of a relationship that is stored in their rows or in a join table, for many owners at once: each
  /// owner's members together, ordered by position if the relationship is ordered, then by key. A one-to-one that is
  /// its own inverse is stored in both rows: its members are the rows that refer to the owner.
  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void) throws
  /// Reads the same members, those of one owner not necessarily together. Each owner's members are ordered as by
  /// ``members(of:owners:_:)``.
  ///
  /// The default implementation calls that function; a store that is faster if it need not sort should.
  func scatteredMembers(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void) throws
  /// Announces members that are going to be read next, list by list: each by ``scatteredMembers(of:owners:_:)`` with the
  /// same owners in the same order. A store behind a network can read all of them in one round trip. An empty array says
  /// that no more of them will be read.
  ///
  /// The default implementation does nothing.
  ///
  /// - Throws: ``StoreError``.
  func willReadMembers(_ lists: [MemberRequest]) throws
  /// Reads the same members, but only their keys and positions (0 if the relationship is unordered).
  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void) throws
  /// Reads the objects that some owners lead to by one relationship of an entity to itself, level after level: the
  /// partners of the owners, the partners of those, and so on. The relationship is stored in rows: it is a to-one with
  /// its reference in the owner's row, or the to-many at the other end of one.
  ///
  /// The rows come in any order. A row that several paths lead to may come several times, so a cycle may repeat its
  /// rows until the limit.
  ///
  /// The default implementation reads nothing and returns 0: a context then reads one level after the other. A store
  /// that can follow references in one statement should.
  ///
  /// - Parameters:
  ///   - relationship: The relationship.
  ///   - owners: The keys of the owners.
  ///   - limit: the number of rows after which the store may stop, also in the middle of a level.
  ///   - body: receives each row and its level, 1 for the partners of the owners.
  /// - Returns: the number of levels of which all rows were read; `Int.max` if there are no others.
  /// - Throws: ``StoreError``, or errors of `body`.
  func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int
  /// The last position among each owner's members in an ordered relationship. Owners without members are skipped.
  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws
  /// The positions of some members of one owner in an ordered relationship, in any order. Members without a position,
  /// and objects that are no members, are skipped.
  ///
  /// The default implementation reads the keys of all members; a store that can find them by key should.
  func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws
  /// Writes all of a request or nothing.
  ///
  /// Versions and unique keys are checked inside the write lock, so that no two writers pass together. After a
  /// conflict, a context reads the rows, or looks up the keys by a fetch, decides and retries; a store need not report
  /// the other writer.
  ///
  /// - Returns: the rows affected beyond the request.
  /// - Throws: ``SaveConflict`` with all rows that changed since they were read, before any unique key is checked;
  ///   ``ConstraintViolations`` if the request's counts or denials do not hold; ``StoreError`` for everything else,
  ///   with the code `notUnique` if two rows would have the same unique key.
  @discardableResult func save(_ request: SaveRequest) throws -> SaveOutcome
  /// Assigns new values to all rows of a request, in one transaction. The versions of these rows are incremented,
  /// whatever values they had. Properties that are part of a unique key are never assigned.
  ///
  /// The default implementation reads the rows and saves them; a store that can do it in one statement should.
  ///
  /// - Throws: ``RefusedRows`` if one of the rows meets the refused condition; ``StoreError``.
  func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome
  /// Deletes all rows of a request, in one transaction, and applies the model's delete rules: `cascade` deletes the
  /// members as well, `nullify` sets references to nil and increments the versions of their rows, and a remaining
  /// partner under `deny` refuses the whole delete. Pairs in join tables are deleted with either row. One-way
  /// references become nil; a required one refuses the delete.
  ///
  /// The default implementation reads the rows and saves them.
  ///
  /// - Throws: ``ConstraintViolations`` if a rule prevents the delete; ``StoreError``.
  func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome
  /// Whether the store was written outside this ``Store`` object, for example by another process, since a connection of
  /// this store last returned true. It is called often, so it must be cheap. The default implementation returns false.
  func hasExternalChanges() -> Bool
  /// Whether the store was told of changes that its history does not have, since a connection of this store last returned
  /// true. It is asked after ``hasExternalChanges()`` has returned true, of a store with a history only. The default
  /// implementation returns false.
  func hasUnknownChanges() -> Bool
  /// Makes every read until ``unpin()`` return the store as it is now. The connection saves nothing meanwhile.
  ///
  /// - Throws: ``StoreError``, with the code `unsupported` if the store does not support it.
  func pin() throws
  /// Ends the snapshot of `pin`.
  func unpin()
  /// Checks what only the store itself can see, such as whether its file is intact and its indexes exist and match the
  /// rows. The container checks rows, references and rules through the other calls. The check changes nothing. The
  /// default implementation finds nothing.
  ///
  /// - Parameter body: receives each finding. It must not use the connection.
  /// - Throws: ``StoreError``, or errors of `body`.
  func check(_ body: (StoreFinding) throws -> Void) throws
}

extension StoreConnection {
  public func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    let search = KeySearch(key, values, model.entities[key.entity])
    for request in search.requests {
      try fetch(request) { row in if let number = search.number(of: row) { try body(number, row) } }
    }
  }

  public func scatteredMembers(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try members(of: relationship, owners: owners, body)
  }

  public func willReadMembers(_ lists: [MemberRequest]) throws {}

  public func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int { 0 }

  public func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    let wanted = Set(members)
    try memberKeys(of: relationship, owners: [owner]) { _, member, place in
      if place != 0, wanted.contains(member) { try body(member, place) }
    }
  }

  public func check(_ body: (StoreFinding) throws -> Void) throws {}

  public func hasExternalChanges() -> Bool { false }
  public func hasUnknownChanges() -> Bool { false }

  public func pin() throws {
    throw StoreError(
      .unsupported, "The store cannot show one moment while others write.", remedy: "Read without pinned.")
  }

  /// Ends the snapshot of `pin`.
  public func unpin() {}

  public var trace: StatementTrace? {
    get { nil }
    set {}
  }
}

// MARK: - Store request

/// A fetch request to a store.
public struct StoreRequest: Sendable {
  /// The number of the entity.
  public var entity: Int
  /// Whether the results include objects of descendant entities.
  public var includesSubentities: Bool
  /// The condition; nil for all rows.
  public var predicate: QueryPredicate?
  /// The sort keys. Ties are broken by the object's key, in the direction of the last sort key. Without sort keys,
  /// objects sort by their keys.
  public var sort: [SortKey]
  /// The largest number of rows; nil for all.
  public var limit: Int?
  /// The number of rows to skip.
  public var offset: Int

  /// Creates a request for rows of an entity.
  public init(
    entity: Int, includesSubentities: Bool = true, predicate: QueryPredicate? = nil, sort: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
  }
}

/// A relationship, identified by the numbers of its entity and property.
public struct RelationshipNumber: Hashable, Comparable, Sendable {
  /// The number of the entity that declares the relationship.
  public var entity: Int
  /// The number of the property.
  public var property: Int

  /// Creates the number of a relationship.
  public init(entity: Int, property: Int) {
    self.entity = entity
    self.property = property
  }

  /// Orders relationships by entity, and those of one entity by property.
  public static func < (left: RelationshipNumber, right: RelationshipNumber) -> Bool {
    (left.entity, left.property) < (right.entity, right.property)
  }
}

/// The members of a relationship, for some owners.
public struct MemberRequest: Hashable, Sendable {
  /// The relationship.
  public var relationship: RelationshipNumber
  /// The keys of the owners.
  public var owners: [Int64]

  /// Creates the request for the members of some owners.
  public init(of relationship: RelationshipNumber, owners: [Int64]) {
    self.relationship = relationship
    self.owners = owners
  }
}

// MARK: - Projected value

/// A value that a fetch reads from each result instead of the whole row: an attribute, a to-one, the object's key, or a
/// computed value. A path to a to-many stands for the number of its members.
public struct ProjectedValue: Hashable, Sendable {
  /// The value of a row.
  public var value: Operand
  /// The kind of the values.
  public var kind: ValueKind

  /// Creates the projection of a value.
  public init(_ value: Operand, kind: ValueKind) {
    self.value = value
    self.kind = kind
  }

  /// Creates the projection of the value at the end of a path.
  public init(_ path: PropertyPath, kind: ValueKind) { self.init(.path(path), kind: kind) }

  /// The path to the value; nil for a computed value.
  public var path: PropertyPath? { value.path }
}

extension StoreRequest {
  /// The sort keys that decide the order: those up to the object's own key, if it is one of them.
  package var decidingSort: ArraySlice<SortKey> {
    guard let own = sort.firstIndex(where: \.isOwnKey) else { return sort[...] }
    return sort[...own]
  }
}

// MARK: - Request limits

extension StoreRequest {
  /// The maximum number of sort keys of a request, in every store.
  ///
  /// SQLite libraries crash on 64 order terms if one of them is of a joined table. The object's key is one more term.
  public static let sortKeyLimit = 60

  /// - Throws: ``StoreError`` with the code `limit` if the request has more sort keys than ``sortKeyLimit``.
  public func checkSortKeys() throws(StoreError) {
    guard sort.count > Self.sortKeyLimit else { return }
    throw StoreError(
      .limit, "A request has \(sort.count) sort keys; \(Self.sortKeyLimit) are the most.",
      remedy: "Sort by fewer properties.")
  }

  package static let tooDeep = StoreError(
    .limit, "The predicate is nested too deep: \(QueryPredicate.depthLimit) levels are the most.",
    remedy: "Put the terms into one list of and, or, or use a list of values with isIn.")
}

// MARK: - Durability

/// The guarantee that a save gives when it returns.
public enum Durability: String, Hashable, Sendable, CaseIterable {
  /// A completed save survives a power failure.
  case durable
  /// A completed save survives a crash of the process. A power failure may undo the latest saves, but never a part of
  /// one.
  case relaxed
}

// MARK: - Key reservation

/// The reservation of object keys in a store.
package enum KeyReservation {
  /// The number of keys that a container reserves when it opens a store of its own. An insert never has to access the
  /// store, and 2³¹ openings fit into 63 bits.
  package static let size: Int64 = 1 << 32

  /// The number of keys that each store of a replica set has for itself.
  package static let replicaSpace: Int64 = 1 << 43

  /// The first key of those stores of a replica set that have a number. Such a store has fewer keys than others.
  package static let firstOfReplicas = replicaSpace

  /// Whether keys are those of one store of a replica set.
  package static func areOfOneReplica(_ keys: Range<Int64>) -> Bool {
    keys.isEmpty || keys.lowerBound / replicaSpace == (keys.upperBound - 1) / replicaSpace
  }

  /// The largest number of keys that a store with a number reserves at a time.
  package static let sizeInReplicas: Int64 = 1 << 16

  /// The error when no keys are left.
  package static func exhausted(_ store: String) -> StoreError {
    StoreError(.limit, "\(store) has no keys left.", remedy: "Copy the objects into a new store.")
  }
}

// MARK: - Batch requests

/// New values for all rows of a request.
public struct BatchUpdate: Sendable {
  /// The new value of one column.
  public struct Assignment: Hashable, Sendable {
    /// The number of an attribute, or of a to-one that is stored in the row.
    public var property: Int
    /// The value, computed from constants and from the row's old values.
    public var value: Operand

    /// Creates the assignment of a value to a property.
    public init(property: Int, value: Operand) {
      self.property = property
      self.value = value
    }
  }

  /// The rows to update.
  public var request: StoreRequest
  /// The assignments, at most one per property.
  public var assignments: [Assignment]
  /// A condition that no row of the request may meet; otherwise nothing is changed.
  public var refused: QueryPredicate?
  /// The author of the context; nil if it has none.
  package var author: String?

  /// Creates the update of all rows of a request.
  public init(request: StoreRequest, assignments: [Assignment], refused: QueryPredicate? = nil) {
    self.request = request
    self.assignments = assignments
    self.refused = refused
  }

  /// The assigned properties, as far as a mask can distinguish them.
  package var mask: ColumnMask { ColumnMask(bits: assignments.reduce(0) { $0 | ColumnMask.bit(of: $1.property) }) }
}

/// The deletion of all rows of a request, with the effects of the model's delete rules.
public struct BatchDelete: Sendable {
  /// The rows to delete.
  public var request: StoreRequest
  /// The author of the context; nil if it has none.
  package var author: String?

  /// Creates the delete of all rows of a request.
  public init(request: StoreRequest) { self.request = request }
}

/// The result of changing many rows.
public struct BatchOutcome: Hashable, Sendable {
  /// A row and its changed properties.
  public struct Row: Hashable, Sendable {
    /// The row's key.
    public var key: Int64
    /// The number of the row's entity.
    public var entity: Int
    /// The properties whose values were set.
    public var properties: ColumnMask

    /// Creates the entry of a row.
    public init(key: Int64, entity: Int, properties: ColumnMask = ColumnMask(bits: 0)) {
      self.key = key
      self.entity = entity
      self.properties = properties
    }
  }

  /// The rows with new values; for a delete, the rows with references that became nil.
  public var updated: [Row]
  /// The deleted rows: first those of the request, then those deleted by cascades.
  public var deleted: [Row]
  /// The number of rows that the request matched.
  public var found: Int

  /// Creates the outcome of a batch operation.
  public init(updated: [Row] = [], deleted: [Row] = [], found: Int = 0) {
    self.updated = updated
    self.deleted = deleted
    self.found = found
  }
}

/// Rows that a ``BatchUpdate`` is not allowed to change as requested. Nothing was written.
public struct RefusedRows: Error, Hashable, Sendable, CustomStringConvertible {
  /// The keys of some of the rows.
  public var keys: [Int64]

  /// Creates the error from the keys of the rows that break a rule.
  public init(keys: [Int64]) { self.keys = keys }

  public var description: String {
    "Nothing was changed: the rows of \(keys.prefix(5).map(String.init).joined(separator: ", "))"
      + "\(keys.count > 5 ? " and others" : "") would get values that their rules forbid."
  }

  /// The maximum number of reported keys.
  public static let most = 100
}
