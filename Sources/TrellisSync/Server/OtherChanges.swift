import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// What was changed at a server since a moment, except by one replica.
///
/// If the history does not say all of it, an object that has other values than the replica knew counts as changed.
struct OtherChanges {
  struct Change: Hashable {
    var time: Int64
  }

  private let own: String
  private var seen: HistoryToken?
  private var properties: [Int64: [String: Change]] = [:]
  private var objects: [Int64: Change] = [:]
  /// A change that is not listed was not later; nil if all are listed.
  private var horizon: Change?
  /// Whether objects may have been changed without being listed.
  private(set) var isExpired = false

  /// - Parameter base: The moment; empty for the beginning of what is kept.
  /// - Throws: ``SyncError`` with the code `refusedMessage`.
  init(since base: String, beside replica: Int64) throws(SyncError) {
    own = "\(SyncServer.author)\(replica) "
    if base.isEmpty { return }
    guard let token = HistoryToken(base) else { throw SyncError.refused("a moment is invalid") }
    seen = token
  }

  /// Takes up what was changed meanwhile.
  ///
  /// - Returns: the keys of the objects that others have changed; nil if the history does not say them.
  @discardableResult mutating func follow(_ container: PersistentContainer) throws -> Set<Int64>? {
    let start = seen
    var last = seen
    var keys: Set<Int64> = []
    var isKnown = true
    func follow(since start: HistoryToken?) throws -> [HistoryTransaction] {
      var found: [HistoryTransaction] = []
      try container.forEachTransaction(since: start, until: nil) { found.append($0) }
      return found
    }
    var found: [HistoryTransaction]
    do {
      found = try follow(since: start)
    } catch let error as StoreError where error.code == .historyExpired {
      found = try follow(since: nil)
      if !isExpired { isKnown = false }
      isExpired = true
      horizon = Change(time: found.first.map(Self.time) ?? .max)
    } catch let error as StoreError where error.code == .otherHistory {
      throw SyncError.otherServer
    }
    // What a replica without a moment has sent may have been changed before what is kept.
    if start == nil, let first = found.first, first.token.transaction > 1, horizon == nil {
      horizon = Change(time: Self.time(first))
    }
    // Only behind it, an incomplete transaction is known to be a migration.
    let isComplete = found.allSatisfy(\.isComplete)
    var previous = try isComplete ? nil : start.flatMap { try container.keptTransaction($0) }
    for save in found {
      last = save.token
      defer { previous = save }
      if save.author?.hasPrefix(own) == true { continue }
      // What a migration adds has no values that a replica with the former model could have changed.
      if !save.isComplete && !save.isOfMigration(after: previous) {
        horizon = Change(time: max(horizon?.time ?? .min, Self.time(save)))
        isKnown = false
      }
      add(save, to: &keys)
    }
    seen = last
    return isKnown ? keys : nil
  }

  private mutating func add(_ save: HistoryTransaction, to keys: inout Set<Int64>) {
    let change = Change(time: Self.time(save))
    for row in save.changes {
      objects[row.id.key] = change
      keys.insert(row.id.key)
      if case .updated(_, let names) = row {
        for name in names { properties[row.id.key, default: [:]][name] = change }
      }
    }
  }

  /// The time of the change itself, which for those of replicas is before that of the save.
  private static func time(_ save: HistoryTransaction) -> Int64 {
    if let author = save.author, author.hasPrefix(SyncServer.author),
      let time = author.split(separator: " ").last.flatMap({ Int64($0) })
    {
      return time
    }
    return save.date.microseconds
  }

  /// The last change of a property; nil if it was not changed.
  ///
  /// - Parameter isOther: Whether the property has another value than the replica knew.
  func change(of key: Int64, _ property: String, isOther: Bool) -> Change? {
    properties[key]?[property] ?? (isOther ? horizon : nil)
  }

  /// The last change of an object; nil if it was not changed.
  func change(of key: Int64) -> Change? { objects[key] }
}
