public import TrellisQuery

/// New values for every row that a request asks for.
public struct SetUpdate: Sendable {
  /// What one column gets.
  public struct Assignment: Hashable, Sendable {
    /// An attribute, or a to-one whose reference lies in the row, by number.
    public var property: Int
    /// The value, made of constants and of the row's own values as they were before.
    public var value: Operand

    public init(property: Int, value: Operand) {
      self.property = property
      self.value = value
    }
  }

  public var request: StoreRequest
  /// One for each property at most.
  public var assignments: [Assignment]
  /// What no row that the request asks for may be; then nothing is changed.
  public var refused: QueryPredicate?

  public init(request: StoreRequest, assignments: [Assignment], refused: QueryPredicate? = nil) {
    self.request = request
    self.assignments = assignments
    self.refused = refused
  }

  /// The properties that get values, as far as a mask tells them apart.
  package var mask: ColumnMask { ColumnMask(bits: assignments.reduce(0) { $0 | ColumnMask.bit(of: $1.property) }) }
}

/// The end of every row that a request asks for, with what the delete rules of the model demand.
public struct SetDelete: Sendable {
  public var request: StoreRequest

  public init(request: StoreRequest) { self.request = request }
}

/// What a change of many rows did.
public struct SetOutcome: Hashable, Sendable {
  /// A row, and the properties that have other values.
  public struct Row: Hashable, Sendable {
    public var key: Int64
    public var entity: Int
    public var properties: ColumnMask

    public init(key: Int64, entity: Int, properties: ColumnMask = ColumnMask(bits: 0)) {
      self.key = key
      self.entity = entity
      self.properties = properties
    }
  }

  /// The rows with new values; of a delete, those that let go of what is gone.
  public var updated: [Row]
  /// The rows that are gone: first those that the request asks for, then what went with them.
  public var deleted: [Row]
  /// How many of these the request asks for.
  public var found: Int

  public init(updated: [Row] = [], deleted: [Row] = [], found: Int = 0) {
    self.updated = updated
    self.deleted = deleted
    self.found = found
  }
}

/// Rows that a ``SetUpdate`` must not change as it would. Nothing was written.
public struct RefusedRows: Error, Hashable, Sendable, CustomStringConvertible {
  /// Some of their keys.
  public var keys: [Int64]

  public init(keys: [Int64]) { self.keys = keys }

  public var description: String {
    "Nothing was changed: the rows of \(keys.prefix(5).map(String.init).joined(separator: ", "))"
      + "\(keys.count > 5 ? " and others" : "") would get values that their rules forbid."
  }

  /// So many keys are enough.
  public static let most = 100
}
