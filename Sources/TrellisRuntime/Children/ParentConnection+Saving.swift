import TrellisStorage

extension ParentConnection {
  /// Applies the changes of the child's objects to the parent's objects, all of them or none. Nothing is written to a
  /// store.
  func save(_ request: SaveRequest) throws -> SaveOutcome {
    guard let handing = try checked(request) else { return SaveOutcome() }
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
    // Later changes of the parent to these objects are merged into the child.
    changedInParent.formUnion(parent.keysOfChanges)
    return SaveOutcome()
  }

  func rehearse(_ request: SaveRequest) throws { _ = try checked(request) }

  /// Checks a request.
  ///
  /// - Returns: the save to carry out. Nil if the child no longer exists.
  /// - Throws: the parent's conflicts with the request.
  private func checked(_ request: SaveRequest) throws -> ChildSave? {
    guard let child = child.context else { return nil }
    try parent.checkAllowed("save in a child")
    try checkVersions(request, child)
    try checkKeys(request, child)
    return try ChildSave(request, from: child, through: self)
  }

  /// Finds rows of the request that the parent has changed or deleted since the child read them.
  private func checkVersions(_ request: SaveRequest, _ child: ManagedObjectContext) throws {
    var stale: [SaveConflict.Row] = []
    for group in request.updates {
      stale += try staleRows(
        group.records.map(\.storedKey), group.records.map(\.storedVersion), group.entity, child)
    }
    for group in request.deletes { stale += try staleRows(group.keys, group.versions, group.entity, child) }
    if !stale.isEmpty { throw SaveConflict(rows: stale) }
  }

  private func staleRows(
    _ keys: [Int64], _ versions: [Int64], _ entity: Int, _ child: ManagedObjectContext
  ) throws -> [SaveConflict.Row] {
    let present = Set(try objects(keys, of: entity).map(\._key))
    return zip(keys, versions).filter { key, version in
      guard present.contains(key), let object = parent.map[key] else { return true }
      if seen.version(of: object, parent.info(of: object)) == version { return false }
      guard let known = child.map[key], isSame(object, as: known) else { return true }
      seen.note(object, version: version)
      return false
    }
    .map { SaveConflict.Row(entity: entity, key: $0.0) }
  }

  /// Whether the parent's row equals the child's committed row. One-way references to objects that the child has
  /// deleted are nil in both.
  private func isSame(_ object: ManagedObject, as known: ManagedObject) -> Bool {
    var differences: [Int] = []
    let row = known.extras?.committed ?? known._copyRow()
    object.collectDifferences(from: row, among: .max, parent.info(of: object), into: &differences)
    return differences.isEmpty
  }

  /// Finds unique keys and partners that are taken in the parent or in the store, before the parent's own save finds
  /// them.
  private func checkKeys(_ request: SaveRequest, _ child: ManagedObjectContext) throws {
    var keys = UniqueConflictFinder(child)
    var partners = OneToOneConflictFinder(child)
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
