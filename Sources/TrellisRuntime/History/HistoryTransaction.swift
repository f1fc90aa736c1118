public import Foundation
import TrellisModel
@_spi(Generated) public import TrellisStorage

/// A transaction of a store's history: a save, or a change of many objects at once.
public struct HistoryTransaction: Sendable {
  /// The moment after the transaction.
  public let token: HistoryToken
  /// The ``ManagedObjectContext/author`` of the context that saved.
  public let author: String?
  /// Whether a context of the same container saved.
  public let isOwn: Bool
  /// The way to the present model from the one that the transaction was written with; nil if it is the same.
  package let modelMatch: ModelMatch?
  let record: RecordedChanges?
  let runtime: RuntimeModel

  init(_ entry: HistoryEntry, _ runtime: RuntimeModel, origin: Int64) throws {
    token = HistoryToken(entry.position)
    author = entry.author
    isOwn = entry.origin == origin
    modelMatch = entry.match
    record = try entry.changes(in: runtime.model)
    self.runtime = runtime
  }

  /// The time of the transaction, by the clock of the computer that wrote it. Only the order of the transactions tells
  /// which was first.
  public var date: Date { Date(timeIntervalSince1970: Double(token.position.time) / 1_000_000) }

  /// Whether ``changes`` has all changes of the transaction. It has not if another program than Trellis wrote to the
  /// file, if a migration changed the objects, or if objects of entities without a history changed.
  public var isComplete: Bool { record?.flags.isEmpty ?? false }

  /// Whether objects changed without being listed, although the model records the history of their entities: because
  /// another program than Trellis wrote to the file, or because of a migration.
  public var hasUnknownChanges: Bool { record?.flags.contains(.isMigration) ?? true }

  /// The changed objects, each once. Their order means nothing.
  ///
  /// - Complexity: linear in the number of changes.
  public var changes: [HistoryChange<AnyObjectID>] {
    changedRows.map { row in row.change { AnyObjectID(row.key, runtime.info(row.entity)) } }
  }

  /// The changed objects of a class and its subclasses.
  ///
  /// ```swift
  /// for change in transaction.changes(of: Tag.self) {
  ///   switch change {
  ///   case .inserted(let id), .updated(let id, _): try push(id)
  ///   case .deleted(_, let tombstone): try remove(tombstone.value(of: "remoteID", as: String.self))
  ///   }
  /// }
  /// ```
  /// - Complexity: linear in the number of changes of the transaction.
  public func changes<Object: ManagedObject>(of type: Object.Type) -> [HistoryChange<ObjectID<Object>>] {
    changedRows.compactMap { row in
      guard runtime.types[row.entity] is Object.Type else { return nil }
      return row.change { ObjectID<Object>(row.key) }
    }
  }

  // MARK: Rows

  var changedRows: [ChangedRow] {
    guard let record else { return [] }
    var rows: [ChangedRow] = []
    rows.reserveCapacity(record.rows.reduce(0) { $0 + $1.keys.count })
    var merging = RowMerging(isNeeded: record.rows.count > 1 || !record.pairs.isEmpty)
    for group in record.rows {
      let names = group.kind == .updated ? runtime.names(of: group) : []
      for (place, key) in group.keys.enumerated() {
        var row = ChangedRow(kind: group.kind, entity: group.entity, key: key, properties: names)
        if !group.keptProperties.isEmpty {
          row.tombstone = Tombstone(runtime, group.entity, group.keptProperties, group.keptValues[place])
        }
        merging.add(row, to: &rows)
      }
    }
    for group in record.pairs {
      let table = runtime.model.joinTables[group.table]
      let ends = [table.first, table.second]
      for pair in group.pairs {
        for (end, key) in zip(ends, [pair.first, pair.partner]) {
          guard let end else { continue }
          let name = runtime.model.entities[end.entity].properties[end.property].name
          merging.add(ChangedRow(kind: .updated, entity: end.entity, key: key, properties: [name]), to: &rows)
        }
      }
    }
    return rows
  }
}

extension HistoryTransaction: CustomStringConvertible {
  /// The number, time and author of the transaction, and the numbers of its changes:
  /// `transaction 12 at 2026-01-31 09:30:00 +0000 by sync: 2 inserted, 1 updated`.
  public var description: String {
    var counts = [0, 0, 0]
    for row in changedRows {
      switch row.kind {
      case .inserted: counts[0] += 1
      case .deleted, .kept: counts[2] += 1
      default: counts[1] += 1
      }
    }
    let parts = zip(counts, ["inserted", "updated", "deleted"]).filter { $0.0 > 0 }.map { "\($0) \($1)" }
    let changes = parts + (isComplete ? [] : ["further changes are not listed"])
    return "transaction \(token.transaction) at \(date)\(author.map { " by \($0)" } ?? ""): "
      + (changes.isEmpty ? "no changes" : changes.joined(separator: ", "))
  }
}

/// The change of an object.
public enum HistoryChange<ID: Hashable & Sendable>: Sendable {
  /// The object was inserted.
  case inserted(ID)
  /// Values of the object changed, or members of a relationship between many objects of both entities. The properties
  /// are their names in the model. A to-many whose members have a to-one as its inverse does not change: its members do,
  /// also if only their order changes.
  case updated(ID, properties: [String])
  /// The object was deleted.
  case deleted(ID, Tombstone)

  /// The identifier of the object.
  public var id: ID {
    switch self {
    case .inserted(let id), .updated(let id, _), .deleted(let id, _): id
    }
  }
}

extension HistoryChange: CustomStringConvertible {
  /// What happened to which object: `updated Tag#3: name, color`.
  public var description: String {
    switch self {
    case .inserted(let id): "inserted \(id)"
    case .updated(let id, let properties): "updated \(id): \(properties.joined(separator: ", "))"
    case .deleted(let id, _): "deleted \(id)"
    }
  }
}

/// The values that the history keeps of a deleted object: those of the attributes with `keepInHistory`.
public struct Tombstone: Sendable {
  private var values: [String: StoredValue] = [:]

  init() {}

  init(_ runtime: RuntimeModel, _ entity: Int, _ properties: [Int], _ values: [StoredValue]) {
    let names = properties.map { runtime.info(entity).entity.properties[$0].name }
    self.values = Dictionary(zip(names, values)) { first, _ in first }
  }

  /// The names of the kept attributes.
  public var attributes: [String] { values.keys.sorted() }

  /// The kept value of an attribute; nil if it was nil, is not kept, or has another type.
  ///
  /// ```swift
  /// let remoteID = tombstone.value(of: "remoteID", as: String.self)
  /// ```
  public func value<Value: AttributeValue>(of attribute: String, as type: Value.Type) -> Value? {
    guard let value = values[attribute], !value.isNull else { return nil }
    let reader = ValueReader()
    reader.show(key: 0, version: 0, entity: 0, values: [value])
    let found = Value.read(reader, 0)
    return reader.problem == nil ? found : nil
  }
}

extension Tombstone: CustomStringConvertible {
  /// The names of the kept attributes, without their values.
  public var description: String {
    attributes.isEmpty ? "tombstone" : "tombstone with \(attributes.joined(separator: ", "))"
  }
}

// MARK: - Changed rows

/// The change of one row.
struct ChangedRow {
  var kind: ChangeRecord.Kind
  var entity: Int
  var key: Int64
  var properties: [String] = []
  var tombstone = Tombstone()

  func change<ID>(_ id: () -> ID) -> HistoryChange<ID> {
    switch kind {
    case .inserted: .inserted(id())
    case .deleted, .kept: .deleted(id(), tombstone)
    default: .updated(id(), properties: properties)
    }
  }
}

/// Merges several changes of a row into one.
struct RowMerging {
  let isNeeded: Bool
  private var places: [Int64: Int] = [:]

  init(isNeeded: Bool) { self.isNeeded = isNeeded }

  mutating func add(_ row: ChangedRow, to rows: inout [ChangedRow]) {
    guard isNeeded else { return rows.append(row) }
    guard let place = places[row.key] else {
      places[row.key] = rows.count
      return rows.append(row)
    }
    rows[place].merge(row)
  }
}

extension ChangedRow {
  /// Adds a later change of the same transaction.
  fileprivate mutating func merge(_ other: ChangedRow) {
    switch (kind, other.kind) {
    case (.updated, .updated): properties += other.properties.filter { !properties.contains($0) }
    // The other changes of a row that comes or goes follow from that.
    case (.updated, _):
      self = other
    default: break
    }
  }
}

extension RuntimeModel {
  /// The names of the changed properties of rows.
  fileprivate func names(of group: RecordedChanges.Rows) -> [String] {
    entities[group.entity].entity.properties.filter { group.hasChange(of: $0.index) }.map(\.name)
  }
}
