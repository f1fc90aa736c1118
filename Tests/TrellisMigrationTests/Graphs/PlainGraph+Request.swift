import TrellisModel
import TrellisStorage
import TrellisTestSupport

extension PlainGraph {
  /// The save that writes the whole graph.
  func request(_ resolved: Model) -> SaveRequest {
    var references: [Int64: [String: StoredValue]] = [:]
    let request = SaveRequest()
    for end in model.links {
      guard let owner = model.owner(end.id), let entity = resolved.entity(named: model[owner].name),
        let relationship = entity.property(named: end.name)?.relationship
      else { continue }
      switch relationship.home {
      case .column(let column, let order):
        for pair in pairs(of: end) {
          references[pair.owner, default: [:]][entity.columns[column].name] = .integer(pair.partner)
          if let order, let place = pair.inverse {
            references[pair.owner, default: [:]][entity.columns[order].name] = .integer(place)
          }
        }
      case .joinTable(let table, _):
        var pairs = SaveRequest.Pairs(table: table)
        pairs.added = self.pairs(of: end).sorted(by: PlainPair.byOwner).map {
          .init(first: $0.owner, partner: $0.partner, place: $0.place, inversePlace: $0.inverse)
        }
        request.pairs.append(pairs)
      case .inverseColumn, .transient: break
      }
    }
    for (entity, rows) in Dictionary(grouping: rows.values, by: \.entity).sorted(by: { $0.key < $1.key }) {
      guard let resolved = resolved.entity(named: model[entity].name) else { continue }
      let records = rows.sorted { $0.key < $1.key }.map { row in
        PlainRecord(resolved, key: row.key, resolved.columns.map { value(of: $0, in: row, references, resolved) })
      }
      request.inserts.append(.init(entity: resolved.index, records: records))
    }
    return request
  }

  private func value(
    of column: Column, in row: Row, _ references: [Int64: [String: StoredValue]], _ entity: Entity
  ) -> StoredValue {
    guard case .attribute(let number) = column.content else { return references[row.key]?[column.name] ?? .null }
    let name = entity.properties[number].name
    let property = model.properties(row.entity).first { $0.name == name }
    return property.flatMap { row.values[$0.id] } ?? .null
  }
}
