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
  func record(of results: [ServerResult], _ statements: SaveStatements) throws -> [UInt8]? {
    let collector = ChangeCollector(layout.model)
    var placed: [Int: Set<Int64>] = [:]
    for (result, step) in zip(results, statements.steps) {
      switch step.purpose {
      case .deleted(let entity): try add(deleted: result, entity, to: collector)
      case .deletedKeys(let entity):
        for group in keys(of: result, entity, entityColumn: 1) {
          collector.add(.deleted, of: group.entity, group.keys)
        }
      case .cleared(let relationship), .unlinked(let relationship):
        for group in keys(of: result, relationship.entity, entityColumn: 1) {
          collector.addUpdates(of: group.entity, ColumnMask(only: relationship.property), group.keys)
        }
      case .changed(let entity, let mask):
        for group in keys(of: result, entity, entityColumn: 2) {
          collector.addUpdates(of: group.entity, mask, group.keys)
        }
      case .pairs(let kind, let table): add(result, kind, table, to: collector)
      case .placed(let number): placed[number] = Set((0..<result.count).map { result.integer($0, 0) })
      default: break
      }
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

  private func add(deleted result: ServerResult, _ entity: Int, to collector: ChangeCollector) throws {
    if result.count == 0 { return }
    let reader = ServerRowReader(result, layout.tables[entity], store: store.name)
    var keys: [Int: [Int64]] = [:]
    var kept: [Int: [(key: Int64, values: [StoredValue])]] = [:]
    for row in 0..<result.count {
      try reader.show(result, row)
      let owner = layout.model.entities[reader.entity]
      let properties = history.kept[owner.index]
      if properties.isEmpty {
        keys[owner.index, default: []].append(reader.key)
      } else {
        let values = properties.map { property in
          owner.properties[property].column.map { reader.value($0, owner.columns[$0].storageClass) } ?? .null
        }
        kept[owner.index, default: []].append((reader.key, values))
      }
    }
    for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { collector.add(.deleted, of: entity, keys) }
    for (entity, rows) in kept.sorted(by: { $0.key < $1.key }) {
      collector.addTombstones(of: entity, history.kept[entity], rows)
    }
  }

  /// The keys of an answer by entity. The first column is the key.
  ///
  /// - Parameter column: the column with the entity in hierarchies.
  private func keys(
    of result: ServerResult, _ entity: Int, entityColumn column: Int
  ) -> [(entity: Int, keys: [Int64])] {
    let table = layout.tables[entity]
    var keys: [Int: [Int64]] = [:]
    for row in 0..<result.count {
      keys[table.entity(named: result, row, column) ?? entity, default: []].append(result.integer(row, 0))
    }
    return keys.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
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
