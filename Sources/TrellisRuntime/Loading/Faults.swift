import TrellisStorage

extension ManagedObjectContext {
  /// Loads the row of a fault, together with those of its siblings. If the row no longer exists, the object becomes
  /// deleted; if the store fails, the object reads as placeholders until it is used again.
  func fulfilFault(of object: ManagedObject) {
    guard object.phase == .persistent else {
      object.state.endFault()
      return
    }
    do {
      try refreshRows(faults(beside: object))
    } catch {
      report(
        ContextError(.loadFailed, "An object of \(info(of: object).name) could not be loaded.", cause: error))
    }
  }

  private func faults(beside object: ManagedObject) -> [ManagedObject] {
    guard let batch = batches[object.batch] else { return [object] }
    let entity = type(of: object)._entity
    var found = [object]
    for key in batch.siblings(from: object._key, property: -1) where key != object._key {
      guard let sibling = map[key], sibling.accessFlags.contains(.fault), type(of: sibling)._entity == entity else {
        continue
      }
      found.append(sibling)
    }
    return found
  }

  /// Reads the rows of objects of one entity again. Edits are reapplied to the new row.
  func refreshRows(_ objects: [ManagedObject]) throws {
    guard let first = objects.first else { return }
    var missing = Set(objects.map(\._key))
    try connection(reading: info(of: first).root).rows(of: info(of: first).root, keys: objects.map(\._key)) { row in
      missing.remove(row.key)
      guard let object = map[row.key], type(of: object)._entity == row.entity else { return }
      try refreshRow(of: object, with: row)
    }
    var (gone, entities): (Set<Int64>, Set<Int>) = ([], [])
    for key in missing {
      guard let object = map[key] else { continue }
      gone.insert(key)
      entities.insert(type(of: object)._entity)
      let partners = partnersInRow(of: object)
      markDeletedInStore(object)
      forgetViews(of: partners)
    }
    if !gone.isEmpty { forgetStoredMembers(gone, of: entities) }
  }

  private func refreshRow(of object: ManagedObject, with row: RowReader) throws {
    guard object.changedBits != 0, let extras = object.extras, extras.committed != nil else {
      // The lists and partners of a fault were loaded since it became one, so they are kept.
      if !object.isInChangedList && !object.accessFlags.contains(.fault) { object.extras = nil }
      return try replaceRow(of: object, with: row)
    }
    // The new row becomes the committed one; edits are reapplied to it.
    let edited = object._copyRow()
    var edits = (0..<63).filter { object.changedBits & ColumnMask.bit(of: $0) != 0 }
    if object.changedBits & ColumnMask.bit(of: 63) != 0 {
      edits += object.changedNumbers.filter { $0 >= 63 }
    }
    try replaceRow(of: object, with: row)
    extras.keep(object._copyRow())
    for mask in ColumnMask.masks(of: edits) { object._restore(mask, from: edited) }
  }

  /// Marks an object as deleted because its row is gone. Its loaded values stay readable.
  func markDeletedInStore(_ object: ManagedObject) {
    object.state.endFault()
    if object.extras != nil { backlog.returning.insert(object._key) }
    forgetPairs(of: object)
    detach(object)
  }

  /// Removes the pairs of a deleted object from its partners, including pairs that were added in this context.
  private func forgetPairs(of object: ManagedObject) {
    for entry in object.extras?.lists ?? [] {
      guard let relationship = relationship(entry.property, of: object), relationship.isJoined,
        let inverse = runtime.inverse(of: relationship)
      else { continue }
      for key in entry.list.keys {
        guard let partner = map[key], let list = partner.extras?.list(inverse.property), list.contains(object._key)
        else { continue }
        partner.announce(inverse.property)
        list.forget([object._key])
      }
    }
  }

  /// Loads one object by key. Returns nil if there is no such row.
  ///
  /// Failures are reported, because callers cannot throw.
  func loadObject(_ key: Int64, entity: Int) -> ManagedObject? {
    do {
      return try storedObject(key, entity: entity)
    } catch {
      report(
        ContextError(
          .loadFailed, "An object of \(runtime.entities[entity].name) could not be loaded.", cause: error))
      return nil
    }
  }

  /// The object of the row with a key; nil if there is no such row.
  func storedObject(_ key: Int64, entity: Int) throws -> ManagedObject? {
    var found: ManagedObject?
    try connection(reading: entity).rows(of: entity, keys: [key]) { found = try object(of: $0, batch: 0) }
    return found
  }

  /// Applies the lazy loading rule of an object to the batch that was loaded through its relationship.
  func inherit(_ batch: FetchBatch, from object: ManagedObject?, _ relationship: RelationshipInfo) {
    guard let object else { return }
    batch.cameBy = (object.batch, relationship)
    batch.lazyLoading = batches[object.batch]?.lazyLoading ?? .allowed
  }

  /// Loads objects of an entity and its subentities by key.
  ///
  /// - Parameter cameBy: One of the objects that refer to them, and its relationship to them.
  @discardableResult func loadObjects(
    _ keys: [Int64], entity: Int, cameBy: (object: ManagedObject, relationship: RelationshipInfo)? = nil,
    rule: LazyLoading = .allowed
  ) throws -> [ManagedObject] {
    let batch = FetchBatch()
    batch.lazyLoading = rule
    if let cameBy { inherit(batch, from: cameBy.object, cameBy.relationship) }
    let number = keys.count > 1 || batch.lazyLoading != .allowed ? batches.add(batch, keeping: map) : 0
    var objects: [ManagedObject] = []
    try connection(reading: entity).rows(of: entity, keys: keys) { row in
      objects.append(try object(of: row, batch: number))
      batch.append(row.key)
    }
    return objects
  }
}
