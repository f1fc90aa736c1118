/// Records what is done to the graph of a context, at the few places that every change goes through.
///
/// An object's values are copied before the first of them is set; after that its setters do not stop any more until the set of
/// changes is closed. Then the objects in it are marked, so that the next write stops again.
final class ChangeRecorder {
  private var changes = ChangeSet()
  /// The objects whose values are copied already.
  private var copied: Set<ObjectIdentifier> = []
  /// How many of the context's new objects belong to sets that are closed.
  private var knownInserts: Int

  init(_ context: ManagedObjectContext) {
    knownInserts = context.inserted.count
    for object in context.inserted { object.state.setUnrecorded(true) }
    for object in context.changed { object.state.setUnrecorded(true) }
  }

  // MARK: What changes call, before they are made

  func recordValues(of object: ManagedObject) {
    if copied.insert(ObjectIdentifier(object)).inserted { changes.append(.values(RecordedValues(object))) }
  }

  func record(_ change: RecordedChange) { changes.append(change) }

  func recordMember(
    _ key: Int64, isComing: Bool, list: MemberList, owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: RelationshipInfo, saves: Int
  ) {
    let trace = list.trace(of: key, isComing: isComing, saves: saves)
    changes.append(
      .member(RecordedMember(owner: owner, ownerKey: ownerKey, relationship: relationship, trace: trace)))
  }

  // MARK: Sets

  /// Closes the set of changes, and begins a new one.
  func take(_ context: ManagedObjectContext) -> ChangeSet {
    addInserts(of: context)
    var taken = changes
    taken.close()
    for object in changes.touched { object.state.setUnrecorded(true) }
    changes = ChangeSet()
    copied.removeAll(keepingCapacity: true)
    return taken
  }

  /// New objects need not be recorded one by one: the context lists them in order.
  func addInserts(of context: ManagedObjectContext) {
    if knownInserts < context.inserted.count { changes.inserted += context.inserted[knownInserts...] }
    knownInserts = context.inserted.count
  }

  /// The context's list of new objects was made anew; all of them are known.
  func forgetInserts(of context: ManagedObjectContext) { knownInserts = context.inserted.count }
}

extension ManagedObjectContext {
  /// Loads the ends of a link whose order a change would disturb, since only then can it be put back; and those in a join
  /// table, where only the store knows whether the two are linked already.
  func prepareRecording(_ object: ManagedObject, _ relationship: RelationshipInfo, _ partner: Int64) {
    guard recorder != nil else { return }
    if relationship.isOrdered || relationship.isJoined { _ = loadedList(of: object, relationship) }
    guard let inverse = runtime.inverse(of: relationship), inverse.isOrdered || inverse.isJoined else { return }
    if let partner = map[partner] ?? loadObject(partner, entity: relationship.destination) {
      _ = loadedList(of: partner, inverse)
    }
  }
}
