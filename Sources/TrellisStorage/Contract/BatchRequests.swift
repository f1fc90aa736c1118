public import TrellisModel

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
