import TrellisQuery
import TrellisSchema

/// Finds the few rows among which a predicate's matches must be, when it demands a key, a reference or indexed values.
struct KeyLookup {
  let snapshot: Snapshot
  let entity: Entity

  /// The keys of all rows that can match, sorted; nil when every row can.
  func candidates(_ predicate: QueryPredicate?) -> [Int64]? {
    guard let predicate else { return nil }
    var demands: [Int: [StoredValue]] = [:]
    var keys: [StoredValue]?
    for term in Self.terms(predicate) {
      guard let (path, values) = Self.demand(term), path.variable == 0 else { continue }
      if path.count == 0 { keys = values }
      if let property = path.onlyStep, fits(values, property) { demands[property] = values }
    }
    let found = keys.map(Self.keys) ?? byReference(demands) ?? byValues(demands)
    return found.map { Set($0).sorted() }
  }

  /// The terms that all must hold.
  private static func terms(_ predicate: QueryPredicate) -> [QueryPredicate] {
    guard case .and(let terms) = predicate else { return [predicate] }
    return terms.flatMap { term in if case .and(let inner) = term { inner } else { [term] } }
  }

  /// A path and the values one of which must be there, by plain equality of values that are not nil.
  private static func demand(_ term: QueryPredicate) -> (PropertyPath, [StoredValue])? {
    switch term {
    case .comparison(let comparison)
    where comparison.relation == .equal && comparison.options.isEmpty && comparison.kind != .decimal:
      switch (comparison.left, comparison.right) {
      case (.path(let path), .value(let value)), (.value(let value), .path(let path)):
        return value.isNull ? nil : (path, [value])
      default: return nil
      }
    case .isIn(.path(let path), let values, let kind) where kind != .decimal && !values.contains(where: \.isNull):
      return (path, values)
    default: return nil
    }
  }

  private static func keys(_ values: [StoredValue]) -> [Int64] {
    values.compactMap { value in
      switch value {
      case .integer(let key): key
      case .real(let real): Int64(exactly: real)
      default: nil
      }
    }
  }

  /// Whether equal values have equal hashes here: those of the column's own class have.
  private func fits(_ values: [StoredValue], _ property: Int) -> Bool {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else {
      return false
    }
    return values.allSatisfy { $0.storageClass == entity.columns[column].storageClass }
  }

  private func byReference(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    for (property, values) in demands {
      guard let relationship = entity.properties[property].relationship else { continue }
      guard let reference = snapshot.layout.reference(relationship) else { continue }
      let index = snapshot.state.references[reference.index]
      return Self.keys(values).flatMap { index.targets($0).map(\.key) }
    }
    return nil
  }

  private func byValues(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    var byColumn: [Int: [StoredValue]] = [:]
    for (property, values) in demands { byColumn[entity.properties[property].column ?? -1] = values }
    for index in snapshot.layout.valueIndexesOf[entity.index] {
      let demanded = index.columns.compactMap { byColumn[$0] }
      guard demanded.count == index.columns.count else { continue }
      // Several columns are looked up together only when each has one value.
      guard demanded.count == 1 || demanded.allSatisfy({ $0.count == 1 }) else { continue }
      let tuples = demanded.count == 1 ? demanded[0].map { [$0] } : [demanded.flatMap { $0 }]
      let links = snapshot.state.values[index.index]
      return tuples.compactMap(index.hash(of:)).flatMap { links.targets($0).map(\.key) }
    }
    return nil
  }
}

extension StoredValue {
  /// How a store keeps the value; nil for null.
  var storageClass: StorageClass? {
    switch self {
    case .null: nil
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    }
  }
}
