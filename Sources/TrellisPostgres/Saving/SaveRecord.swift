import Foundation
import TrellisModel
import TrellisStorage

/// The record that a history keeps of a save: what the request says, and what the answers tell beyond it.
struct SaveRecord {
  private let store: PostgresStore
  private let history: ServerHistory
  private let request: SaveRequest

  init(_ store: PostgresStore, _ history: ServerHistory, _ request: SaveRequest) {
    self.store = store
    self.history = history
    self.request = request
  }

  private var layout: TableLayout { store.setup.layout }

  /// - Returns: nil if nothing is recorded.
  ///
  /// - Parameter changed: the rows that one statement has given new values.
  func record(
    of results: [ServerResult], _ statements: SaveStatements, _ changed: [BatchOutcome.Row]
  ) throws -> [UInt8]? {
    let collector = ChangeCollector(layout.model)
    var placed: [Int: Set<Int64>] = [:]
    for (result, step) in zip(results, statements.steps) {
      switch step.purpose {
      case .deleted(let root): try add(deleted: result, root, to: collector)
      case .cleared(let relationship): try add(cleared: result, relationship, to: collector)
      case .pairs(let kind, let table): add(result, kind, table, to: collector)
      case .placed(let number): placed[number] = Set((0..<result.count).map { result.integer($0, 0) })
      default: break
      }
    }
    for (entity, rows) in Dictionary(grouping: changed, by: \.entity).sorted(by: { $0.key < $1.key }) {
      guard let mask = rows.first?.properties else { continue }
      collector.addUpdates(of: entity, mask, rows.map(\.key))
    }
    for group in request.inserts { collector.add(group) }
    for group in request.updates { collector.add(group) }
    for (number, group) in request.places.enumerated() {
      guard case .order(let property) = layout.model.entities[group.entity].columns[group.column].content else {
        continue
      }
      // A row that another writer has deleted in the meantime got no position.
      let keys = group.keys.filter { placed[number]?.contains($0) == true }
      collector.addUpdates(of: group.entity, ColumnMask(only: property), keys)
    }
    return collector.recorder.isEmpty ? nil : collector.recorder.take()
  }

  private func add(deleted result: ServerResult, _ root: Int, to collector: ChangeCollector) throws {
    if result.count == 0 { return }
    let reader = ServerRowReader(result, layout.tables[root], store: store.name)
    var keys: [Int: [Int64]] = [:]
    var kept: [Int: [(key: Int64, values: [StoredValue])]] = [:]
    for row in 0..<result.count {
      try reader.show(result, row)
      let entity = layout.model.entities[reader.entity]
      let properties = history.kept[entity.index]
      if properties.isEmpty {
        keys[entity.index, default: []].append(reader.key)
      } else {
        let values = properties.map { property in
          entity.properties[property].column.map { reader.value($0, entity.columns[$0].storageClass) } ?? .null
        }
        kept[entity.index, default: []].append((reader.key, values))
      }
    }
    for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { collector.add(.deleted, of: entity, keys) }
    for (entity, rows) in kept.sorted(by: { $0.key < $1.key }) {
      collector.addTombstones(of: entity, history.kept[entity], rows)
    }
  }

  private func add(cleared result: ServerResult, _ relationship: RelationshipNumber, to collector: ChangeCollector)
    throws
  {
    let table = layout.tables[relationship.entity]
    var keys: [Int: [Int64]] = [:]
    for row in 0..<result.count {
      var entity = relationship.entity
      if let number = table.entity(named: result, row, 1) { entity = number }
      keys[entity, default: []].append(result.integer(row, 0))
    }
    for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) {
      collector.addUpdates(of: entity, ColumnMask(only: relationship.property), keys)
    }
  }

  private func add(_ result: ServerResult, _ kind: ChangeRecord.Kind, _ table: Int, to collector: ChangeCollector) {
    let pairs = (0..<result.count).map {
      SaveRequest.Pairs.Pair(first: result.integer($0, 0), partner: result.integer($0, 1))
    }
    var group = SaveRequest.Pairs(table: table)
    switch kind {
    case .pairsAdded: group.added = pairs
    case .pairsRemoved: group.removed = pairs
    default: group.moved = pairs
    }
    collector.add(group)
  }
}
