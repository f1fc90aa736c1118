public import TrellisSchema

/// Where a container says what it asks of its store.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url), log: .printed)
/// ```
/// The environment variable `TRELLIS_LOG=queries` prints the same for every container that was given no log of its own, and
/// `TRELLIS_LOG=queries,values` the values too.
public struct QueryLog: Sendable {
  /// Whether entries hold the values that requests are asked with. They may be user data.
  public let includesValues: Bool
  let receive: @Sendable (QueryLogEntry) -> Void

  /// - Parameters:
  ///   - includesValues: whether entries hold values, which may be user data.
  ///   - receive: called after each request, on the thread that made it. It must not use the context that asked.
  public init(includesValues: Bool = false, _ receive: @escaping @Sendable (QueryLogEntry) -> Void) {
    self.includesValues = includesValues
    self.receive = receive
  }

  package func add(_ entry: QueryLogEntry) { receive(entry) }
}

/// One request to a store, and what it cost.
public struct QueryLogEntry: Sendable, CustomStringConvertible {
  /// What was asked for.
  public enum Kind: String, Sendable {
    case fetch, keys, values, count, rows, members
    case memberKeys = "member keys"
    case lastPlaces = "last places"
    case save
    case updateAll = "update all"
    case deleteAll = "delete all"
  }

  public let kind: Kind
  /// The entity that was asked for; a relationship with its entity before a dot; nil for a save.
  public let subject: String?
  /// The rows that were read, or written.
  public let rows: Int
  /// From the call to its end, in which the time that it takes to make objects of rows is contained.
  public let duration: Duration
  /// What the store ran; empty for a store without a language of its own.
  public let statements: [StatementTrace.Statement]
  /// What was asked with: the values of a predicate in order, then limit and offset; the keys of objects or owners; the values
  /// that many objects get. Empty unless values are wanted, and for a save.
  public let values: [StoredValue]
  /// Why the request failed; nil when it did not.
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

  /// One line for the request, with its values where no statement has them, and one for each statement.
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
