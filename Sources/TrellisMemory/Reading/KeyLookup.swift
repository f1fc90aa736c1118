import TrellisQuery
import TrellisSchema

/// Finds the few rows that can match a predicate, if it requires a key, a reference or indexed values.
struct KeyLookup {
  let snapshot: Snapshot
  let entity: Entity

  /// The values that a predicate requires.
  private struct Demands {
    var keys: [StoredValue]?
    /// The possible values of each property.
    var values: [Int: [StoredValue]] = [:]
  }

  /// The sorted keys of all rows that can match. Nil if every row can.
  func candidates(_ predicate: QueryPredicate?) -> [Int64]? {
    guard let demands = demands(predicate) else { return nil }
    return (few(demands) ?? byOrder(demands.values)).map { Set($0).sorted() }
  }

  /// Whether a key, a reference or a unique key leads to a few rows. Then testing these is better than walking an
  /// index.
  func findsFew(_ predicate: QueryPredicate?) -> Bool { demands(predicate).flatMap(few) != nil }

  /// The columns for which a predicate requires a single value.
  func singleValues(_ predicate: QueryPredicate?) -> [Int: StoredValue] {
    var single: [Int: StoredValue] = [:]
    for (property, values) in demands(predicate)?.values ?? [:] where values.count == 1 {
      if let column = entity.properties[property].column { single[column] = values[0] }
    }
    return single
  }

  private func demands(_ predicate: QueryPredicate?) -> Demands? {
    guard let predicate else { return nil }
    var demands = Demands()
    for term in Self.terms(predicate) {
      guard let (path, values) = Self.demand(term), path.variable == 0 else { continue }
      if path.count == 0 { demands.keys = values }
      if let property = path.onlyStep, fits(values, property) { demands.values[property] = values }
    }
    return demands
  }

  private func few(_ demands: Demands) -> [Int64]? {
    demands.keys.map(Self.keys) ?? byReference(demands.values) ?? byValues(demands.values)
  }

  /// Uses the ordered index with the most required columns. Several values are looked up for the first column only.
  private func byOrder(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    var byColumn: [Int: [StoredValue]] = [:]
    for (property, values) in demands { byColumn[entity.properties[property].column ?? -1] = values }
    var best: (index: Layout.OrderedIndex, prefixes: [[StoredValue]], length: Int)?
    for index in snapshot.layout.orderedIndexesOf[entity.index] {
      guard let first = byColumn[index.shape.columns[0]] else { continue }
      var prefixes = first.map { [$0] }
      var length = 1
      for column in index.shape.columns.dropFirst() {
        guard let values = byColumn[column], values.count == 1 else { break }
        prefixes = prefixes.map { $0 + values }
        length += 1
      }
      if length > best?.length ?? 0 { best = (index, prefixes, length) }
    }
    guard let best else { return nil }
    var keys: [Int64] = []
    for prefix in best.prefixes {
      snapshot.state.ordered[best.index.index].forEach(from: best.index.shape.bound(prefix, isBehind: false)) {
        entry, _ in
        guard entry.begins(with: prefix) else { return false }
        keys.append(entry.key)
        return true
      }
    }
    return keys
  }

  /// The smallest key that can match, so that paging by key skips the pages before.
  static func leastKey(_ predicate: QueryPredicate?) -> Int64 {
    var least = Int64.min
    for case .comparison(let comparison) in predicate.map(terms) ?? [] {
      guard comparison.relation == .greater, case .path(let path) = comparison.left, path.count == 0,
        path.variable == 0,
        case .value(.integer(let key)) = comparison.right
      else { continue }
      least = max(least, key)
    }
    return least
  }

  /// The terms of a conjunction.
  private static func terms(_ predicate: QueryPredicate) -> [QueryPredicate] {
    guard case .and(let terms) = predicate else { return [predicate] }
    return terms.flatMap { term in if case .and(let inner) = term { inner } else { [term] } }
  }

  /// A path and its possible values, for plain equality with values that are not nil.
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

  /// Whether equal values have equal hashes: true for values of the column's own storage class.
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
      // Several columns are looked up together only if each has one value.
      guard demanded.count == 1 || demanded.allSatisfy({ $0.count == 1 }) else { continue }
      let tuples = demanded.count == 1 ? demanded[0].map { [$0] } : [demanded.flatMap { $0 }]
      let links = snapshot.state.values[index.index]
      return tuples.compactMap(index.hash(of:)).flatMap { links.targets($0).map(\.key) }
    }
    return nil
  }
}

extension StoredValue {
  /// The storage class of the value. Nil for null.
  var storageClass: StorageClass? {
    switch self {
    case .null: nil
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob, .file: .blob
    }
  }
}
