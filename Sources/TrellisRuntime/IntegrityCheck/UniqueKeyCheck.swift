import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Finds objects with the same unique key: in the sort order of the key, they are adjacent.
struct UniqueKeyCheck {
  let check: GraphCheck
  let entity: EntityInfo
  let key: UniqueKey

  func run() throws {
    let columns = key.properties.compactMap { entity.entity.properties[$0].column }
    guard !columns.isEmpty, columns.count == key.properties.count else { return }
    var last: (key: Int64, values: [StoredValue])?
    var shared: [(key: Int64, other: Int64)] = []
    try check.connection.fetch(request) { row in
      let values = columns.map { row.value($0, entity.entity.columns[$0].storageClass) }
      // A unique key with a nil value is not enforced.
      if let last, last.values == values, !values.contains(where: \.isNull) { shared.append((row.key, last.key)) }
      last = (row.key, values)
      if shared.count >= GraphCheck.pageSize { try noteAll(&shared) }
    }
    try noteAll(&shared)
  }

  private var request: StoreRequest {
    let sort = key.properties.map { property in
      SortKey(
        PropertyPath(variable: 0).appending(property),
        kind: entity.entity.properties[property].attribute?.valueKind ?? .integer)
    }
    return StoreRequest(entity: entity.number, sort: sort)
  }

  private func noteAll(_ shared: inout [(key: Int64, other: Int64)]) throws {
    for (key, other) in shared { try note(key, other) }
    shared = []
  }

  private func note(_ key: Int64, _ other: Int64) throws {
    try check.note(
      StoreFinding(
        .notUnique, "The object \(other) has the same values here.",
        repair: "Give one of them another value, or delete it.", entity: entity.name, key: key,
        properties: self.key.properties.map { entity.entity.properties[$0].name }))
  }
}
