import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// The connection for reading rows of an entity. If pending cascades may delete such rows, their members are loaded
  /// and deleted first, so that results are the same as after a save.
  func connection(reading entity: Int) throws -> any StoreConnection {
    try loadPendingCascades(reading: entity)
    return try connection()
  }

  /// Loads pending cascades that may affect the results of a request, which may also read other entities.
  func loadPendingCascades(for request: StoreRequest) throws {
    guard pending.deletions.hasCascades else { return }
    let isBeside = request.looksAtOthers(of: runtime.info(request.entity).entity)
    try loadPendingCascades(reading: isBeside ? nil : request.entity)
  }

  /// The store's results, without unsaved changes.
  func stored(_ request: StoreRequest, _ rule: LazyLoading = .allowed) throws -> [ManagedObject] {
    try loadPendingCascades(for: request)
    var objects: [ManagedObject] = []
    let entity = runtime.info(request.entity)
    if request.limit == 1 && rule == .allowed {
      try connection().fetch(request) { objects.append(try result($0, of: entity, batch: 0)) }
      return objects
    }
    let batch = FetchBatch()
    batch.lazyLoading = rule
    let number = batches.add(batch, keeping: map)
    try connection().fetch(request) { row in
      objects.append(try result(row, of: entity, batch: number))
      batch.append(row.key)
    }
    if objects.count < 2 && rule == .allowed { batches.remove(number) }
    return objects
  }

  /// The object of a fetched row. Throws if the row does not belong to the requested entity or a subentity, which may
  /// happen with a faulty store.
  @inline(__always) private func result(
    _ row: RowReader, of entity: EntityInfo, batch: UInt32
  ) throws -> ManagedObject {
    guard row.entity == entity.number || entity.entity.subtree.contains(row.entity) else { throw unreadable(row) }
    return try object(of: row, batch: batch)
  }
}
