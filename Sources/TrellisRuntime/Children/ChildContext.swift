import TrellisModel
import TrellisStorage

// MARK: - Parent connection

/// The connection of a child to its parent, which is the child's only store: the rows are the present objects of the
/// parent.
///
/// A child therefore fetches, loads and saves like every other context. The places of members are not passed in either
/// direction, because the parent's lists have an order without them.
final class ParentConnection: StoreConnection {
  let parent: ObjectGraph
  /// The child.
  let child: ContextLink
  var seen = ParentRowVersions()
  /// The keys of the parent's objects that had unsaved changes at the child's last merge, or when the child has read them
  /// since. The parent may roll these changes back.
  var changedInParent: Set<Int64> = []
  /// The keys of objects that the parent had deleted at one of the child's merges. They may be restored.
  var deletedInParent: Set<Int64> = []
  /// The keys of the parent's new objects that the child has read. The parent may withdraw them.
  var newInParent: Set<Int64> = []
  private let reader = ValueReader()
  private let writer = ValueWriter()
  private let rules = FetchRules(seesPendingChanges: true, lazyLoading: .allowed)

  init(_ parent: ObjectGraph, for child: ContextLink) {
    self.parent = parent
    self.child = child
  }

  // MARK: Requests

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    for object in try parent.results(of: request, rules) { try body(row(of: object)) }
  }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    if try isStored(request) { return try parent.connection().fetchKeys(request, body) }
    for object in try parent.results(of: request, rules) { try body(object._key, type(of: object)._entity) }
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try parent.prepareFetch()
    try parent.forEachRow(of: request, rules, paths, false, body)
  }

  func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try parent.prepareFetch()
    try parent.forEachGroup(of: request, rules, body)
  }

  func count(_ request: StoreRequest) throws -> Int {
    try isStored(request) ? parent.connection().count(request) : parent.results(of: request, rules).count
  }

  func plan(of request: StoreRequest) throws -> QueryPlan { try parent.connection().plan(of: request) }

  /// Whether no unsaved change of the parent affects a request.
  private func isStored(_ request: StoreRequest) throws -> Bool {
    try parent.prepareFetch()
    return try parent.influence(on: request, rules) == .none
  }

  // MARK: Rows and members

  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    let subtree = parent.runtime.info(entity).entity.subtree
    for object in try objects(keys, of: entity) where subtree.contains(type(of: object)._entity) {
      try body(row(of: object))
    }
  }

  /// The parent's objects with some unique keys. Several of its unsaved objects may have the same one.
  func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    try parent.prepareFetch()
    let search = KeyHolderSearch(parent, key, values: values)
    var numbers: [Int: Int] = [:]
    for (number, combination) in search.combinations.enumerated() {
      if let combination { numbers[combination] = number }
    }
    try search.forEach { combination, object in
      if let number = numbers[combination] { try body(number, row(of: object)) }
    }
  }

  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    for (owner, destination, keys) in try partners(of: owners, relationship) {
      for member in try objects(keys, of: destination) { try body(owner, row(of: member)) }
    }
  }

  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    for (owner, _, keys) in try partners(of: owners, relationship) { for key in keys { try body(owner, key, 0) } }
  }

  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) {}

  func pin() throws {
    throw StoreError(
      .unsupported, "A child context cannot show one moment of the store.",
      remedy: "Use pinned of a context without a parent.")
  }

  /// The parent's objects with some keys, in that order and with their values loaded. Deleted objects are left out.
  func objects(_ keys: [Int64], of entity: Int) throws -> [ManagedObject] {
    try parent.loadForChange(keys, entity: entity)
    return keys.compactMap { parent.map[$0] }.filter(\.isAlive)
  }

  /// Makes the parent load the objects of a child that it does not have in memory, to determine whether they exist.
  func load(_ keys: Set<Int64>, asIn child: ObjectGraph) throws {
    let missing = keys.filter { parent.map[$0] == nil }.sorted().compactMap { child.map[$0] }
    for (entity, objects) in Dictionary(grouping: missing, by: { type(of: $0)._entity }).sortedByKey {
      try parent.loadForChange(objects.map(\._key), entity: entity)
    }
  }

  /// The partners of some of the parent's objects, loaded in a few statements.
  private func partners(
    of keys: [Int64], _ number: RelationshipNumber
  ) throws -> [(owner: Int64, destination: Int, keys: [Int64])] {
    guard let relationship = parent.runtime.relationship(number) else { return [] }
    let owners = try objects(keys, of: relationship.entity)
    owners.forEach(noteUnsaved)
    if relationship.isToMany {
      let unloaded = owners.filter { !parent.list(of: $0, relationship).isLoaded }
      if !unloaded.isEmpty { try parent.loadMembers(of: unloaded, relationship) }
    }
    let present = try owners.map { owner in
      if relationship.isToMany {
        return (owner._key, relationship.destination, Array(parent.shownKeys(parent.list(of: owner, relationship))))
      }
      let partner = try parent.partnerKey(of: owner, relationship)
      return (owner._key, relationship.destination, partner > 0 ? [partner] : [])
    }
    let isLeft = relationship.deleteAction == .leaveReferences && owners.count < keys.count
    guard isLeft, let inverse = parent.runtime.inverse(of: relationship), inverse.isColumn else { return present }
    // Objects that the parent has deleted may still be referred to.
    return try present
      + Set(keys).subtracting(owners.map(\._key)).sorted().map { key in
        (key, relationship.destination, try parent.referencesLeft(to: key, relationship, inverse))
      }
  }

  /// Notes that the child has read an object with unsaved changes.
  private func noteUnsaved(_ object: ManagedObject) {
    if object.phase == .inserted {
      newInParent.insert(object._key)
    } else if object.isInChangedList {
      changedInParent.insert(object._key)
    }
  }

  /// The present row of an object of the parent.
  private func row(of object: ManagedObject) -> RowReader {
    noteUnsaved(object)
    return show(object, in: parent, version: seen.version(of: object, parent.info(of: object)))
  }

  /// The values of an object as a row.
  func show(_ object: ManagedObject, in graph: ObjectGraph, version: Int64) -> RowReader {
    let entity = graph.info(of: object).entity
    let values = writer.collect(entity.columns.count, object.writeRow) ?? []
    reader.show(key: object._key, version: version, entity: entity.index, values: values)
    return reader
  }
}

// MARK: - Saving

extension ParentConnection {
  /// Applies the changes of the child's objects to the parent's objects, all of them or none. Nothing is written to a
  /// store.
  func save(_ request: SaveRequest) throws -> SaveOutcome {
    guard let handing = try checked(request) else { return SaveOutcome() }
    let watch = LinkWatch(parent, "a child's save", changing: [ManagedObject]())
    defer { watch.end(touching: child.graph.map { Array($0.keysOfChanges) } ?? []) }
    parent.undo.beginGroup(nil)
    defer { parent.undo.endGroup() }
    try carryOut(handing)
    noteVersions(request)
    // Later changes of the parent to these objects are merged into the child.
    changedInParent.formUnion(parent.keysOfChanges)
    return SaveOutcome()
  }

  /// Carries out a save as one undo step of the parent, or reverts that step if objects cannot be loaded. The parent's
  /// memory is not copied, as it is for a merge, because a small save of a child in a large parent must stay small.
  private func carryOut(_ save: ChildSave) throws {
    let (pending, backlog) = (parent.pending, parent.backlog)
    parent.undo.collectUntilNow()
    // What is recorded until the end belongs together.
    parent.undo.isSaveRecorded = true
    let (recorder, endRecording) = parent.beginRecording()
    defer {
      parent.undo.isSaveRecorded = false
      endRecording()
    }
    do {
      try save.carryOut()
    } catch {
      // The members that this needs were in memory a moment ago. After a failure the list is loaded again.
      try? parent.revert(recorder.take(parent), isExact: true)
      _ = recorder.take(parent)
      parent.revertPending(to: pending)
      parent.backlog = backlog
      recorder.forgetInserts(of: parent)
      throw error
    }
  }

  /// Checks a request.
  ///
  /// - Returns: the save to carry out. Nil if the child no longer exists.
  /// - Throws: the parent's conflicts with the request.
  private func checked(_ request: SaveRequest) throws -> ChildSave? {
    guard let child = child.graph else { return nil }
    try parent.checkAllowed("save in a child")
    try checkVersions(request, child)
    try checkKeys(request, child)
    return try ChildSave(request, from: child, through: self)
  }

  /// Finds rows of the request that the parent has changed or deleted since the child read them.
  private func checkVersions(_ request: SaveRequest, _ child: ObjectGraph) throws {
    var stale: [SaveConflict.Row] = []
    for group in request.updates {
      stale += try staleRows(
        group.records.map(\.storedKey), group.records.map(\.storedVersion), group.entity, child)
    }
    for group in request.deletes { stale += try staleRows(group.keys, group.versions, group.entity, child) }
    if !stale.isEmpty { throw SaveConflict(rows: stale) }
  }

  private func staleRows(
    _ keys: [Int64], _ versions: [Int64], _ entity: Int, _ child: ObjectGraph
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
    let row = known.committedRow ?? known._copyRow()
    return object.differences(from: row, among: .max, parent.info(of: object)) == 0
  }

  /// Finds unique keys and partners that are taken in the parent or in the store, before the parent's own save finds
  /// them.
  private func checkKeys(_ request: SaveRequest, _ child: ObjectGraph) throws {
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
    for group in request.inserts {
      for record in group.records { noteVersion(record, group.version(of: record.storedKey)) }
    }
    for group in request.updates { for record in group.records { noteVersion(record, record.storedVersion + 1) } }
  }

  private func noteVersion(_ record: any StoredRecord, _ version: Int64) {
    if let object = parent.map[record.storedKey] { seen.note(object, version: version) }
  }
}

// MARK: - Parent merge

extension ParentConnection {
  /// Merges the parent's changes into a child, saved or not.
  ///
  /// - Returns: whether the parent has or had any.
  func mergeChanges(into child: ObjectGraph) -> Bool { child.mergeParent(of: self) }

  #if DEBUG
    /// Whether the parent may have changed what the child has merged last.
    var mayHaveChanges: Bool {
      !(changedInParent.isEmpty && deletedInParent.isEmpty && newInParent.isEmpty && parent.keysOfChanges.isEmpty)
    }
  #endif
}

extension ObjectGraph {
  /// Merges the parent's changes into a child, saved or not, as if the parent had saved them.
  ///
  /// - Returns: whether the parent has or had any.
  /// - Complexity: linear in the number of the parent's unsaved changes, now and at the last merge; in the number of
  ///   objects in memory, if the parent has restored deleted objects.
  fileprivate func mergeParent(of connection: ParentConnection) -> Bool {
    guard let parent else { return false }
    let changed = parent.keysOfChanges
    let keys = connection.changedInParent.union(connection.newInParent).union(changed)
    connection.changedInParent = changed
    connection.newInParent = connection.newInParent.filter { parent.map[$0]?.phase == .inserted }
    do { try connection.load(keys.filter { map[$0] != nil }, asIn: self) } catch {
      report(ContextError(.loadFailed, "What the parent has changed could not be read.", cause: error))
    }
    var gone: Set<Int64> = []
    var entities: Set<Int>? = []
    var isAnyRestored = false
    for key in keys.sorted() {
      let object = map[key]
      guard let twin = parent.map[key], twin.isAlive else {
        // A to-many in a join table may contain an object that is not in memory.
        gone.insert(key)
        if let known = object ?? parent.map[key] { entities?.insert(type(of: known)._entity) } else { entities = nil }
        if let object { noteGoneInStore(object) }
        continue
      }
      if connection.deletedInParent.remove(key) != nil { isAnyRestored = true }
      guard let object else { continue }
      noteBack(key)
      forgetViews(of: object)
      if object.phase == .deleted || connection.seen.version(of: twin, info(of: twin)) != object.version {
        let partners = partnersInRow(of: object)
        forgetRow(of: object)
        forgetViews(
          of: partners
            + partnersInRow(of: twin).compactMap { link in
              map[link.partner._key].map { ($0, link.relationship) }
            })
      }
    }
    connection.deletedInParent.formUnion(gone)
    // Restored objects are members again, also of to-manys that have changed here.
    if isAnyRestored { map.forEach(forgetViews) }
    // Objects that are not in memory may be referred to as well.
    announceReferences(to: gone)
    if !gone.isEmpty { forgetStoredMembers(gone, of: entities) }
    return !keys.isEmpty
  }
}

extension ObjectGraph {
  /// Restores the pending changes from before a child's save that failed, after its changes were reverted.
  fileprivate func revertPending(to former: PendingChanges) {
    let noted = Set(former.changed.lazy.map(ObjectIdentifier.init))
    for object in changed {
      object.state.setInChangedList(false)
      // An object that counts as changed would not be noted by its next edit.
      if noted.contains(ObjectIdentifier(object)) { continue }
      object.restoreCommitted(.all)
      object.state.replaceChanged(by: 0)
      object.committedRow = nil
      object.removeLists { list in
        list.hasChanges && relationship(list.property, of: object)?.isJoined == true
      }
    }
    let deferredLists = pending.deferredLists
    pending = former
    // To-manys whose owners were loaded since belong to these owners.
    pending.deferredLists = deferredLists
    for object in changed { object.state.setInChangedList(true) }
    hasArrangements = true
  }
}

// MARK: - Parent row versions

/// The rows of a parent's objects as the child last read them. The version of a row grows whenever its values differ,
/// for whatever reason. A save of the parent alone does not change it.
struct ParentRowVersions {
  private var rows: [Int64: (row: RowCopyBase, version: Int64)] = [:]

  /// Whether the child has ever read the parent's object with a key.
  func contains(_ key: Int64) -> Bool { rows[key] != nil }

  /// The version of an object's present row.
  ///
  /// - Complexity: linear in the number of properties.
  mutating func version(of object: ManagedObject, _ info: EntityInfo) -> Int64 {
    object._willRead(-1)
    guard let (row, version) = rows[object._key] else {
      note(object, version: 1)
      return 1
    }
    guard object.differences(from: row, among: .max, info) != 0 else { return version }
    note(object, version: version + 1)
    return version + 1
  }

  /// Stores the present row of an object under a version.
  mutating func note(_ object: ManagedObject, version: Int64) {
    rows[object._key] = (object._copyRow(), version)
  }
}
