import TrellisRuntime

extension PersistentContainer {
  /// The last saves of the store, from the oldest to the newest of them.
  ///
  /// - Parameter end: The number of the newest one; nil for the last save.
  /// - Throws: ``StoreError`` if the store has no history, or fails.
  /// - Complexity: linear in the number of changes of these saves, if no save in between was deleted.
  func newestSaves(_ count: Int, through end: Int64? = nil) throws -> [HistoryTransaction] {
    let last = try historyToken().transaction
    let start = min(end ?? last, last) - Int64(count)
    let token = try start > 0 ? transaction(start)?.token : nil
    return Array(try history(since: token).filter { $0.token.transaction <= end ?? .max }.suffix(count))
  }
}
