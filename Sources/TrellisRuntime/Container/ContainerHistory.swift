public import Foundation
import TrellisModel
import TrellisStorage

// MARK: - Transactions

extension PersistentContainer {
  /// The present moment of the store's history.
  ///
  /// ```swift
  /// let token = try container.historyToken()
  /// …
  /// for transaction in try container.history(since: token) where !transaction.isOwn { … }
  /// ```
  /// - Throws: ``StoreError`` with the code `unsupported` if the model has no `"history"`, or the store is neither a
  ///   SQLite file nor on a server.
  public func historyToken() throws -> HistoryToken {
    try core.withHistory { HistoryToken(try $0.position(of: .now)) }
  }

  /// The present moment, after everything that was committed before the call. On a server, ``historyToken()`` is before
  /// transactions that began before others ended.
  ///
  /// - Throws: ``StoreError`` as the other method; `timedOut` if transactions of others stay open.
  package func settledHistoryToken() throws -> HistoryToken {
    try core.withHistory { connection in
      try connection.waitUntilSettled()
      return HistoryToken(try connection.position(of: .now))
    }
  }

  /// The moment of the last transaction that is not later than a date.
  ///
  /// - Throws: ``StoreError``: `unsupported` as ``historyToken()``, `historyExpired` if the history does not reach back
  ///   that far.
  /// - Complexity: linear in the number of transactions after the date.
  public func historyToken(at date: Date) throws -> HistoryToken {
    try core.withHistory { HistoryToken(try $0.position(of: .time(date.historyTime))) }
  }

  /// The moment before a transaction: after the one that precedes it.
  ///
  /// ```swift
  /// let before = try container.newContext(asOf: container.historyToken(before: transaction))
  /// ```
  /// - Throws: ``StoreError``: `unsupported` as ``historyToken()``, `historyExpired` if the preceding transaction is not
  ///   kept any more.
  public func historyToken(before transaction: HistoryTransaction) throws -> HistoryToken {
    try core.withHistory { HistoryToken(try $0.position(of: .before(transaction.token.transaction))) }
  }

  /// The transaction with a number; nil if there is none.
  ///
  /// - Throws: ``StoreError`` as ``historyToken(before:)``.
  package func transaction(_ number: Int64) throws -> HistoryTransaction? {
    let origin = (core.store as? any HistoryStore)?.origin ?? 0
    return try core.withHistory { connection in
      var found: HistoryTransaction?
      try connection.history(after: connection.position(of: .before(number)), atMost: 1) { entry in
        if entry.position.number == number { found = try HistoryTransaction(entry, core.runtime, origin: origin) }
      }
      return found
    }
  }

  /// The transactions after a moment, in the order of their commits, whichever process or container made them.
  ///
  /// ```swift
  /// var token = loadToken()
  /// while case let news = try container.history(since: token, limit: 100), !news.isEmpty {
  ///   for transaction in news { try push(transaction.changes(of: Tag.self)) }
  ///   token = news[news.count - 1].token
  /// }
  /// ```
  /// Writes of other programs than Trellis to the file are one transaction with ``HistoryTransaction/isComplete`` false.
  /// If there are more of them later, it comes once more.
  ///
  /// - Parameters:
  ///   - token: The moment; nil for all transactions that are kept.
  ///   - limit: The maximum number of transactions.
  /// - Throws: ``StoreError``: `historyExpired` if transactions after the token were deleted, `otherHistory` if the token
  ///   is of another store, or of a copy of this one that has gone on by itself; `unsupported` as ``historyToken()``.
  /// - Complexity: linear in the number of changes.
  public func history(since token: HistoryToken? = nil, limit: Int = .max) throws -> [HistoryTransaction] {
    try core.withHistory { connection in
      var found: [HistoryTransaction] = []
      let origin = (core.store as? any HistoryStore)?.origin ?? 0
      try connection.history(after: token?.position, atMost: max(0, limit)) { entry in
        found.append(try HistoryTransaction(entry, core.runtime, origin: origin))
      }
      return found
    }
  }

  // MARK: Deleting

  /// Deletes the transactions up to a moment, and the former values that only they need. A token of a deleted transaction
  /// is no longer valid. The newest transaction always stays.
  ///
  /// ```swift
  /// try container.deleteHistory(before: pushed)
  /// ```
  /// The model can have the store delete old transactions by itself: `"keepHistory": {"days": 30}`.
  ///
  /// - Parameter token: The moment of the first transaction that stays.
  /// - Returns: the number of deleted transactions.
  /// - Throws: ``StoreError``: `otherHistory`, `unsupported`, and those of saves.
  /// - Complexity: linear in the number of deleted transactions and former values, in one transaction.
  @discardableResult public func deleteHistory(before token: HistoryToken) throws -> Int {
    try core.withHistory { try $0.deleteHistory(before: token.position) }
  }

  /// Deletes the transactions before a date, as the other method does. The last transaction before the date stays, so that
  /// the store as of the date can be shown.
  ///
  /// - Returns: the number of deleted transactions.
  /// - Throws: ``StoreError`` as the other method.
  @discardableResult public func deleteHistory(before date: Date) throws -> Int {
    try core.withHistory { connection in
      do {
        return try connection.deleteHistory(before: connection.position(of: .time(date.historyTime)))
      } catch let error as StoreError where error.code == .historyExpired {
        return 0
      }
    }
  }
}

// MARK: - Time travel

extension PersistentContainer {
  /// Creates a context that shows the store as it was at a moment: every fetch, count, path and relationship.
  ///
  /// ```swift
  /// let then = try container.newContext(asOf: token)
  /// let title = try then.fetch(Note.all).first?.title
  /// ```
  /// It cannot save, and never merges what others save. Changes of its objects stay in memory. It needs
  /// `"history": "values"` in the model for each entity that is read; a fetch of another entity throws.
  ///
  /// - Parameter token: The moment.
  /// - Throws: ``StoreError``: `historyExpired` if the values of that time are not kept any more, or the model did not
  ///   keep values then; `otherHistory`, `unsupported`. Reads throw `historyExpired` if the history is deleted meanwhile.
  public func newContext(asOf token: HistoryToken) throws -> sending ManagedObjectContext {
    try core.checkOpen()
    guard let store = core.store as? any HistoryStore else { throw HistoryError.none(core.store.name) }
    return ManagedObjectContext(core: core, showing: try core.logged(store.connect(asOf: token.position)))
  }

  /// Creates a context that shows the store as it was at a date, as ``newContext(asOf:)`` does with a token.
  ///
  /// - Throws: ``StoreError`` as the other method.
  public func newContext(asOf date: Date) throws -> sending ManagedObjectContext {
    try newContext(asOf: historyToken(at: date))
  }

  /// The values that an object had, from the oldest to the present ones.
  ///
  /// ```swift
  /// for version in try container.history(of: note.objectID) {
  ///   print(version.date, version.author, version.values?.title ?? "deleted")
  /// }
  /// ```
  /// - Throws: ``StoreError`` with the code `unsupported` if the model does not keep the values of the entity.
  /// - Complexity: linear in the number of versions.
  public func history<Object: FetchableObject>(
    of id: ObjectID<Object>
  ) throws -> [ObjectVersion<Object.Columns.Snapshot>] {
    try core.runtime.check(Object.self)
    return try core.withHistory { connection in
      var reading = VersionReading<Object.Columns.Snapshot>()
      try connection.versions(of: Object._entity, key: id.key) { until, row in
        row.problem = nil
        reading.add(until: until, row.version == 0 ? nil : Object.Columns.Snapshot(row))
        if row.problem != nil { throw core.runtime.unreadable(row) }
      }
      return try reading.versions(connection)
    }
  }
}

// MARK: - Access

extension ContainerCore {
  /// Runs a closure with a connection that reads the store's history.
  ///
  /// - Throws: ``StoreError``; errors of `body`.
  func withHistory<Result>(_ body: (any HistoryConnection) throws -> Result) throws -> Result {
    try checkOpen()
    guard let connection = try store.connect() as? any HistoryConnection else { throw HistoryError.none(store.name) }
    return try body(connection)
  }
}

extension Date {
  /// The date in microseconds since 1970, as far as it can be one.
  fileprivate var historyTime: Int64 {
    let time = (timeIntervalSince1970 * 1_000_000).rounded(.down)
    return Int64(exactly: time) ?? (time > 0 ? .max : .min)
  }
}
