internal import CSQLite
import Foundation
import Synchronization
import TrellisModel

/// What the connections of a store share to record its history.
final class HistorySetup: Sendable {
  let plan: HistoryPlan
  /// The identity of the history in the file.
  let identity: String
  /// Distinguishes the transactions of this store object.
  let origin: Int64
  /// The number of the program's model among the models of the file; 0 until it is known to be there.
  let model = Atomic<Int64>(0)
  /// The transactions and the changed rows since old entries were last deleted.
  private let sincePurge = Locked((transactions: 0, rows: 0))

  init(_ plan: HistoryPlan, identity: String) {
    self.plan = plan
    self.identity = identity
    origin = Int64.random(in: 1 ... .max)
  }

  /// The number of transactions after which old entries are looked for.
  private static let purgeInterval = 16

  /// Counts a transaction.
  ///
  /// - Returns: the number of former rows that may be deleted now; nil if it is not time to look for old entries.
  func countForPurge(rows: Int) -> Int? {
    guard plan.limit != nil else { return nil }
    return sincePurge.withLock { count in
      count.transactions += 1
      count.rows += rows
      guard count.transactions >= Self.purgeInterval else { return nil }
      defer { count = (0, 0) }
      // More than were added meanwhile, so that they become fewer.
      return 2 * count.rows + 256
    }
  }
}

/// Records the changes of one connection's transactions.
final class HistoryWriter {
  let setup: HistorySetup
  let changes: ChangeCollector
  fileprivate var author: String?
  /// The number of the transaction in progress, once it is needed.
  fileprivate var number: Int64?

  init(_ setup: HistorySetup, _ model: Model) {
    self.setup = setup
    changes = ChangeCollector(model)
  }

  var plan: HistoryPlan { setup.plan }

  func begin(_ author: String?) {
    changes.forget()
    self.author = author
    number = nil
  }
}

// MARK: - A save

extension SQLiteConnection {
  /// Keeps what a request is about to change, and notes its deletes.
  func keepFormerRows(_ request: SaveRequest, _ history: HistoryWriter) throws {
    for group in request.deletes { try noteDeletes(of: group.entity, group.keys, isExact: true, history) }
    guard history.plan.hasValues else { return }
    for group in request.updates { try keepRows(of: group.entity, group.records.map(\.storedKey), history) }
    for group in request.places { try keepRows(of: group.entity, group.keys, history) }
    for group in request.pairs where layout.model.joinTables.indices.contains(group.table) {
      guard let table = history.plan.joins[group.table], table.hasValues else { continue }
      let statement = try statement(.keepPair, group.table) { table.keepPair }
      let entity = layout.model.joinTables[group.table].first.entity
      let number = try transactionNumber(history)
      for pair in group.removed + group.added + group.moved {
        try writeRow(statement, entity: entity, values: 3) { row in
          Self.writeKeys(pair, to: row)
          row.integer(number)
        }
      }
    }
    for group in request.inserts {
      guard let table = history.plan.entities[group.entity], table.hasValues else { continue }
      let statement = try statement(.noteNewRows, group.entity) { table.noteNewRows }
      try runKeeping(statement, group.records.map(\.storedKey), history)
    }
  }

  /// Notes the rows that a request inserts and updates. Everything else is noted where it happens.
  func noteChanges(_ request: SaveRequest, _ history: HistoryWriter) {
    for group in request.inserts { history.changes.add(group) }
    for group in request.updates { history.changes.add(group) }
  }

  /// Notes rows that are about to be deleted, and keeps them.
  ///
  /// - Parameter isExact: whether all rows are of the entity itself, and not of its descendants.
  func noteDeletes(of entity: Int, _ keys: [Int64], isExact: Bool, _ history: HistoryWriter) throws {
    guard !keys.isEmpty else { return }
    try keepRows(of: entity, keys, history)
    if history.plan.hasValues { try keepPairs(of: entity, keys, history) }
    let entities = isExact ? [entity] : layout.model.entities[entity].subtree
    guard history.plan.entities[entity] != nil,
      entities.count > 1 || entities.contains(where: { !history.plan.kept[$0].isEmpty })
    else { return history.changes.add(.deleted, of: entity, keys) }
    var deleted: [Int: [(key: Int64, values: [StoredValue])]] = [:]
    try rows(of: entity, keys: keys) { row in
      let columns = self.layout.model.entities[row.entity]
      let values = history.plan.kept[row.entity].map { property in
        columns.properties[property].column.map { row.value($0, columns.columns[$0].storageClass) } ?? .null
      }
      deleted[row.entity, default: []].append((row.key, values))
    }
    for (entity, rows) in deleted.sortedByKey {
      let properties = history.plan.kept[entity]
      if properties.isEmpty {
        history.changes.add(.deleted, of: entity, rows.map(\.key))
      } else {
        history.changes.addTombstones(of: entity, properties, rows)
      }
    }
  }

  /// Notes that rows change without being listed, and that former values begin after them.
  func noteUnlistedChanges(_ history: HistoryWriter) throws(StoreError) {
    history.changes.recorder.flags.insert(.isMigration)
    if history.plan.hasValues { try Metadata.setFirstValues(transactionNumber(history), in: database) }
  }

  /// Notes the references that are about to be cleared, and keeps their rows.
  func noteCleared(_ references: SaveRequest.ClearedReferences, _ history: HistoryWriter) throws {
    let relationship = references.relationship
    let found = try rowsReferring(by: relationship, to: references.targets)
    for (entity, keys) in found.sortedByKey {
      try keepRows(of: entity, keys, history)
      history.changes.addUpdates(of: entity, ColumnMask(only: relationship.property), keys)
    }
  }

  /// The rows that refer to some targets, by entity.
  func rowsReferring(by relationship: RelationshipNumber, to targets: [Int64]) throws -> [Int: [Int64]] {
    guard layout.tables.indices.contains(relationship.entity) else { throw PlanError.unknownEntity }
    let table = layout.tables[relationship.entity]
    let statement = try memberStatement(.referringRows, relationship) { layout.referringRowsStatement(relationship) }
    var found: [Int: [Int64]] = [:]
    try withKeys(targets, statement) {
      try run(statement) { pointer in
        while try database.step(pointer, doing: "read references") {
          let entity = table.isInHierarchy ? try self.entity(of: pointer, in: relationship.entity) : relationship.entity
          found[entity, default: []].append(trellis_sqlite3_column_int64(pointer, 0))
        }
      }
    }
    return found
  }

  // MARK: Former rows

  /// Keeps rows as they are.
  func keepRows(of entity: Int, _ keys: [Int64], _ history: HistoryWriter) throws {
    guard !keys.isEmpty, let table = history.plan.entities[entity], table.hasValues else { return }
    let statement = try statement(.keepRows, layout.model.entities[entity].root) { table.keepRows }
    try runKeeping(statement, keys, history)
  }

  /// Keeps the pairs of deleted objects.
  private func keepPairs(of entity: Int, _ keys: [Int64], _ history: HistoryWriter) throws {
    let entities = layout.model.entities
    let concerned = Set(entities[entity].subtree)
    for join in layout.model.joinTables {
      guard let table = history.plan.joins[join.index], table.hasValues else { continue }
      if !concerned.isDisjoint(with: entities[join.first.entity].subtree) {
        let statement = try statement(.keepFirst, join.index) { table.keepPairs(ofFirst: true) }
        try runKeeping(statement, keys, history)
      }
      if !concerned.isDisjoint(with: entities[join.second?.entity ?? join.partnerEntity].subtree) {
        let statement = try statement(.keepPartner, join.index) { table.keepPairs(ofFirst: false) }
        try runKeeping(statement, keys, history)
      }
    }
  }

  private func runKeeping(_ statement: Statement, _ keys: [Int64], _ history: HistoryWriter) throws {
    let number = try transactionNumber(history)
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, number), doing: "bind a number")
    try withKeys(keys, statement) {
      _ = try run(statement) { try database.step($0, doing: "keep former rows") }
    }
  }

  /// The number that the transaction in progress gets.
  private func transactionNumber(_ history: HistoryWriter) throws(StoreError) -> Int64 {
    if let number = history.number { return number }
    let number = (try lastPosition()?.number ?? 0) &+ 1
    history.number = number
    return number
  }
}

extension Column {
  /// The relationship whose members the column puts in order; nil for any other column.
  var positioned: Int? { if case .order(let property) = content { property } else { nil } }
}

// MARK: - The record

extension SQLiteConnection {
  /// Writes the record of the transaction in progress, unless nothing has changed.
  func writeHistory(_ history: HistoryWriter) throws(StoreError) {
    guard !history.changes.recorder.isEmpty else { return }
    let model = try modelNumber(history.setup)
    let record = history.changes.recorder.take()
    let statement = try statement(.addHistory, 0) { HistoryPlan.insert }
    let pointer = statement.pointer
    _ = trellis_sqlite3_bind_int64(pointer, 1, QueryClock.now)
    _ = trellis_sqlite3_bind_int64(pointer, 2, history.setup.origin)
    _ = trellis_sqlite3_bind_int64(pointer, 3, model)
    let author = history.author.map { StoredValue.text($0) } ?? .null
    try database.check(try database.bind(author, .plain, 4, pointer), doing: "bind an author")
    try database.check(try database.bind(.blob(record), .plain, 5, pointer), doing: "bind a record")
    defer { _ = trellis_sqlite3_reset(pointer) }
    database.statistics.run += 1
    _ = try database.step(pointer, doing: "write the history")
    if let rows = history.setup.countForPurge(rows: history.changes.changedRows) {
      try purgeHistory(history.plan, rows: rows)
    }
  }

  /// The number of the program's model among those of the file.
  private func modelNumber(_ setup: HistorySetup) throws(StoreError) -> Int64 {
    let known = setup.model.load(ordering: .relaxed)
    if known != 0 { return known }
    let checksum = layout.model.checksum
    if let number = try ModelLineage.number(of: checksum, in: database) {
      // A transaction that adds a model may be rolled back.
      if !self.setup.isBehind.load(ordering: .relaxed) { setup.model.store(number, ordering: .relaxed) }
      return number
    }
    try ModelLineage.add(ModelLineage.present(layout.model), to: database)
    return try ModelLineage.number(of: checksum, in: database) ?? 0
  }

  // MARK: Old entries

  /// The number of transactions that are looked at together.
  private static let purgedTogether: Int64 = 64

  /// Deletes some of the entries that are beyond the model's limit.
  private func purgeHistory(_ plan: HistoryPlan, rows: Int) throws(StoreError) {
    guard let limit = plan.limit, let last = try lastPosition() else { return }
    var first: Int64?
    let statement = try statement(.oldestHistory, 0) { HistoryPlan.oldest }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, Self.purgedTogether), doing: "bind a limit")
    // A hundred million days are more than any time has.
    let oldestTime = limit.days.map { QueryClock.now - Int64(min($0, 100_000_000)) * 86_400_000_000 } ?? .min
    let oldestNumber =
      limit.transactions.map { last.number.subtractingReportingOverflow(Int64($0)).partialValue } ?? .min
    do {
      defer { _ = trellis_sqlite3_reset(statement.pointer) }
      while try database.step(statement.pointer, doing: "read the history") {
        let number = trellis_sqlite3_column_int64(statement.pointer, 0)
        let time = trellis_sqlite3_column_int64(statement.pointer, 1)
        guard time < oldestTime || number <= oldestNumber, number < last.number else { break }
        first = number &+ 1
      }
    }
    if let first { try deleteHistory(before: first, pastRows: Int64(rows)) }
  }

  /// Deletes the transactions before a number, and former rows that only they show.
  func deleteHistory(before number: Int64, pastRows: Int64) throws(StoreError) {
    let statement = try statement(.purgeHistory, 0) { HistoryPlan.purge }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, number), doing: "bind a number")
    defer { _ = trellis_sqlite3_reset(statement.pointer) }
    _ = try database.step(statement.pointer, doing: "delete old history")
    guard let plan = setup.history?.plan else { return }
    for (table, text) in plan.purgePast.enumerated() {
      let statement = try self.statement(.purgePast, table) { text }
      try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, number), doing: "bind a number")
      try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, pastRows), doing: "bind a limit")
      defer { _ = trellis_sqlite3_reset(statement.pointer) }
      _ = try database.step(statement.pointer, doing: "delete old history")
    }
  }
}
