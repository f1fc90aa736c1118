import TrellisModel
import TrellisStorage

extension ObjectGraph {

  /// - Parameter readsEdited: Whether edited objects get the saved values at once. A save passes false, because the
  ///   store compares their rows and the merge policy resolves conflicts.
  func mergeInbox(readingEdited readsEdited: Bool = true) {
    guard !isPinned else { return }
    parent?.mergeInbox()
    core.externalChanges.look(through: openConnection)
    let notices = inbox.takeAll()
    for notice in notices { merge(notice) }
    // A save of a child context passes its changes to the parent, which merges them with its own.
    if readsEdited && parent != nil { mergeParent() }
    if !backlog.isEmpty { settleBacklog(readingEdited: readsEdited) }
    checkInvariants()
    if !notices.isEmpty { saveObserver?.didSave(notices, in: self) }
  }

  /// Invalidates what a save has made stale. Nothing is read.
  private func merge(_ notice: SaveNotice) {
    if notice.isUnknown { return forgetEverything() }
    for row in notice.updated {
      guard let object = map[row.key] else { continue }
      let partners = partnersInRow(of: object)
      forgetViews(of: object)
      forgetRow(of: object)
      forgetViews(of: partners)
    }
    let gone = notice.deleted.map(\.key) + notice.cascaded
    for key in gone { if let object = map[key] { noteGoneInStore(object) } }
    for row in notice.inserted { noteBack(row.key) }
    announceReferences(to: Set(gone))
    forgetMembers(gone, notice)
    if !notice.cleared.isEmpty {
      forgetReferences(to: Set(gone), notice.cleared.compactMap(runtime.relationship))
    }
    for key in notice.relinked.map(\.key) + notice.referred {
      guard let object = map[key] else { continue }
      forgetViews(of: object)
      // The lists and partners of a deleted object are invalidated when its delete is reverted.
      if object.phase == .deleted { backlog.noteNewRow(key) }
    }
  }

  private func forgetMembers(_ gone: [Int64], _ notice: SaveNotice) {
    let isCertain = notice.cascaded.isEmpty && !notice.movesMembers
    if !isCertain { map.forEach(forgetViews) }
    if listed.isEmpty || gone.isEmpty { return }
    forgetStoredMembers(Set(gone), of: isCertain ? Set(notice.deleted.map(\.entity)) : nil)
  }

  /// Invalidates all objects, after a change of unknown extent.
  private func forgetEverything() {
    map.forEach { object in
      forgetViews(of: object)
      forgetRow(of: object)
    }
  }

  /// Invalidates the row of an object, because the stored row has changed.
  func forgetRow(of object: ManagedObject) {
    switch object.phase {
    case .persistent where object.isInChangedList: backlog.noteNewRow(object._key)
    // Nothing but the rows of its partners tells which of them a new object has.
    case .persistent where partnersInRow(of: object).contains { $0.partner.phase == .inserted }:
      backlog.noteNewRow(object._key)
    case .persistent:
      noteContestedHalves(of: object)
      turnIntoFault(object)
    case .deleted: backlog.noteNewRow(object._key)
    case .inserted, .detached: break
    }
  }

  /// Handles an object that another context had deleted and that is in the store again.
  func noteBack(_ key: Int64) {
    backlog.lostMembers.remove(key)
    if let object = map[key], object.phase == .inserted { return adopt(object) }
    if backlog.gone.contains(key) {
      backlog.remove(key)
      guard let object = map[key] else { return }
      // The new row's versions start over and cannot be compared with the version that was read.
      if object.phase != .inserted { object.state.forgetVersion() }
      forgetRow(of: object)
    }
  }

  /// Turns a new object into a changed one. It is new because its saved delete was undone here, and it is in the store
  /// because another context undid the same delete. Its values become edits of the stored row.
  private func adopt(_ object: ManagedObject) {
    do {
      guard let theirs = try storedVersions(of: [object])[object._key] else { return }
      object.state.adoptRow(version: theirs.version, edits: info(of: object).storedMask.bits)
      recorder?.addInserts(of: self)
      pending.dropFormerInserts()
      recorder?.forgetInserts(of: self)
      object.needExtras().keep(theirs.row)
      noteChanged(object)
      forgetViews(of: object)
    } catch {
      report(ContextError(.loadFailed, "What others saved could not be read.", cause: error))
    }
  }

  /// Handles an object whose row is gone from the store. An object that was changed here is kept, so that the save
  /// reports the conflict.
  func noteGoneInStore(_ object: ManagedObject) {
    // The object of a child context may still be alive in its parent.
    if let parent, parent.map[object._key]?.isAlive == true { return forgetRow(of: object) }
    let partners = partnersInRow(of: object)
    defer { forgetViews(of: partners) }
    forgetViews(of: object)
    if object.phase == .deleted || object.phase == .persistent && object.hasChangesOfItsOwn {
      backlog.noteDeletedInStore(object._key)
    } else if object.phase == .persistent {
      backlog.remove(object._key)
      markDeletedInStore(object)
    }
  }
}

// MARK: - Save notice

extension SaveNotice {
  /// Collects the changes of a save plan. This runs before the save, because lists forget their changes when they are
  /// saved.
  init(_ plan: SavePlan, _ graph: ObjectGraph) {
    author = graph.author
    inserted = plan.inserted.map { Row($0) }
    updated = plan.updated.map { Row($0.object, $0.mask) }
    relinked = plan.relinked.map { Row($0) }
    deleted = plan.deleted.map { Row($0) }
    cascaded = plan.outcome.cascaded
    for object in plan.inserted + plan.updated.map(\.object) + plan.deleted { addPartners(of: object, graph) }
    // A pair may be noted at one end only.
    for table in plan.request.pairs {
      for pair in table.added + table.removed { referred += [pair.first, pair.partner] }
    }
    // Changes of lists whose owners are not in memory.
    referred += graph.pending.deferredLists.lists.filter { $0.value.hasChanges }.map(\.key.owner)
    cleared = plan.request.clearedReferences.map(\.relationship)
  }

  /// Adds the present and former partners of an object: their members change, even in contexts that do not have the
  /// object itself in memory.
  private mutating func addPartners(of object: ManagedObject, _ graph: ObjectGraph) {
    let isNew = object.phase == .inserted
    let committed = object.extras?.committed
    for relationship in graph.info(of: object).allRelationships
    where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      guard case .integer(let former) = committed?.value(relationship.property) ?? .integer(key) else {
        if key > 0 { referred.append(key) }
        continue
      }
      if key == former && object.phase == .persistent { continue }
      if key > 0 { referred.append(key) }
      if former > 0 && former != key && !isNew { referred.append(former) }
    }
  }
}

extension SaveNotice.Row {
  fileprivate init(_ object: ManagedObject, _ mask: ColumnMask = ColumnMask(bits: 0)) {
    key = object._key
    entity = type(of: object)._entity
    properties = mask
    for entry in object.extras?.lists ?? [] where entry.list.hasChanges {
      properties.bits |= ColumnMask.bit(of: entry.property)
    }
  }
}

// MARK: - Saved changes

/// The changes of one save: the IDs of the changed objects by entity, and their changed properties.
///
/// ```swift
/// for await changes in container.saves {
///   for id in changes.inserted(of: Tag.self) { index.add(id) }
/// }
/// ```
public struct SavedChanges: Sendable {
  private let notice: SaveNotice
  private let runtime: RuntimeModel

  init(_ notice: SaveNotice, _ runtime: RuntimeModel) {
    self.notice = notice
    self.runtime = runtime
  }

  /// The ``ManagedObjectContext/author`` of the context that saved.
  public var author: String? { notice.author }

  /// Whether the changes are known. They are for every save of the container. Of writes to the same file by other
  /// processes or containers only the fact is known, and nothing is listed.
  public var isComplete: Bool { !notice.isUnknown }

  /// The inserted objects.
  public var inserted: [AnyObjectID] { notice.inserted.map(id) }

  /// The objects with changed values or changed members.
  public var updated: [AnyObjectID] { (notice.updated + notice.relinked).map(id) }

  /// The deleted objects. Objects that the store deleted in a cascade without the context loading them are not listed;
  /// use ``contains(deleted:)`` for these.
  public var deleted: [AnyObjectID] { notice.deleted.map(id) }

  /// The inserted objects of a class and its subclasses.
  public func inserted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.inserted) }

  /// The objects of a class and its subclasses with changed values or changed members.
  public func updated<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] {
    ids(notice.updated) + ids(notice.relinked)
  }

  /// The deleted objects of a class and its subclasses, with the same limits as ``deleted``.
  public func deleted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.deleted) }

  /// Whether an object was deleted, by the context or by the store in a cascade.
  ///
  /// - Complexity: linear in the number of deleted objects.
  public func contains<Object: ManagedObject>(deleted id: ObjectID<Object>) -> Bool {
    guard runtime.has(Object.self) || Object.self == ManagedObject.self else { return false }
    return notice.deleted.contains { $0.key == id.key } || notice.cascaded.contains(id.key)
  }

  /// The names of an object's properties with changed values or changed members, in the order of the model; empty if
  /// the object did not change or is new.
  ///
  /// - Complexity: linear in the number of updated objects.
  public func changedProperties(of id: AnyObjectID) -> [String] {
    guard runtime.has(id.type),
      let row = (notice.updated + notice.relinked).first(where: { $0.key == id.key })
    else { return [] }
    return runtime.entities[row.entity].entity.properties.filter { row.properties.contains($0.index) }.map(\.name)
  }

  private func id(_ row: SaveNotice.Row) -> AnyObjectID {
    AnyObjectID(row.key, runtime.entities[row.entity])
  }

  private func ids<Object: ManagedObject>(_ rows: [SaveNotice.Row]) -> [ObjectID<Object>] {
    rows.filter { runtime.types[$0.entity] is Object.Type }.map { ObjectID($0.key) }
  }
}

extension PersistentContainer {
  /// The saves of all contexts of this container from now on, and notices of external writes to the same file.
  ///
  /// Each access creates a new stream, so access it before the first save of interest. The stream ends when its task is
  /// cancelled or the container is closed. Saves are buffered without a limit so that none is missed; consume or
  /// release a stream that you keep.
  ///
  /// Saves of one context arrive in order. Saves of different contexts may arrive in another order than they were made;
  /// fetch to get the current values.
  public var saves: AsyncStream<SavedChanges> {
    let (stream, continuation) = AsyncStream.makeStream(of: SavedChanges.self)
    let core = core
    let number = core.hub.add(
      { [runtime = core.runtime] in continuation.yield(SavedChanges($0, runtime)) }, end: { continuation.finish() })
    let watch = core.externalChanges.watch()
    continuation.onTermination = { _ in
      core.hub.removeListener(number)
      watch.end()
    }
    return stream
  }
}
