import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Reads what a save has changed, with the values before and after it, from a store's history.
struct ChangeSetReader {
  private let container: PersistentContainer
  private let transaction: HistoryTransaction
  private let model: Model
  private let after: MomentView
  private var earlier: MomentView?
  private var collector: ChangeCollector

  /// - Throws: ``SyncError``: `unknownChanges`; ``StoreError``.
  static func changes(
    of transaction: HistoryTransaction, in container: PersistentContainer, base: String
  ) throws -> ChangeSet {
    guard transaction.isComplete else { throw SyncError.unknownChanges }
    var reader = try ChangeSetReader(transaction, container, base)
    try reader.read()
    return reader.collector.set
  }

  private init(_ transaction: HistoryTransaction, _ container: PersistentContainer, _ base: String) throws {
    self.container = container
    self.transaction = transaction
    model = container.model
    after = MomentView(try container.newContext(asOf: transaction.token))
    collector = ChangeCollector(
      to: after,
      ChangeSet(
        sequence: 0, id: 0, base: base, time: transaction.date.microseconds,
        author: transaction.author))
  }

  private mutating func before() throws -> MomentView {
    if let earlier { return earlier }
    let made = MomentView(try container.newContext(asOf: container.historyToken(before: transaction)))
    earlier = made
    return made
  }

  private mutating func read() throws {
    let changes = transaction.changes
    try after.load(
      Dictionary(
        changes.compactMap { change in
          if case .deleted = change { return nil }
          return model.entity(named: change.id.entity).map { (change.id.key, $0.index) }
        }
      ) { first, _ in first })
    for change in changes.sorted(by: { $0.id.key < $1.id.key }) {
      guard let entity = model.entity(named: change.id.entity) else { continue }
      let key = change.id.key
      switch change {
      case .deleted:
        collector.addDeleted(key, entity.index)
      case .inserted:
        guard let object = try after.object(key, of: entity.index) else { continue }
        try collector.addInserted(object)
      case .updated(_, let names):
        guard let object = try after.object(key, of: entity.index) else { continue }
        try addUpdated(object, entity, names)
      }
    }
  }

  private mutating func addUpdated(_ object: ManagedObject, _ listed: Entity, _ names: [String]) throws {
    let entity = after.entity(of: object)
    guard let former = try before().object(object._key, of: listed.index) else { throw SyncError.unknownChanges }
    var values: [ChangeSet.ObjectChange.Value] = []
    for name in names {
      guard let property = entity.property(named: name) else { continue }
      let old = try before().rowValue(of: property, former)
      if let value = try after.rowValue(of: property, object), let old {
        if !value.isSame(as: old) { values.append(.init(property: property.index, value: value, former: old)) }
      }
      guard let relationship = property.relationship else { continue }
      try collector.addOrder(ofListWith: object, relationship)
      if relationship.joinTable != nil {
        try collector.addPairs(of: object, relationship, former: before().partners(of: former, relationship))
      }
    }
    collector.addUpdated(object, values)
  }
}
