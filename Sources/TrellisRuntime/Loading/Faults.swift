import TrellisStorage

extension ManagedObjectContext {
  /// Loads the row of a fault, its siblings' along with it. When there is no such row any more the object becomes deleted;
  /// when the store fails the object reads as placeholders until it is used again.
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

  /// Reads the rows of objects of one entity again. Edits stay, on top of the new row.
  func refreshRows(_ objects: [ManagedObject]) throws {
    guard let first = objects.first else { return }
    var missing = Set(objects.map(\._key))
    try connection(reading: info(of: first).root).rows(of: info(of: first).root, keys: objects.map(\._key)) { row in
      missing.remove(row.key)
      guard let object = map[row.key], type(of: object)._entity == row.entity else { return }
      try refreshRow(of: object, with: row)
    }
    for key in missing {
      guard let object = map[key] else { continue }
      let partners = partnersInRow(of: object)
      markDeletedInStore(object)
      forgetViews(of: partners)
      if !listed.isEmpty { forgetStoredMembers([key], of: [type(of: object)._entity]) }
    }
  }

  private func refreshRow(of object: ManagedObject, with row: RowReader) throws {
    guard object.changedBits != 0, let extras = object.extras, extras.committed != nil else {
      // What a fault has beside its row was loaded since it became one.
      if !object.isInChangedList && !object.accessFlags.contains(.fault) { object.extras = nil }
      return try replaceRow(of: object, with: row)
    }
    // The new row becomes what was committed; what was set since is put back on top of it.
    let edited = object._copyRow()
    var edits = (0..<63).filter { object.changedBits & ColumnMask.bit(of: $0) != 0 }
    if object.changedBits & ColumnMask.bit(of: 63) != 0 {
      edits += object.changedNumbers.filter { $0 >= 63 }
    }
    try replaceRow(of: object, with: row)
    extras.keep(object._copyRow())
    for mask in ColumnMask.masks(of: edits) { object._restore(mask, from: edited) }
  }

  /// The object's row is gone: the object is deleted, what was loaded of it stays readable.
  func markDeletedInStore(_ object: ManagedObject) {
    object.state.endFault()
    if object.extras != nil { backlog.returning.insert(object._key) }
    forgetPairs(of: object)
    detach(object)
  }

  /// Pairs go with either end, those that were added here as well.
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

  /// Loads one object by key; nil when there is no such row.
  ///
  /// Failures are reported, as this is called where nothing can be thrown.
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

  /// The object of a row, by key; nil when there is no such row.
  func storedObject(_ key: Int64, entity: Int) throws -> ManagedObject? {
    var found: ManagedObject?
    try connection(reading: entity).rows(of: entity, keys: [key]) { found = try object(of: $0, batch: 0) }
    return found
  }

  /// What was found by a relationship of some objects is under the rule that they are under.
  func inherit(_ batch: FetchBatch, from object: ManagedObject?, _ relationship: RelationshipInfo) {
    guard let object else { return }
    batch.cameBy = (object.batch, relationship)
    batch.lazyLoading = batches[object.batch]?.lazyLoading ?? .allowed
  }

  /// Loads objects of an entity, and of those below it, by key.
  ///
  /// - Parameter cameBy: one of the objects that refer to them, and the relationship in which they do.
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
