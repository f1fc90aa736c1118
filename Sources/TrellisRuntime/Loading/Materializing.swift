import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// The object of a row: the one in memory, updated if necessary, or a new one.
  ///
  /// - Parameter batch: The number of the batch of the fetch that reads the row.
  /// - Throws: ``StoreError`` if the row does not fit the model.
  func object(of row: RowReader, batch: UInt32) throws -> ManagedObject {
    if let object = map[row.key] {
      try bringUpToDate(object, with: row, batch: batch)
      return object
    }
    guard row.entity >= 0 && row.entity < runtime.types.count else { throw unreadable(row) }
    row.problem = nil
    let object = runtime.types[row.entity].init(row, in: link)
    if row.problem != nil { throw unreadable(row) }
    object.batch = batch
    object.generation = sweeper.generation
    if observation != nil { object.state.setObserved(true) }
    map.insert(object, for: row.key)
    return object
  }

  /// Replaces the values of an unchanged object with a newer row. An edited object keeps its edits and its committed
  /// row. An object in the backlog is left to the merge, which invalidates its partners' lists.
  private func bringUpToDate(_ object: ManagedObject, with row: RowReader, batch: UInt32) throws {
    guard type(of: object)._entity == row.entity else { throw unreadable(row) }
    object.generation = sweeper.generation
    if batch != 0 { object.batch = batch }
    let isFault = object.accessFlags.contains(.fault)
    guard object.phase == .persistent,
      isFault || (row.version != object.version && !object.isEdited && !backlog.contains(row.key))
    else { return }
    try replaceRow(of: object, with: row)
    if object.extras?.committed != nil { object.extras?.keep(object._copyRow()) }
  }

  func replaceRow(of object: ManagedObject, with row: RowReader) throws {
    row.problem = nil
    // Observers were notified when the object became a fault.
    if !object.accessFlags.contains(.fault) { object.announceAll() }
    object._read(row)
    if row.problem != nil { throw unreadable(row) }
    object.state.takeVersion(row.version)
    object.state.endFault()
    if info(of: object).hooks.contains(.didFetch) { object._noteFetch() }
  }

  func unreadable(_ row: RowReader) -> StoreError {
    let entity = runtime.entities.indices.contains(row.entity) ? runtime.entities[row.entity].entity : nil
    let columns = entity?.columns ?? []
    let column = row.problem.map(\.column).flatMap { columns.indices.contains($0) ? columns[$0].name : nil }
    let place = [entity?.name, column].compactMap(\.self).joined(separator: ".")
    return StoreError(
      .unreadableValue,
      "The row \(row.key) of \(place.isEmpty ? "the store" : place) cannot be read: \(row.problem?.what ?? "another entity has its key").",
      remedy: row.problem?.remedy ?? "Restore the store from a backup, or repair the row with another tool.",
      entity: entity?.name, properties: column.map { [$0] } ?? [])
  }
}
