/// What a store records about the changes of an entity's objects.
public enum HistoryContent: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// Nothing.
  case off
  /// The changed objects and properties of each save.
  case changes
  /// The changes, and the former values, so that a context can show the store as it was.
  case values

  /// Orders contents by what they record: nothing, changes, values.
  public static func < (left: HistoryContent, right: HistoryContent) -> Bool { left.rawValue < right.rawValue }
}

/// How much of the history a store keeps. Saves delete what is beyond it, a bounded number of entries each.
public struct HistoryLimit: Hashable, Sendable {
  /// The age in days beyond which transactions are deleted; nil for no limit.
  public var days: Int?
  /// The number of transactions beyond which the oldest are deleted; nil for no limit.
  public var transactions: Int?

  /// Creates a limit.
  public init(days: Int? = nil, transactions: Int? = nil) {
    self.days = days
    self.transactions = transactions
  }
}
