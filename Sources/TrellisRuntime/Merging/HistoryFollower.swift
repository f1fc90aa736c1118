import TrellisModel
import TrellisStorage

/// Follows the history of a store, so that the saves of other processes and containers are known change by change.
final class HistoryFollower: Sendable {
  private let store: any HistoryStore
  private let runtime: RuntimeModel
  /// The moment up to which the transactions are known; nil if it could not be read.
  private let position: Locked<HistoryPosition?>

  /// - Returns: nil if the store records no history.
  init?(_ store: any Store, _ runtime: RuntimeModel) {
    // The model is asked first: most have no history, and a cast is a search among all types of the process.
    guard runtime.model.hasHistory, let store = store as? any HistoryStore,
      let connection = try? store.connect() as? any HistoryConnection,
      let now = try? connection.position(of: .now)
    else { return nil }
    self.store = store
    self.runtime = runtime
    position = Locked(now)
  }

  /// The number of transactions that are read at once.
  private static let batch = 1_000

  /// Passes on the saves since the last call, in the order of their commits. What cannot be known is passed on as unknown
  /// changes.
  func forEachNew(_ body: (SaveNotice) -> Void) {
    // Under the lock, so that no notice overtakes another.
    position.withLock { position in
      do {
        try read(from: &position, body)
      } catch {
        // The next call goes on from the present.
        let connection = try? store.connect() as? any HistoryConnection
        position = try? connection?.position(of: .now)
        body(.ofExternalChanges)
      }
    }
  }

  private func read(from position: inout HistoryPosition?, _ body: (SaveNotice) -> Void) throws {
    guard let connection = try store.connect() as? any HistoryConnection else { throw HistoryError.none(store.name) }
    guard let start = position else { throw HistoryError.expired(store.name) }
    var next = start
    var count: Int
    repeat {
      count = 0
      try connection.history(after: next, atMost: Self.batch) { entry in
        count += 1
        next = entry.position
        if entry.origin != store.origin { body(try SaveNotice(entry, runtime)) }
      }
      position = next
    } while count == Self.batch
  }
}

extension SaveNotice {
  /// The notice of a transaction of a store's history.
  fileprivate init(_ entry: HistoryEntry, _ runtime: RuntimeModel) throws {
    guard let changes = try entry.changes(in: runtime.model), changes.flags.isEmpty else {
      self = .ofExternalChanges
      return
    }
    author = entry.author
    for group in changes.rows {
      let rows = group.keys.map { Row(key: $0, entity: group.entity, properties: group.properties) }
      switch group.kind {
      case .inserted: inserted += rows
      case .updated: updated += rows
      default: deleted += rows
      }
      // The record does not tell the former and the present partners.
      movesMembers = movesMembers || runtime.changesMembers(group)
    }
    for group in changes.pairs {
      let table = runtime.model.joinTables[group.table]
      for pair in group.pairs {
        referred += [pair.first, pair.partner]
        for (end, key) in zip([table.first, table.second], [pair.first, pair.partner]) {
          guard let end else { continue }
          let properties = ColumnMask(bits: ColumnMask.bit(of: end.property))
          relinked.append(Row(key: key, entity: end.entity, properties: properties))
        }
      }
    }
  }
}

extension RuntimeModel {
  /// Whether the change of rows changes the members of other objects.
  fileprivate func changesMembers(_ group: RecordedChanges.Rows) -> Bool {
    entities[group.entity].allRelationships.contains { relationship in
      relationship.isColumn && relationship.inverse != nil
        && (group.kind != .updated || group.hasChange(of: relationship.property))
    }
  }
}
