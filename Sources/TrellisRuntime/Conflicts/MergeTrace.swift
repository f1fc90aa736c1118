import TrellisStorage

/// What a save has changed in its context by taking over what others wrote, to be taken back when it fails after all.
final class MergeTrace {
  private let context: ManagedObjectContext
  private let recorder: ChangeRecorder
  private let wasRecording: Bool
  private var changes: [ChangeSet] = []
  private var former: [ObjectIdentifier: FormerObject] = [:]
  private let inserted: ContiguousArray<ManagedObject>
  private let changed: ContiguousArray<ManagedObject>
  private let deleted: ContiguousArray<ManagedObject>
  private let deletions: PendingDeletes
  private let gone: GoneTargets

  init(_ context: ManagedObjectContext) {
    self.context = context
    inserted = context.inserted
    changed = context.changed
    deleted = context.deleted
    deletions = context.deletions
    gone = context.gone
    // What the user did before is a step of its own.
    context.undo.suspend()
    wasRecording = context.recorder != nil
    recorder = context.recorder ?? ChangeRecorder(context)
    context.recorder = recorder
  }

  /// Notes what an object is like, before it changes.
  func note(_ object: ManagedObject) {
    if former[ObjectIdentifier(object)] == nil { former[ObjectIdentifier(object)] = FormerObject(object, context) }
  }

  /// Sets apart what was taken over until now: it is no step of the user's.
  func close() { changes.append(recorder.take(context)) }

  func finish() {
    if !wasRecording { context.recorder = nil }
  }

  /// First the links of the graph go back one by one, then the objects that were merged become what they were.
  func takeBack() {
    close()
    // What it needs was in memory a moment ago; a failure leaves a list to be asked anew.
    for set in changes.reversed() { try? context.takeBack(set) }
    _ = recorder.take(context)
    if !wasRecording { context.recorder = nil }
    for object in former.values { object.bringBack(context) }
    context.inserted = inserted
    context.changed = changed
    context.deleted = deleted
    context.deletions = deletions
    context.gone = gone
    for object in changed { object.isNoted = true }
    recorder.forgetInserts(of: context)
  }
}

/// An object as it was before a merge.
private struct FormerObject {
  private let object: ManagedObject
  private let phase: ObjectPhase
  private let attention: Attention
  private let version: Int64
  private let changed: UInt64
  private let isNoted: Bool
  private let row: RowCopyBase
  private let committed: RowCopyBase?
  private let committedTransients: RowCopyBase?
  private let places: [(property: Int, place: Int64?)]

  init(_ object: ManagedObject, _ context: ManagedObjectContext) {
    self.object = object
    phase = object.phase
    attention = object._attention
    version = object.version
    changed = object._changed
    isNoted = object.isNoted
    row = object._copyRow()
    committed = object.extras?.committed
    committedTransients = object.extras?.committedTransients
    places = object.placesOfReferences(context)
  }

  func bringBack(_ context: ManagedObjectContext) {
    object.phase = phase
    object._attention = attention
    object.version = version
    object._restore(.all, from: row)
    for (property, place) in places { object._setPlace(property, place) }
    object._changed = changed
    object.isNoted = isNoted
    object.extras?.forgetCommitted()
    if let committed { object.needExtras().keep(committed, committedTransients) }
    object.extras?.replacement = 0
    context.map.insert(object, for: object._key)
  }
}
