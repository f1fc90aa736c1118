import Trellis

/// What a worker does with a store, in one save.
public enum Operation: Sendable {
  case insert(key: String, shelf: Int64)
  /// Adds an item to the members of a label.
  case label(key: String, label: Int64)
  case delete(key: String)
  /// Adds one to a counter that all programs share.
  case count(counter: Int64)
  /// Moves money between two accounts, and records that.
  case transfer(key: String, from: Int64, to: Int64, amount: Int64)
  /// Inserts a basket with three lines.
  case fill(key: String)
  case read(key: String)

  var words: String {
    switch self {
    case .insert(let key, let shelf): "insert \(key) \(shelf)"
    case .label(let key, let label): "label \(key) \(label)"
    case .delete(let key): "delete \(key)"
    case .count(let counter): "count \(counter)"
    case .transfer(let key, let from, let to, let amount): "transfer \(key) \(from) \(to) \(amount)"
    case .fill(let key): "fill \(key)"
    case .read(let key): "read \(key)"
    }
  }

  /// The numbers of the objects that all programs share.
  public static let accounts: Int64 = 40
  public static let counters: Int64 = 8
  public static let shelves: Int64 = 20
  public static let labels: Int64 = 20
  public static let firstBalance: Int64 = 1_000

  /// Does an operation.
  ///
  /// - Returns: whether the objects to work on are there.
  public typealias Performer = @Sendable (Operation, ManagedObjectContext) throws -> Bool
}
