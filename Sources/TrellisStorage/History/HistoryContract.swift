package import TrellisModel

/// A moment in a store's history: after one of its transactions.
package struct HistoryPosition: Hashable, Sendable {
  /// The identity of the history, which a store gets when it begins to record.
  package var identity: String
  /// The number of the transaction; 0 for the time before the first one.
  package var number: Int64
  /// The time of the transaction, in microseconds since 1970. It distinguishes transactions of copies of the store that
  /// have the same number.
  package var time: Int64
  /// The number of rows that other programs had changed, if the transaction stands for their writes; otherwise 0.
  package var part: Int64

  package init(identity: String, number: Int64, time: Int64, part: Int64) {
    self.identity = identity
    self.number = number
    self.time = time
    self.part = part
  }
}

/// A transaction of a store's history.
package struct HistoryEntry: Sendable {
  package var position: HistoryPosition
  /// The store object that wrote it; the same for all contexts of a container.
  package var origin: Int64
  package var author: String?
  /// The record of the changes; nil if another program than Trellis wrote them.
  package var record: [UInt8]?
  /// The way from the model of the record to the current one; nil if it is the same.
  package var match: ModelMatch?
  /// The name of the store, for errors.
  package var store: String

  package init(
    position: HistoryPosition, origin: Int64, author: String?, record: [UInt8]?, match: ModelMatch?, store: String
  ) {
    self.position = position
    self.origin = origin
    self.author = author
    self.record = record
    self.match = match
    self.store = store
  }

  /// The changes, with the numbers of the current model; nil if they are unknown.
  ///
  /// - Throws: ``StoreError`` with the code `damaged`.
  /// - Complexity: linear in the number of changes.
  package func changes(in model: Model) throws(StoreError) -> RecordedChanges? {
    guard let record else { return nil }
    if let format = record.first, format > ChangeRecord.format {
      throw StoreError(
        .newerFormat, "A newer version of Trellis wrote transaction \(position.number) of the history of \(store).",
        remedy: "Update Trellis in this program.")
    }
    let changes: RecordedChanges
    do throws(DamagedRecord) { changes = try RecordedChanges(record) } catch { throw damaged }
    let translated = match.map { changes.translated(by: $0) } ?? changes
    guard translated.fits(model) else { throw damaged }
    return translated
  }

  private var damaged: StoreError {
    StoreError(
      .damaged, "\(store) is damaged: the record of transaction \(position.number) of its history cannot be read.",
      remedy: "Delete the history up to this transaction, or restore the file from a backup.")
  }
}

extension RecordedChanges {
  /// Whether all numbers are those of entities, attributes and join tables of a model.
  fileprivate func fits(_ model: Model) -> Bool {
    rows.allSatisfy { group in
      model.entities.indices.contains(group.entity)
        && group.keptProperties.allSatisfy { property in
          model.entities[group.entity].properties.indices.contains(property)
            && model.entities[group.entity].properties[property].attribute != nil
        }
    } && pairs.allSatisfy { model.joinTables.indices.contains($0.table) }
  }
}

/// A moment that a caller asks for.
package enum HistoryMoment: Sendable {
  /// After the last transaction.
  case now
  /// After the last transaction that is not later than a time, in microseconds since 1970.
  case time(Int64)
  /// After the last transaction whose number is lower.
  case before(Int64)
}

/// A store that may record its history.
package protocol HistoryStore: Store {
  /// The number that distinguishes the transactions of this object from those of other processes and containers.
  var origin: Int64 { get }
  /// Creates a connection that reads the store as it was. It cannot save.
  ///
  /// - Throws: ``StoreError``: `historyExpired`, `otherHistory` or `unsupported`.
  func connect(asOf position: HistoryPosition) throws -> any StoreConnection
}

/// A connection to a store that may record its history.
package protocol HistoryConnection: StoreConnection {
  /// - Throws: ``StoreError``: `unsupported` if the store records no history, `historyExpired` if the moment is before
  ///   the first transaction that is kept.
  func position(of moment: HistoryMoment) throws -> HistoryPosition
  /// Reads the transactions after a position, in the order of their commits.
  ///
  /// - Parameter position: the position; nil for all transactions that are kept.
  /// - Throws: ``StoreError``: `historyExpired`, `otherHistory` or `unsupported`; errors of `body`.
  func history(after position: HistoryPosition?, atMost count: Int, _ body: (HistoryEntry) throws -> Void) throws
  /// The transaction with a number; nil if it is not kept.
  func entry(number: Int64) throws -> HistoryEntry?
  /// Reads the rows that an object had: first the former ones, each with the number of the transaction that replaced it,
  /// then the present one, with nil. A row without a version says that there was none.
  func versions(of entity: Int, key: Int64, _ body: (_ until: Int64?, RowReader) throws -> Void) throws
  /// Deletes the transactions before a position, and the former rows that only they show. The newest transaction stays.
  ///
  /// - Returns: the number of deleted transactions.
  func deleteHistory(before position: HistoryPosition) throws -> Int
  /// Waits until the history has everything that was committed before the call. The default implementation is for a
  /// history that always has.
  ///
  /// - Throws: ``StoreError`` with the code `timedOut` if transactions of others stay open.
  func waitUntilSettled() throws
}

extension HistoryConnection {
  package func waitUntilSettled() throws {}
}

/// The errors of histories.
package enum HistoryError {
  /// The prefix of the name of a table without former rows, in the error of a statement that would read it as it was.
  package static let missingPrefix = "_noValues."

  package static func none(_ store: String) -> StoreError {
    StoreError(
      .unsupported, "\(store) records no history.",
      remedy: "Write \"history\": true in the model, and keep the objects in a SQLite file or on a server.")
  }

  package static func expired(_ store: String) -> StoreError {
    StoreError(
      .historyExpired, "The history of \(store) does not reach back that far.",
      remedy: "Begin with all objects, and go on from the present position.")
  }

  package static func hidden(_ store: String) -> StoreError {
    StoreError(
      .historyExpired, "Another program has written to \(store) since, and its writes are known together only.",
      remedy: "Show the store as of a transaction before them or after them.")
  }

  package static func other(_ store: String) -> StoreError {
    StoreError(
      .otherHistory, "The token belongs to another history than that of \(store).",
      remedy: "Use the token with the store that gave it out, or begin with all objects.")
  }

  package static func noValues(_ entity: String, _ store: String) -> StoreError {
    StoreError(
      .unsupported, "\(store) keeps no former values of \(entity).",
      remedy: "Write \"history\": \"values\" in the model.", entity: entity)
  }

  package static func past(_ store: String) -> StoreError {
    StoreError(
      .readOnly, "The context shows \(store) as it was, so nothing was changed.",
      remedy: "Make the change in a context of the present.")
  }
}
