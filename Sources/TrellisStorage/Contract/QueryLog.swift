public import TrellisModel

/// The log of what a container asks of its store: each request, the opening, and a migration.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url), log: .printed)
/// ```
/// The environment variable `TRELLIS_LOG=queries` prints the same for every container without a log of its own;
/// `TRELLIS_LOG=queries,values` also prints the values.
///
/// A log is also the hook for tracers and metrics: the closure of ``init(includesValues:begin:)`` receives the begin of each
/// operation, and returns a closure that receives its end.
public struct QueryLog: Sendable {
  /// Receives the end of an operation.
  public typealias End = @Sendable (QueryLogEntry) -> Void

  /// Whether entries contain the values of requests, which may be user data.
  public let includesValues: Bool
  private let begin: @Sendable (_ kind: QueryLogEntry.Kind, _ subject: String?) -> End

  /// Creates a log that receives each operation when it has ended.
  ///
  /// - Parameters:
  ///   - includesValues: whether entries contain values, which may be user data.
  ///   - receive: called after each operation, on the thread that ran it. It must not use the context that made the
  ///     request.
  public init(includesValues: Bool = false, _ receive: @escaping End) {
    self.init(includesValues: includesValues) { _, _ in receive }
  }

  /// Creates a log that receives the begin and the end of each operation, as a tracer needs.
  ///
  /// ```swift
  /// let log = QueryLog(begin: { kind, subject in
  ///   let span = tracer.startSpan("\(kind) \(subject ?? "")")
  ///   return { entry in span.end(rows: entry.rows) }
  /// })
  /// ```
  /// Operations of one thread lie in each other: those that a step of a migration makes end before the migration does.
  ///
  /// - Parameters:
  ///   - includesValues: whether entries contain values, which may be user data.
  ///   - begin: called before each operation, with its kind and the entity, or the entity and the relationship with a dot.
  ///     It returns what is called once after the operation, on the same thread. Neither may use the context that makes
  ///     the request.
  public init(
    includesValues: Bool = false,
    begin: @escaping @Sendable (_ kind: QueryLogEntry.Kind, _ subject: String?) -> End
  ) {
    self.includesValues = includesValues
    self.begin = begin
  }

  /// Creates a log that passes everything to several logs, such as one that traces and one that counts. Values are passed
  /// to those that include them.
  ///
  /// - Parameter logs: the logs, which are told of a begin in this order, and of an end in the reverse order.
  public init(_ logs: [QueryLog]) {
    self.init(includesValues: logs.contains(where: \.includesValues)) { kind, subject in
      let ends = logs.map { log in (log.begin(kind, subject), log.includesValues) }
      return { entry in
        let plain = entry.withoutValues
        for (end, includesValues) in ends.reversed() { end(includesValues ? entry : plain) }
      }
    }
  }

  /// Tells of the begin of an operation.
  ///
  /// - Returns: what has to be told of the end, once.
  package func begins(_ kind: QueryLogEntry.Kind, _ subject: String? = nil) -> End { begin(kind, subject) }

  /// Runs an operation, and tells of its begin and its end.
  ///
  /// - Parameters:
  ///   - details: called after the operation: its statements and its values.
  ///   - body: the operation, which counts its rows.
  package func logged<Result>(
    _ kind: QueryLogEntry.Kind, _ subject: String? = nil,
    details: () -> (statements: [StatementTrace.Statement], values: [StoredValue]) = { ([], []) },
    _ body: (_ rows: inout Int) throws -> Result
  ) throws -> Result {
    let end = begin(kind, subject)
    let clock = ContinuousClock()
    let start = clock.now
    var rows = 0
    var failure: String?
    defer {
      let duration = clock.now - start
      let (statements, values) = details()
      end(
        QueryLogEntry(
          kind: kind, subject: subject, rows: rows, duration: duration, statements: statements, values: values,
          failure: failure))
    }
    do {
      return try body(&rows)
    } catch {
      failure = QueryLogEntry.failure(of: error)
      throw error
    }
  }
}

/// One operation on a store, with its cost.
public struct QueryLogEntry: Sendable, CustomStringConvertible {
  /// The kind of an operation.
  public enum Kind: String, Sendable {
    /// The rows of a request.
    case fetch
    /// The keys of a request's rows.
    case keys
    /// The values at the ends of paths.
    case values
    /// Groups of rows.
    case groups
    /// The number of rows of a request.
    case count
    /// Rows by key.
    case rows
    /// Rows by the values of a unique key.
    case holders = "key holders"
    /// The rows of the members of to-manys.
    case members
    /// The keys of the members of to-manys.
    case memberKeys = "member keys"
    /// The last positions of ordered to-manys.
    case lastPlaces = "last places"
    /// The positions of some members of an ordered to-many.
    case memberPlaces = "member places"
    /// A save.
    case save
    /// An update of all rows of a request.
    case updateAll = "update all"
    /// A delete of all rows of a request.
    case deleteAll = "delete all"
    /// The opening of the store, with a migration if one is needed.
    case opening
    /// The migration of the store, from its begin to the end of the opening.
    case migration
  }

  /// What was done.
  public let kind: Kind
  /// The requested entity; for a relationship, its entity and name with a dot; nil for a save, an opening and a migration.
  public let subject: String?
  /// The number of rows that were read or written; 0 for an opening and a migration.
  public let rows: Int
  /// The duration of the whole call, including the time to create objects from rows.
  public let duration: Duration
  /// The statements that the store ran; empty for a store without a query language.
  public let statements: [StatementTrace.Statement]
  /// The values of the request: those of the predicate in order, then limit and offset; or the keys of objects or
  /// owners; or the values that are assigned to many objects. Empty unless values are included, and for a save.
  public let values: [StoredValue]
  /// The reason for a failure, without user data: the code of a ``StoreError``, or the type of another error. Nil if the
  /// operation succeeded.
  public let failure: String?

  package init(
    kind: Kind, subject: String?, rows: Int, duration: Duration, statements: [StatementTrace.Statement],
    values: [StoredValue] = [], failure: String?
  ) {
    self.kind = kind
    self.subject = subject
    self.rows = rows
    self.duration = duration
    self.statements = statements
    self.values = values
    self.failure = failure
  }

  /// One line for the request, with its values if no statement has them, and one line for each statement.
  public var description: String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    var parts = [kind.rawValue + (subject.map { " \($0)" } ?? "")]
    if kind != .opening && kind != .migration { parts.append("\(rows) row\(rows == 1 ? "" : "s")") }
    parts.append("\(microseconds) µs")
    if let failure { parts.append("failed: \(failure)") }
    let first = parts.joined(separator: ", ") + (statements.allSatisfy(\.values.isEmpty) ? shownValues : "")
    return ([first] + statements.map { "  \($0)" }).joined(separator: "\n")
  }

  /// The entry for a log that does not include values.
  fileprivate var withoutValues: QueryLogEntry {
    QueryLogEntry(
      kind: kind, subject: subject, rows: rows, duration: duration, statements: statements.map(\.withoutValues),
      failure: failure)
  }

  /// What an entry says of an error. Messages may contain user data.
  package static func failure(of error: any Error) -> String {
    (error as? StoreError)?.code.rawValue ?? "\(type(of: error))"
  }

  /// The first twenty values.
  private var shownValues: String {
    if values.isEmpty { return "" }
    let more = values.count > 20 ? " and \(values.count - 20) more" : ""
    return " ← \(values.prefix(20).map { "\($0)" }.joined(separator: ", "))\(more)"
  }
}

// MARK: - Query plan

/// The way in which a store executes a request.
///
/// ```swift
/// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
/// // SEARCH …, or: scans the whole table EmotionDiary; add "indexes": [["mood"]] to the entity EmotionDiary
/// ```
public struct QueryPlan: Sendable, CustomStringConvertible {
  /// An index that would avoid a scan of a whole table.
  public struct MissingIndex: Hashable, Sendable, CustomStringConvertible {
    /// The name of the entity.
    public let entity: String
    /// The properties of the index in order. A minus before a name means descending.
    public let properties: [String]

    /// Creates the advice of an index.
    public init(entity: String, properties: [String]) {
      self.entity = entity
      self.properties = properties
    }

    /// The text to add to the entity in the model file.
    public var modelLine: String {
      "\"indexes\": [[\(properties.map { "\"\($0)\"" }.joined(separator: ", "))]]"
    }

    public var description: String { "add \(modelLine) to the entity \(entity)" }
  }

  /// The statement, with parameters instead of values; nil for a store without a query language.
  public var statement: String?
  /// The steps of the execution, in the store's own words.
  public var steps: [String]
  /// Whether the request scans the whole table of the entity.
  public var scansWholeTable: Bool
  /// The requested entity.
  public var entity: String
  /// The index that the model lacks for this request; nil if none is missing or no index could help.
  public var missingIndex: MissingIndex?

  /// Creates the plan of a request.
  public init(
    statement: String? = nil, steps: [String], scansWholeTable: Bool, entity: String, missingIndex: MissingIndex? = nil
  ) {
    self.statement = statement
    self.steps = steps
    self.scansWholeTable = scansWholeTable
    self.entity = entity
    self.missingIndex = missingIndex
  }

  public var description: String {
    var lines = statement.map { [$0] } ?? []
    lines += steps.map { "  \($0)" }
    if scansWholeTable { lines.append("scans the whole table \(entity)") }
    if let missingIndex { lines.append("\(missingIndex)") }
    return lines.joined(separator: "\n")
  }
}

// MARK: - Logging connection

/// A connection that logs its requests. It exists only with a log, so other connections have no overhead.
package final class LoggingConnection: StoreConnection {
  private let connection: any StoreConnection
  private let log: QueryLog
  private let model: Model
  private let statements: StatementTrace

  package init(_ connection: any StoreConnection, _ log: QueryLog, _ model: Model) {
    self.connection = connection
    self.log = log
    self.model = model
    statements = StatementTrace(includesValues: log.includesValues)
    connection.trace = statements
  }

  deinit { connection.trace = nil }

  package var trace: StatementTrace? {
    get { connection.trace }
    set { connection.trace = newValue }
  }

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try logged(.fetch, name(request.entity), request.constants) { rows in
      try connection.fetch(request) {
        rows += 1
        try body($0)
      }
    }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try logged(.keys, name(request.entity), request.constants) { rows in
      try connection.fetchKeys(request) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try logged(.values, name(request.entity), request.constants) { rows in
      try connection.fetchValues(request, of: paths) {
        rows += 1
        try body($0)
      }
    }
  }

  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try logged(.groups, name(request.rows.entity), request.constants) { rows in
      try connection.fetchGroups(request) {
        rows += 1
        try body($0)
      }
    }
  }

  package func count(_ request: StoreRequest) throws -> Int {
    try logged(.count, name(request.entity), request.constants) { _ in try connection.count(request) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try connection.plan(of: request) }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try logged(.rows, name(entity), Self.values(keys)) { rows in
      try connection.rows(of: entity, keys: keys) {
        rows += 1
        try body($0)
      }
    }
  }

  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    try logged(.holders, name(key.entity), values.flatMap(\.self)) { rows in
      try connection.holders(of: key, values: values, in: model) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func scatteredMembers(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try logged(.members, name(relationship), Self.values(owners)) { rows in
      try connection.scatteredMembers(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func willReadMembers(_ lists: [MemberRequest]) throws { try connection.willReadMembers(lists) }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try logged(.members, name(relationship), Self.values(owners)) { rows in
      try connection.members(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try logged(.memberKeys, name(relationship), Self.values(owners)) { rows in
      try connection.memberKeys(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1, $2)
      }
    }
  }

  package func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int {
    try logged(.members, name(relationship), Self.values(owners)) { rows in
      try connection.levels(of: relationship, below: owners, atMost: limit) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try logged(.lastPlaces, name(relationship), Self.values(owners)) { rows in
      try connection.lastPlaces(of: relationship, owners: owners) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try logged(.memberPlaces, name(relationship), Self.values([owner] + members)) { rows in
      try connection.memberPlaces(of: relationship, owner: owner, members: members) {
        rows += 1
        try body($0, $1)
      }
    }
  }

  package func save(_ request: SaveRequest) throws -> SaveOutcome {
    try logged(.save, nil, []) { rows in
      let outcome = try connection.save(request)
      rows = request.rowCount + outcome.cascaded.count
      return outcome
    }
  }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try logged(.updateAll, name(update.request.entity), update.constants) { rows in
      let outcome = try connection.updateAll(update, in: model)
      rows = outcome.updated.count
      return outcome
    }
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try logged(.deleteAll, name(delete.request.entity), delete.request.constants) { rows in
      let outcome = try connection.deleteAll(delete, in: model)
      rows = outcome.updated.count + outcome.deleted.count
      return outcome
    }
  }

  package func pin() throws { try connection.pin() }
  package func unpin() { connection.unpin() }
  package func check(_ body: (StoreFinding) throws -> Void) throws { try connection.check(body) }
  package func hasExternalChanges() -> Bool { connection.hasExternalChanges() }

  package func hasUnknownChanges() -> Bool { connection.hasUnknownChanges() }

  // MARK: Steps

  private func logged<Result>(
    _ kind: QueryLogEntry.Kind, _ subject: String?, _ values: @autoclosure () -> [StoredValue],
    _ body: (inout Int) throws -> Result
  ) throws -> Result {
    _ = statements.take()
    return try log.logged(
      kind, subject, details: { (statements.take(), log.includesValues ? values() : []) }, body)
  }

  private static func values(_ keys: [Int64]) -> [StoredValue] { keys.map { .integer($0) } }

  private func name(_ entity: Int) -> String {
    model.entities.indices.contains(entity) ? model.entities[entity].name : "entity \(entity)"
  }

  private func name(_ relationship: RelationshipNumber) -> String {
    guard model.entities.indices.contains(relationship.entity) else { return name(relationship.entity) }
    let entity = model.entities[relationship.entity]
    guard entity.properties.indices.contains(relationship.property) else { return entity.name }
    return "\(entity.name).\(entity.properties[relationship.property].name)"
  }
}

extension SaveRequest {
  /// The number of inserted, updated and deleted rows, and of changed pairs of join tables.
  fileprivate var rowCount: Int {
    inserts.reduce(0) { $0 + $1.records.count } + updates.reduce(0) { $0 + $1.records.count }
      + deletes.reduce(0) { $0 + $1.keys.count }
      + pairs.reduce(0) { $0 + $1.added.count + $1.removed.count + $1.moved.count }
  }
}

// MARK: - Statement trace

/// Records the statements that a connection runs. A store with a query language fills it.
public final class StatementTrace {
  /// A statement and its execution.
  public struct Statement: Sendable, CustomStringConvertible {
    /// The text, with parameters instead of values.
    public let text: String
    /// Whether the statement was compiled before.
    public let isReused: Bool
    /// The values of the parameters; empty unless values are included.
    public fileprivate(set) var values: [StoredValue] = []
    /// The number of consecutive runs.
    public fileprivate(set) var runs = 1

    fileprivate var withoutValues: Statement {
      var statement = self
      statement.values = []
      return statement
    }

    public var description: String {
      let times = runs > 1 ? ", \(runs) times" : ""
      let shown = values.isEmpty ? "" : " ← \(values.map { "\($0)" }.joined(separator: ", "))"
      return "\(text) (\(isReused ? "reused" : "compiled")\(times))\(shown)"
    }
  }

  /// The statements so far, in their order.
  public private(set) var statements: [Statement] = []
  let includesValues: Bool
  private var compiled: String?

  /// Creates a trace of the statements of one call.
  public init(includesValues: Bool) { self.includesValues = includesValues }

  /// Records that a text was compiled. Its next run does not count as reused.
  public func noteCompiled(_ text: String) { compiled = text }

  /// Records a run of a statement.
  public func noteRun(_ text: String) {
    if let last = statements.indices.last, statements[last].text == text, statements[last].values.isEmpty {
      statements[last].runs += 1
    } else {
      statements.append(Statement(text: text, isReused: compiled != text))
    }
    compiled = nil
  }

  /// Adds the values of the last statement, if values are included.
  public func noteValues(_ values: @autoclosure () -> [StoredValue]) {
    guard includesValues, let last = statements.indices.last else { return }
    statements[last].values = values()
  }

  /// Returns the recorded statements and clears the trace.
  package func take() -> [Statement] {
    defer { statements.removeAll() }
    return statements
  }
}

// MARK: - Request constants

extension StoreRequest {
  /// The values of a request: those of its predicate in order, those of its sort, then its limit and offset.
  var constants: [StoredValue] {
    (predicate.map { PredicateNode.predicate($0).constants } ?? [])
      + sort.flatMap { PredicateNode.operand($0.value).constants + ($0.query.map { [.text($0)] } ?? []) }
      + (limit.map { [.integer(Int64($0))] } ?? [])
      + (offset > 0 ? [.integer(Int64(offset))] : [])
  }
}

extension GroupRequest {
  /// The values of the request for rows, then those of the condition, limit and offset.
  var constants: [StoredValue] {
    rows.constants
      + StoreRequest(entity: rows.entity, predicate: condition, limit: limit, offset: offset).constants
  }
}

extension BatchUpdate {
  /// The values of the request, then those of the assignments.
  var constants: [StoredValue] { request.constants + assignments.flatMap { PredicateNode.operand($0.value).constants } }
}

extension PredicateNode {
  fileprivate func collectConstants(into found: inout [StoredValue]) {
    if case .operand(.value(let value)) = self { found.append(value) }
    forEachPart { $0.collectConstants(into: &found) }
    if case .predicate(.isIn(_, let values, _)) = self { found += values }
  }

  fileprivate var constants: [StoredValue] {
    var found: [StoredValue] = []
    collectConstants(into: &found)
    return found
  }
}
