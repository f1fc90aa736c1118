public import TrellisSchema

/// The log of the requests that a container makes to its store.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url), log: .printed)
/// ```
/// The environment variable `TRELLIS_LOG=queries` prints the same for every container without a log of its own;
/// `TRELLIS_LOG=queries,values` also prints the values.
public struct QueryLog: Sendable {
  /// Whether entries contain the values of requests, which may be user data.
  public let includesValues: Bool
  let receive: @Sendable (QueryLogEntry) -> Void

  /// - Parameters:
  ///   - includesValues: whether entries contain values, which may be user data.
  ///   - receive: called after each request, on the thread that made it. It must not use the context that made the
  ///     request.
  public init(includesValues: Bool = false, _ receive: @escaping @Sendable (QueryLogEntry) -> Void) {
    self.includesValues = includesValues
    self.receive = receive
  }

  package func add(_ entry: QueryLogEntry) { receive(entry) }
}

/// One request to a store, with its cost.
public struct QueryLogEntry: Sendable, CustomStringConvertible {
  /// The kind of a request.
  public enum Kind: String, Sendable {
    case fetch, keys, values, count, rows, members
    case memberKeys = "member keys"
    case lastPlaces = "last places"
    case save
    case updateAll = "update all"
    case deleteAll = "delete all"
  }

  public let kind: Kind
  /// The requested entity; for a relationship, its entity and name with a dot; nil for a save.
  public let subject: String?
  /// The number of rows that were read or written.
  public let rows: Int
  /// The duration of the whole call, including the time to create objects from rows.
  public let duration: Duration
  /// The statements that the store ran; empty for a store without a query language.
  public let statements: [StatementTrace.Statement]
  /// The values of the request: those of the predicate in order, then limit and offset; or the keys of objects or
  /// owners; or the values that are assigned to many objects. Empty unless values are included, and for a save.
  public let values: [StoredValue]
  /// The reason for a failure; nil if the request succeeded.
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
    var parts = [kind.rawValue + (subject.map { " \($0)" } ?? ""), "\(rows) rows", "\(microseconds) µs"]
    if let failure { parts.append("failed: \(failure)") }
    let first = parts.joined(separator: ", ") + (statements.allSatisfy(\.values.isEmpty) ? shownValues : "")
    return ([first] + statements.map { "  \($0)" }).joined(separator: "\n")
  }

  /// The first twenty values.
  private var shownValues: String {
    if values.isEmpty { return "" }
    let more = values.count > 20 ? " and \(values.count - 20) more" : ""
    return " ← \(values.prefix(20).map { "\($0)" }.joined(separator: ", "))\(more)"
  }
}
