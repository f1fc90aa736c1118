import TrellisModel
import TrellisStorage

/// Records the changes of a context's objects, at the few functions that every change passes through.
///
/// An object's values are copied before the first of them is set; its other setters are not intercepted until the set
/// of changes is closed. Then the objects of the set are marked, so that the next write is intercepted again.
final class ChangeRecorder {
  // Only the methods below access the set, and none calls other code while it does: accesses cannot overlap.
  @exclusivity(unchecked) private var changes = ChangeSet()
  /// The number of the context's new objects that belong to closed sets.
  private var knownInserts: Int

  init(_ graph: ObjectGraph) {
    knownInserts = graph.inserted.count
    for object in graph.inserted { object.state.setUnrecorded(true) }
    for object in graph.changed { object.state.setUnrecorded(true) }
  }

  // MARK: Recording, before a change is made

  /// - Returns: a copy of the present values; nil if the set has an earlier one.
  func recordValues(of object: ManagedObject) -> RowCopyBase? {
    if object.state.isRecorded { return nil }
    object.state.setRecorded(true)
    let copy = object.copyValues()
    changes.append(RecordedValues(object, copy))
    return copy
  }

  func record(_ change: RecordedChange) { changes.append(change) }

  func recordMember(
    _ key: Int64, isComing: Bool, list: MemberList, owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: Relationship, at moment: GraphMoment
  ) {
    let trace = list.trace(of: key, isComing: isComing, at: moment)
    changes.append(
      .member(RecordedMember(owner: owner, ownerKey: ownerKey, relationship: relationship, trace: trace)))
  }

  // MARK: Sets

  /// Closes the set of changes and begins a new one.
  func take(_ graph: ObjectGraph) -> ChangeSet {
    addInserts(of: graph)
    // Moved, and not copied, so that closing changes it in place.
    var taken = ChangeSet()
    swap(&taken, &changes)
    taken.close(graph)
    return taken
  }

  /// Ends the recording. The changes of the present set are not needed any more.
  func end() { changes.unmark() }

  /// Adds the new objects. They are not recorded one by one, because the context lists them in order.
  func addInserts(of graph: ObjectGraph) {
    if knownInserts < graph.inserted.count { changes.inserted += graph.inserted[knownInserts...] }
    knownInserts = graph.inserted.count
  }

  /// Counts all new objects as known, after the context's list of them was rebuilt.
  func forgetInserts(of graph: ObjectGraph) { knownInserts = graph.inserted.count }
}

extension ObjectGraph {
  /// Records a change of a to-many before it is made, if changes are recorded.
  func recordMember(
    _ key: Int64, isComing: Bool, list: MemberList, owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: Relationship
  ) {
    recorder?.recordMember(
      key, isComing: isComing, list: list, owner: owner, ownerKey, relationship, at: moment)
  }

  /// Loads both ends of a link before a change: ordered lists, because their order can only be restored if it is known,
  /// and lists in a join table, because only the store knows whether the two objects are linked already.
  func prepareRecording(_ object: ManagedObject, _ relationship: Relationship, _ partner: Int64) throws {
    guard recorder != nil else { return }
    if relationship.isOrdered || relationship.isJoined { try loadedList(of: object, relationship) }
    guard let inverse = runtime.inverse(of: relationship), inverse.isOrdered || inverse.isJoined else { return }
    if let partner = try loading(relationship, { try self.object(partner, entity: relationship.destination) }) {
      try loadedList(of: partner, inverse)
    }
  }
}

// MARK: - Change set

/// Changes of objects in the order in which they were made, each with the state that is needed to revert it.
struct ChangeSet {
  private(set) var changes: ContiguousArray<RecordedChange> = []
  /// The values of the changes that are ``RecordedChange/values(_:)``, by their numbers.
  private(set) var values: ContiguousArray<RecordedValues> = []
  /// Objects that were inserted meanwhile.
  var inserted: [ManagedObject] = []

  var isEmpty: Bool { changes.isEmpty && inserted.isEmpty }

  mutating func append(_ change: RecordedChange) { changes.append(change) }

  mutating func append(_ values: RecordedValues) {
    changes.append(.values(self.values.count))
    self.values.append(values)
  }

  /// Finds the values that were set, after the last change is recorded; a value that was set back does not count. The
  /// objects of the set are marked, so that their next change is recorded in another set.
  mutating func close(_ graph: ObjectGraph) {
    var isAnyEmpty = false
    for number in values.indices where !values[number].close(graph) { isAnyEmpty = true }
    for object in inserted { object.state.setUnrecorded(true) }
    for change in changes { if let object = otherObject(of: change) { object.state.setUnrecorded(true) } }
    if isAnyEmpty { removeChanges { _ in false } }
  }

  /// The objects are recorded by no set any more.
  func unmark() {
    for values in values { values.object.state.setRecorded(false) }
  }

  /// The set without the changes of objects that were replaced by other objects and belong to no context any more.
  func without(_ replaced: [Int64: ManagedObject]) -> ChangeSet {
    var left = self
    left.inserted.removeAll { replaced[$0._key] != nil }
    left.removeChanges { change in
      if case .member(let member) = change, replaced[member.trace.key] != nil { return true }
      return object(of: change).map { replaced[$0._key] != nil } ?? false
    }
    return left
  }

  /// Removes changes, and those of values that do not differ.
  private mutating func removeChanges(where isRemoved: (RecordedChange) -> Bool) {
    let all = self
    (changes, values) = ([], [])
    for change in all.changes where !isRemoved(change) {
      if case .values(let number) = change {
        if all.values[number].differs { append(all.values[number]) }
      } else {
        append(change)
      }
    }
  }

  /// The changes of to-manys.
  var members: [RecordedMember] {
    changes.compactMap { change in if case .member(let member) = change { member } else { nil } }
  }

  /// The objects that were inserted or changed, each as often as it was.
  var touched: TouchedObjects { TouchedObjects(changes: self) }

  /// The object of a change; nil if it was not in memory.
  fileprivate func object(of change: RecordedChange) -> ManagedObject? {
    if case .values(let number) = change { values[number].object } else { otherObject(of: change) }
  }

  /// The object of a change of anything but values; nil if it was not in memory.
  private func otherObject(of change: RecordedChange) -> ManagedObject? {
    switch change {
    case .values: nil
    case .member(let member): member.owner
    case .order(let order): order.owner
    case .partner(let object, _, _), .deleted(let object), .revived(let object): object
    }
  }
}

/// The objects of a set of changes, one after the other: an array of them would retain each once more.
struct TouchedObjects: Sequence, IteratorProtocol {
  let changes: ChangeSet
  private var place = 0

  init(changes: ChangeSet) { self.changes = changes }

  mutating func next() -> ManagedObject? {
    let inserted = changes.inserted.count
    while place < inserted + changes.changes.count {
      defer { place += 1 }
      if place < inserted { return changes.inserted[place] }
      if let object = changes.object(of: changes.changes[place - inserted]) { return object }
    }
    return nil
  }
}

/// One change, with the previous state.
enum RecordedChange {
  /// Values were set. The set has the former ones under this number.
  case values(Int)
  /// Boxed, because it is several times the size of all others.
  indirect case member(RecordedMember)
  /// The members of a to-many were reordered.
  indirect case order(RecordedOrder)
  /// The partner of a to-one that is stored in the partner's row changed.
  case partner(ManagedObject, Relationship, Int64)
  case deleted(ManagedObject)
  /// A deleted object was restored.
  case revived(ManagedObject)
}

/// The values of an object before the first of them was set.
struct RecordedValues {
  let object: ManagedObject
  /// The former values.
  let row: RowCopyBase
  /// The properties that were changed before; later those whose values differ, as the bits of a ``ColumnMask``. They
  /// include all transient ones, which are not compared.
  private var bits: UInt64
  /// The row version at that time.
  private let version: Int64
  /// The numbers of the properties that differ and share the last bit.
  private var late: [Int]?

  init(_ object: ManagedObject, _ row: RowCopyBase) {
    self.object = object
    self.row = row
    bits = object.changedBits
    version = object.version
  }

  /// Finds the values that differ. The object's next change is recorded by another set.
  ///
  /// - Returns: whether any value differs.
  fileprivate mutating func close(_ graph: ObjectGraph) -> Bool {
    object.state.endRecord()
    let info = graph.info(of: object)
    // If the row version is the same, only values can differ that were set, or were changed before and set back.
    let candidates = object.version == version ? bits | object.changedBits : info.storedMask.bits
    bits = object.differences(from: row, among: candidates, info)
    if row.transients != nil { bits |= info.transients.bits }
    if bits & ColumnMask.bit(of: 63) != 0 {
      late =
        object.lateDifferences(from: row, info) + info.transientNumbers.filter { $0 >= 63 && row.transients != nil }
    }
    return differs
  }

  /// Whether any value differs from the former one.
  var differs: Bool { bits != 0 }

  /// Whether a property differs from the former value.
  func differs(in property: Int) -> Bool {
    bits & ColumnMask.bit(of: property) != 0 && (property < 63 || late?.contains(property) == true)
  }

  /// Calls a closure with masks of exactly the properties that differ.
  func forEachMask(_ body: (ColumnMask) -> Void) {
    guard let late else { return body(ColumnMask(bits: bits)) }
    body(ColumnMask(bits: bits & ~ColumnMask.bit(of: 63)))
    for property in late { body(ColumnMask(only: property)) }
  }
}

/// A member that was added to a to-many, removed from it, or moved in it.
struct RecordedMember {
  /// The object that has the to-many; nil if it was not in memory.
  let owner: ManagedObject?
  let ownerKey: Int64
  let relationship: Relationship
  let trace: MemberTrace
}

/// A to-many whose members were put into another order.
struct RecordedOrder {
  let owner: ManagedObject
  let relationship: Relationship
  /// The order before the change.
  let former: ContiguousArray<Int64>
  /// The order after it.
  let changed: ContiguousArray<Int64>
  /// The members in the store, as they were last read before the change.
  let stored: ContiguousArray<Int64>
  /// The members that had other positions than in the store before the change; nil if they are not known.
  let moved: Set<Int64>?
  let moment: GraphMoment
}

/// What tells whether the store, and what a context has read of it, may differ from what it was at a change.
struct GraphMoment: Equatable {
  /// The number of saves of the context.
  var saves = 0
  /// The number of saves of others that the context has merged.
  var merges = 0
}

extension MemberList {
  /// The order that reverts a change of the order, with the members that the list has by now. After a merge, members that
  /// were where the store had them are where the store has them now, and the others follow the members that they followed.
  ///
  /// - Returns: the order, and the members that have other positions in it than in the store; nil if they are not known.
  func order(before change: RecordedOrder, at moment: GraphMoment) -> (keys: [Int64], moved: Set<Int64>?) {
    let former = ContiguousArray(change.former.filter(contains))
    if change.moment.merges == moment.merges {
      let known = Set(former)
      return (former + keys.filter { !known.contains($0) }, nil)
    }
    guard change.moment.saves == moment.saves else {
      let moved = MemberOrder.moved(in: change.former, since: change.changed)
      return (Array(MemberOrder.merged(moved.intersection(former), as: former, into: keys)), nil)
    }
    let stored = ContiguousArray((committed ?? keys).filter(contains))
    let known = Set(stored)
    let wanted = Set(former)
    // What is in neither was added since.
    let theirs = stored + keys.filter { !known.contains($0) && !wanted.contains($0) }
    let moved = change.moved ?? MemberOrder.moved(in: change.former, since: change.stored)
    let mine = wanted.filter { moved.contains($0) || !known.contains($0) }
    return (
      Array(MemberOrder.merged(mine, as: former, into: theirs)), mine.union(theirs.filter { !known.contains($0) })
    )
  }
}

// MARK: - Lost reference

/// A reference of an object to a target that no longer exists.
struct LostReference {
  let object: ManagedObject
  let relationship: Relationship
}

// MARK: - Member trace

/// The state of one key in a list before a change, to be restored later, when the list may have been loaded or saved.
struct MemberTrace {
  let key: Int64
  /// Whether the change added or moved the member; otherwise it removed it.
  let isComing: Bool
  let wasLoaded: Bool
  /// Whether the key was a member. For a list that is not loaded this is inferred from the change.
  let wasMember: Bool
  /// The position among the list's keys; nil if the key was not among them or the position is unknown.
  let place: Int?
  /// The number of keys behind it.
  let behind: Int
  /// The nearest members before it in an ordered list, at most ``mostAnchors``.
  let before: ContiguousArray<Int64>
  /// Whether the key was where the store had it.
  let wasAtStoredPlace: Bool
  /// Whether the key was a member in the store, as far as the list knew.
  let wasStored: Bool
  let moment: GraphMoment
  /// Whether the list had noted the key as removed.
  let wasRemoved: Bool
  /// Whether the list had noted the key as a member that keeps its position if the store has it.
  let wasUnmoved: Bool
  /// The members in their order, if the position alone does not tell where the key is.
  var order: ContiguousArray<Int64>?
}

extension MemberTrace {
  /// The number of preceding members that are noted. A position is that behind the nearest of them that is still there,
  /// since others may insert and remove members anywhere.
  static let mostAnchors = 16

  /// The trace of a deleted member, as if a loaded list still contained it.
  init(ofDeleted key: Int64, in order: ContiguousArray<Int64>) {
    self.init(
      key: key, isComing: false, wasLoaded: true, wasMember: true, place: nil, behind: 0, before: [],
      wasAtStoredPlace: false, wasStored: true, moment: GraphMoment(saves: -1), wasRemoved: false, wasUnmoved: false,
      order: order)
  }
}

extension MemberList {
  func trace(of key: Int64, isComing: Bool, at moment: GraphMoment) -> MemberTrace {
    let place = place(of: key)
    let wasRemoved = removed.contains(key)
    // What is removed from a list that is not loaded, and that has not noted it, is a member in the store.
    let isInferred = place == nil && !(isLoaded || wasRemoved || isComing)
    let isStored = hasRead(key)
    let anchors = isOrdered ? place.map { ContiguousArray(keys[..<$0].suffix(MemberTrace.mostAnchors)) } : nil
    return MemberTrace(
      key: key, isComing: isComing, wasLoaded: isLoaded, wasMember: place != nil || isInferred, place: place,
      behind: place.map { keys.count - 1 - $0 } ?? 0, before: anchors ?? [],
      wasAtStoredPlace: isOrdered && place != nil && isStored && isAtStoredPlace(key),
      wasStored: isStored || isInferred, moment: moment, wasRemoved: wasRemoved, wasUnmoved: unmoved.contains(key),
      order: keptOrder(with: key))
  }

  /// The position of a key before a change. Keys that the list had noted as added before it was loaded are at its end
  /// since.
  private func formerPlace(_ trace: MemberTrace, _ moment: GraphMoment) -> Int? {
    if let order = trace.order { return place(of: trace.key, as: order) }
    guard let place = trace.place else { return committedPlace(of: trace.key) }
    if trace.wasLoaded || !isLoaded {
      // Others have not changed the list, so that the steps after this one are undone exactly.
      if trace.moment.merges == moment.merges { return place }
      if let anchored = self.place(of: trace.key, behind: trace.before.reversed()) { return anchored }
      // Without any of the members that were before it, it is the first.
      return isOrdered && trace.before.count < MemberTrace.mostAnchors ? 0 : place
    }
    return (trace.wasUnmoved ? committedPlace(of: trace.key) : nil) ?? max(0, keys.count - trace.behind)
  }

  /// Restores the state of a key before a change.
  ///
  func revert(_ trace: MemberTrace, at moment: GraphMoment) {
    if trace.wasStored && !trace.isComing && trace.moment.saves == moment.saves {
      if isTakenOutByOthers(trace.key) { return }
      // The store tells whether the member is still one.
      if !isLoaded && removed.contains(trace.key) { return forgetRemoved([trace.key]) }
    }
    let isUntouched =
      !isLoaded && !trace.wasLoaded && (trace.isComing ? keys.contains(trace.key) : removed.contains(trace.key))
    if isUntouched {
      restoreNote(trace)
    } else if trace.isComing && trace.wasMember && !contains(trace.key) {
      // A move of a member that another context has removed since.
    } else if trace.wasMember && trace.order == nil && (trace.place == nil || isBackInStore(trace, moment)) {
      putBack(trace.key)
    } else if trace.wasMember {
      insert(trace.key, at: formerPlace(trace, moment))
    } else {
      remove(trace.key)
    }
  }
}

extension MemberList {
  /// Whether a member was where the store had it, and the store tells where that is now, after a merge.
  private func isBackInStore(_ trace: MemberTrace, _ moment: GraphMoment) -> Bool {
    trace.wasAtStoredPlace && trace.moment.saves == moment.saves && trace.moment.merges != moment.merges
      && inserted != nil && hasRead(trace.key)
  }

  /// Whether a member of the store was removed in this context and is no longer a member in the store.
  ///
  /// A list that is not loaded and has no note of a member is as the store has it.
  private func isTakenOutByOthers(_ key: Int64) -> Bool {
    if isLoaded { return !contains(key) && committed?.contains(key) != true }
    return !removed.contains(key) && !contains(key)
  }
}

extension ObjectGraph {
  /// Restores the state of a member of a to-many before a change.
  func revert(
    _ trace: MemberTrace, in list: MemberList, of owner: ManagedObject?, _ ownerKey: Int64,
    _ relationship: Relationship
  ) {
    recordMember(trace.key, isComing: !trace.isComing, list: list, owner: owner, ownerKey, relationship)
    list.revert(trace, at: moment)
    if let owner { noteListChanged(owner) }
  }
}
