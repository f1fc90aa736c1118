import TrellisStorage

extension ParentConnection {
  /// Does to the parent's objects what was done to the child's. Nothing is written to a store, and nothing is half done.
  func save(_ request: SaveRequest) throws -> SaveOutcome {
    guard let child = child.context else { return SaveOutcome() }
    try parent.checkAllowed("save in a child")
    try checkVersions(request)
    try checkKeys(request, child)
    let handing = try HandingUp(request, from: child, through: self)
    parent.undo.beginGroup()
    defer { parent.undo.endGroup() }
    let trace = MergeTrace(parent)
    do {
      try handing.carryOut()
      trace.finish()
    } catch {
      trace.takeBack()
      throw error
    }
    noteVersions(request)
    return SaveOutcome()
  }

  func rehearse(_ request: SaveRequest) throws {
    guard let child = child.context else { return }
    try parent.checkAllowed("save in a child")
    try checkVersions(request)
    try checkKeys(request, child)
    _ = try HandingUp(request, from: child, through: self)
  }

  /// The parent may have changed or deleted what the child has read.
  private func checkVersions(_ request: SaveRequest) throws {
    var stale: [SaveConflict.Row] = []
    for group in request.updates {
      let versions = try versions(of: group.records.map(\.storedKey), group.entity)
      for record in group.records where versions[record.storedKey] != record.storedVersion {
        stale.append(SaveConflict.Row(entity: group.entity, key: record.storedKey))
      }
    }
    for group in request.deletes {
      let versions = try versions(of: group.keys, group.entity)
      for (key, version) in zip(group.keys, group.versions) where versions[key] != version {
        stale.append(SaveConflict.Row(entity: group.entity, key: key))
      }
    }
    if !stale.isEmpty { throw SaveConflict(rows: stale) }
  }

  private func versions(of keys: [Int64], _ entity: Int) throws -> [Int64: Int64] {
    var found: [Int64: Int64] = [:]
    for object in try objects(keys, of: entity) {
      found[object._key] = seen.version(of: object, parent.info(of: object))
    }
    return found
  }

  /// A key or a partner that somebody has, in the parent or in the store, is found before the parent's own save finds it.
  private func checkKeys(_ request: SaveRequest, _ child: ManagedObjectContext) throws {
    var keys = KeySearch(child)
    var partners = PartnerSearch(child)
    for group in request.inserts {
      for case let object as ManagedObject in group.records {
        keys.add(object, .all)
        partners.add(object, .all)
      }
    }
    for group in request.updates {
      for case (let object as ManagedObject, let mask) in zip(group.records, group.masks) {
        keys.add(object, mask)
        partners.add(object, mask)
      }
    }
    if try keys.clashes().isEmpty && partners.clashes().isEmpty { return }
    throw StoreError(
      .notUnique, "An object of a child context has a unique key or a partner that is taken.",
      remedy: "Save with a merge policy.")
  }

  private func noteVersions(_ request: SaveRequest) {
    for group in request.inserts { for record in group.records { noteVersion(record, 1) } }
    for group in request.updates { for record in group.records { noteVersion(record, record.storedVersion + 1) } }
  }

  private func noteVersion(_ record: any StoredRecord, _ version: Int64) {
    if let object = parent.map[record.storedKey] { seen.note(object, version: version) }
  }
}
