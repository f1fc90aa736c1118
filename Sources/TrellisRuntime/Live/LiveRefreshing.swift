import TrellisQuery
import TrellisStorage

/// A context's weak reference to live results.
struct LiveResultsReference {
  weak var results: LiveResultsCore?
}

extension ManagedObjectContext {
  /// Updates the live results of this context after its own saves or those of other contexts.
  func refreshLiveResults(after notices: [SaveNotice]) {
    guard !liveResults.isEmpty else { return }
    let living = liveResults.compactMap(\.results)
    if living.count != liveResults.count { liveResults.removeAll { $0.results == nil } }
    var rows = ChangedRows()
    for results in living { results.refresh(after: notices, &rows, self) }
    if living.contains(where: \.hasNews) { inbox.ring() }
  }

  /// A row as an object that is not registered in the context.
  func unregistered(_ row: RowReader) throws -> ManagedObject {
    guard row.entity >= 0 && row.entity < runtime.types.count else { throw unreadable(row) }
    row.problem = nil
    let object = runtime.types[row.entity].init(row, in: link)
    if row.problem != nil { throw unreadable(row) }
    return object
  }
}

/// The rows that saves changed, read once for all live results.
struct ChangedRows {
  /// The rows by key; nil for a deleted row.
  private var known: [Int64: ManagedObject?] = [:]

  /// The stored rows with these keys.
  ///
  /// - Parameter entity: an entity of their hierarchy.
  mutating func rows(
    _ keys: some Sequence<Int64>, entity: Int, _ context: ManagedObjectContext
  ) throws -> [LiveQuery.ChangedRow] {
    var wanted: [Int64] = []
    for key in keys where known[key] == nil {
      if let object = context.map[key], object.isAsStored {
        known[key] = .some(object)
      } else {
        wanted.append(key)
      }
    }
    if !wanted.isEmpty { try read(wanted, entity: context.runtime.entities[entity].root, context) }
    return keys.map { ($0, known[$0] ?? nil) }
  }

  private mutating func read(_ keys: [Int64], entity: Int, _ context: ManagedObjectContext) throws {
    for key in keys { known[key] = .some(nil) }
    try context.connection().rows(of: entity, keys: keys) { row in
      if let object = context.map[row.key], object.phase == .persistent, !object.isInChangedList {
        // The row is likely to be displayed, so the object is filled from it.
        known[row.key] = .some(try context.object(of: row, batch: 0))
      } else {
        known[row.key] = .some(try context.unregistered(row))
      }
    }
  }
}

extension ManagedObject {
  /// Whether the values are those that were last read or saved.
  fileprivate var isAsStored: Bool { phase == .persistent && !isInChangedList && !accessFlags.contains(.fault) }
}
