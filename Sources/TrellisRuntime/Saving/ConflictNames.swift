import TrellisStorage

extension ManagedObjectContext {
  /// The error that a save throws, with the names of entities: a store knows entities only by number.
  func withNames(_ error: any Error) -> any Error {
    guard var conflict = error as? SaveConflict else { return error }
    for place in conflict.rows.indices {
      let entity = conflict.rows[place].entity
      if runtime.entities.indices.contains(entity) { conflict.rows[place].entityName = runtime.entities[entity].name }
    }
    return conflict
  }
}
