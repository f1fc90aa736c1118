import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Objects that have the same unique key.
struct KeyClash {
  let key: UniqueKey
  /// The object that stays: the one in the store, otherwise the first one that was saved before, otherwise the first
  /// new one.
  let survivor: ManagedObject
  let others: [ManagedObject]
}

/// Finds objects with the same unique key among the objects that a save writes and the rows in the store.
///
/// It runs only after the store has refused a save because of a key, so other saves have no cost.
struct UniqueConflictFinder {
  private struct Contenders {
    let key: UniqueKey
    /// The values of the key's properties, in the order in which the objects are written.
    var values: [[StoredValue]] = []
    var objects: [[StoredValue]: [ManagedObject]] = [:]
  }

  private let context: ManagedObjectContext
  private var contenders: [UniqueKey: Contenders] = [:]
  /// The written properties of each saved object.
  private var written: [Int64: ColumnMask] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Adds an object with those of its keys that include a written property. Keys with a null value never conflict.
  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    if object.phase == .persistent { written[object._key] = mask }
    for key in context.info(of: object).entity.uniqueKeys where key.properties.contains(where: mask.contains) {
      let values = key.properties.map(object._value)
      if values.contains(where: \.isNull) { continue }
      let known = contenders[key, default: Contenders(key: key)].objects[values, default: []]
      if known.isEmpty { contenders[key, default: Contenders(key: key)].values.append(values) }
      contenders[key]?.objects[values] = known + [object]
    }
  }

  /// The conflicts, in the order of the model's keys.
  ///
  /// - Complexity: linear in the number of objects that were added, with one search in the store for each.
  func clashes() throws -> [KeyClash] {
    var found: [KeyClash] = []
    for contender in contenders.values.sorted(by: {
      ($0.key.entity, $0.key.properties[0]) < ($1.key.entity, $1.key.properties[0])
    }) {
      let holders = try holders(of: contender)
      for values in contender.values {
        var objects = contender.objects[values] ?? []
        if let holder = holders[values], !objects.contains(where: { $0 === holder }) { objects.insert(holder, at: 0) }
        guard objects.count > 1, let survivor = objects.first(where: { $0.phase == .persistent }) ?? objects.first
        else {
          continue
        }
        found.append(KeyClash(key: contender.key, survivor: survivor, others: objects.filter { $0 !== survivor }))
      }
    }
    return found
  }

  // MARK: The store

  /// The objects that have the keys in the store and keep them.
  private func holders(of contender: Contenders) throws -> [[StoredValue]: ManagedObject] {
    let entity = context.runtime.entities[contender.key.entity].entity
    var found: [[StoredValue]: ManagedObject] = [:]
    for request in contender.key.requests(for: contender.values, in: entity) {
      try context.connection().fetch(request) { row in
        let columns = contender.key.properties.map { property in
          entity.properties[property].column.map { entity.columns[$0] }
        }
        let values = zip(contender.key.properties, columns).map { property, column in
          column.map { row.value(entity.properties[property].column ?? 0, $0.storageClass) } ?? .null
        }
        let holder = try context.object(of: row, batch: 0)
        if keeps(holder, contender.key) { found[values] = holder }
      }
    }
    return found
  }

  /// Whether an object in the store keeps its key after the save.
  private func keeps(_ holder: ManagedObject, _ key: UniqueKey) -> Bool {
    guard holder.phase == .persistent else { return false }
    return written[holder._key].map { mask in !key.properties.contains(where: mask.contains) } ?? true
  }
}

extension UniqueKey {
  /// Requests for the objects whose key has one of some values.
  fileprivate func requests(for values: [[StoredValue]], in entity: Entity) -> [StoreRequest] {
    let paths = properties.map { PropertyPath(variable: 0).appending($0) }
    if paths.count == 1 {
      let kind = values.first?.first?.kind ?? .integer
      // Long lists are split, because a request must not grow without bound.
      return stride(from: 0, to: values.count, by: 10_000).map { start in
        let part = values[start..<min(start + 10_000, values.count)].compactMap(\.first)
        return StoreRequest(entity: entity.index, predicate: .isIn(.path(paths[0]), part, kind))
      }
    }
    return values.map { values in
      let terms = zip(paths, values).map { path, value in
        QueryPredicate.comparison(Comparison(.path(path), .equal, .value(value), kind: value.kind))
      }
      return StoreRequest(entity: entity.index, predicate: .and(terms))
    }
  }
}

extension StoredValue {
  /// The kind of the bitwise comparison that unique keys use.
  fileprivate var kind: ValueKind {
    switch self {
    case .null, .integer: .integer
    case .real: .real
    case .text: .text
    case .blob, .file: .blob
    }
  }
}
