import TrellisModel
import TrellisStorage

/// The changes that a save makes to its context by merging the changes of other contexts. They are taken back if the
/// save fails.
final class MergeTrace {
  private let context: ManagedObjectContext
  private let recorder: ChangeRecorder
  private let endRecording: () -> Void
  private var changes: [ChangeSet] = []
  /// Objects that were replaced by the survivors of their unique keys, by key, and the changes of that replacement.
  private var replaced: [Int64: ManagedObject] = [:]
  private var unions: [ChangeSet] = []
  private var former: [ObjectIdentifier: FormerObject] = [:]
  private let pending: PendingChanges
  private let backlog: MergeBacklog

  init(_ context: ManagedObjectContext) {
    self.context = context
    pending = context.pending
    backlog = context.backlog
    // The changes before the save are an undo step of their own.
    context.undo.suspend()
    context.undo.isMergeRecorded = true
    (recorder, endRecording) = context.beginRecording()
  }

  /// Notes the state of an object before it changes.
  func note(_ object: ManagedObject) {
    if former[ObjectIdentifier(object)] == nil { former[ObjectIdentifier(object)] = FormerObject(object, context) }
  }

  /// Notes the state of an object before another row is merged into it, and the states of the partners that show the
  /// change.
  func note(_ object: ManagedObject, _ theirs: RowCopyBase?) {
    note(object)
    let rows = [object._copyRow(), object.extras?.committed, theirs].compactMap(\.self)
    for relationship in context.info(of: object).allRelationships where relationship.isColumn {
      for row in rows { if let partner = context.map[row.value(relationship.property).key] { note(partner) } }
    }
  }

  /// Separates the changes until now from later ones: they are no undo step.
  func close() { changes.append(recorder.take(context)) }

  /// Separates the changes that the replacement of objects has made. They are undone together with the objects.
  func close(uniting objects: [ManagedObject]) {
    let set = recorder.take(context)
    changes.append(set)
    unions.append(set)
    for object in objects { replaced[object._key] = object }
  }

  func finish() {
    context.undo.isMergeRecorded = false
    endRecording()
    if !replaced.isEmpty { context.undo.unite(unions, replaced) }
  }

  /// Takes back all changes: first the links of the graph one by one, then the values of the merged objects.
  func takeBack() {
    close()
    // Objects that were detached or replaced return first, because links may lead to them.
    for object in former.values { object.reenter(context) }
    // The members that this needs were in memory a moment ago. After a failure the list is loaded again.
    for set in changes.reversed() { try? context.takeBack(set, isExact: true) }
    _ = recorder.take(context)
    context.undo.isMergeRecorded = false
    endRecording()
    for object in former.values { object.bringBack(context) }
    let noted = Set(pending.changed.lazy.map(ObjectIdentifier.init))
    for object in context.changed {
      object.state.setInChangedList(false)
      // An object that counts as changed would not be noted by its next edit.
      if !noted.contains(ObjectIdentifier(object)) {
        object.state.replaceChanged(by: 0)
        object.extras?.forgetCommitted()
        forgetChangedPairs(of: object)
      }
    }
    context.pending.takeBack(to: pending)
    context.backlog = backlog
    context.hasArrangements = true
    for object in pending.changed { object.state.setInChangedList(true) }
    recorder.forgetInserts(of: context)
    forgetPairsOfDeleted()
  }

  /// Drops the lists in join tables that differ from the store although the object had no changes before the merge: a
  /// member that was restored and is deleted again counts as removed from them.
  private func forgetChangedPairs(of object: ManagedObject) {
    object.extras?.lists.removeAll { entry in
      entry.list.hasChanges && context.relationship(entry.property, of: object)?.isJoined == true
    }
  }

  /// Unloads lists that were loaded while a deleted object was restored; those of other deleted objects when these are
  /// restored.
  private func forgetPairsOfDeleted() {
    let deleted = Set(former.values.lazy.filter(\.isDeleted).map(\.key))
    if deleted.isEmpty || context.listed.isEmpty { return }
    context.map.forEach { owner in
      for entry in owner.extras?.lists ?? [] {
        guard let relationship = context.relationship(entry.property, of: owner), relationship.isJoined,
          deleted.contains(where: entry.list.contains)
        else { continue }
        if owner.phase == .deleted {
          context.backlog.staleDeleted.insert(owner._key)
          continue
        }
        // Links that were added here are noted by the delete.
        entry.list.forgetAdded(deleted)
        context.unload(entry.list, of: owner, relationship, keepingOrder: true)
      }
    }
  }
}

extension StoredValue {
  /// The key in a column of references; 0 for null.
  var key: Int64 { if case .integer(let key) = self { key } else { 0 } }
}

/// The state of an object before a merge.
private struct FormerObject {
  private let object: ManagedObject
  private let state: ObjectState
  private let row: RowCopyBase
  private let committed: RowCopyBase?
  private let committedTransients: RowCopyBase?
  private let places: [(property: Int, place: Int64?)]
  var isDeleted: Bool { state.phase == .deleted }
  var key: Int64 { object._key }
  private let lists: [(property: Int, list: MemberList)]
  private let partners: [(property: Int, key: Int64)]

  init(_ object: ManagedObject, _ context: ManagedObjectContext) {
    self.object = object
    state = object.state
    row = object._copyRow()
    committed = object.extras?.committed
    committedTransients = object.extras?.committedTransients
    places = object.placesOfReferences(context)
    lists = object.extras?.lists.map { ($0.property, $0.list.copy()) } ?? []
    partners = object.extras?.partners ?? []
  }

  func reenter(_ context: ManagedObjectContext) {
    guard object.phase == .detached, state.phase != .detached else { return }
    object.state.reenter(as: state)
    context.map.insert(object, for: object._key)
  }

  func bringBack(_ context: ManagedObjectContext) {
    object._restore(.all, from: row)
    for (property, place) in places { object._setPlace(property, place) }
    object.state = state
    object.extras?.forgetCommitted()
    if let committed { object.needExtras().keep(committed, committedTransients) }
    object.extras?.replacement = 0
    if object.extras != nil || !lists.isEmpty || !partners.isEmpty {
      object.needExtras().lists = lists
      object.needExtras().partners = partners
    }
    context.map.insert(object, for: object._key)
  }
}
