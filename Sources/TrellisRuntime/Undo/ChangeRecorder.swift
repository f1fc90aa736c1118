/// Records the changes of a context's objects, at the few functions that every change passes through.
///
/// An object's values are copied before the first of them is set; its other setters are not intercepted until the set
/// of changes is closed. Then the objects of the set are marked, so that the next write is intercepted again.
final class ChangeRecorder {
  private var changes = ChangeSet()
  /// The objects whose values were copied.
  private var copied: Set<ObjectIdentifier> = []
  /// The number of the context's new objects that belong to closed sets.
  private var knownInserts: Int

  init(_ context: ManagedObjectContext) {
    knownInserts = context.inserted.count
    for object in context.inserted { object.state.setUnrecorded(true) }
    for object in context.changed { object.state.setUnrecorded(true) }
  }

  // MARK: Recording, before a change is made

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

  /// Closes the set of changes and begins a new one.
  func take(_ context: ManagedObjectContext) -> ChangeSet {
    addInserts(of: context)
    var taken = changes
    taken.close()
    for object in changes.touched { object.state.setUnrecorded(true) }
    changes = ChangeSet()
    copied.removeAll(keepingCapacity: true)
    return taken
  }

  /// Adds the new objects. They are not recorded one by one, because the context lists them in order.
  func addInserts(of context: ManagedObjectContext) {
    if knownInserts < context.inserted.count { changes.inserted += context.inserted[knownInserts...] }
    knownInserts = context.inserted.count
  }

  /// Counts all new objects as known, after the context's list of them was rebuilt.
  func forgetInserts(of context: ManagedObjectContext) { knownInserts = context.inserted.count }
}

extension ManagedObjectContext {
  /// Records a change of a to-many before it is made, if changes are recorded.
  func recordMember(
    _ key: Int64, isComing: Bool, list: MemberList, owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: RelationshipInfo
  ) {
    recorder?.recordMember(
      key, isComing: isComing, list: list, owner: owner, ownerKey, relationship, saves: saveCount)
  }

  /// Loads both ends of a link before a change: ordered lists, because their order can only be restored if it is known,
  /// and lists in a join table, because only the store knows whether the two objects are linked already.
  func prepareRecording(_ object: ManagedObject, _ relationship: RelationshipInfo, _ partner: Int64) {
    guard recorder != nil else { return }
    if relationship.isOrdered || relationship.isJoined { _ = loadedList(of: object, relationship) }
    guard let inverse = runtime.inverse(of: relationship), inverse.isOrdered || inverse.isJoined else { return }
    if let partner = map[partner] ?? loadObject(partner, entity: relationship.destination) {
      _ = loadedList(of: partner, inverse)
    }
  }
}
