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

  /// Notes an object whose relationship has changed at its own end, without a change of its row.
  func noteRelinked(_ object: ManagedObject) {
    if changes.relinked.last !== object { changes.relinked.append(object) }
  }

  /// Notes a reference that a delete clears.
  func noteCleared(_ reference: ClearedReference) { changes.cleared.append(reference) }

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

// MARK: - Change set

/// Changes of objects in the order in which they were made, each with the state that is needed to revert it.
struct ChangeSet {
  private(set) var changes: ContiguousArray<RecordedChange> = []
  /// The values of the changes that are ``RecordedChange/values(_:)``, by their numbers.
  private(set) var values: ContiguousArray<RecordedValues> = []
  /// Objects that were inserted meanwhile.
  var inserted: [ManagedObject] = []
  /// Whether any value may be a reference, once the set is closed.
  private(set) var setsReferences = false
  /// Objects whose relationships have changed at their end.
  fileprivate(set) var relinked: ContiguousArray<ManagedObject> = []
  /// The references that deletes have cleared. Their former values are among the values of their holders.
  fileprivate(set) var cleared: [ClearedReference] = []

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
    for number in values.indices where !values[number].close(graph, &setsReferences) { isAnyEmpty = true }
    for object in inserted { object.state.setUnrecorded(true) }
    for object in relinked { object.state.setUnrecorded(true) }
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
    left.relinked.removeAll { replaced[$0._key] != nil }
    left.cleared.removeAll { replaced[$0.holder._key] != nil || replaced[$0.victim] != nil }
    left.removeChanges { change in
      switch change {
      case .pair(let pair): replaced[pair.owner] != nil || replaced[pair.member] != nil
      case .place(let place): replaced[place.owner] != nil || replaced[place.anchor.key] != nil
      default: object(of: change).map { replaced[$0._key] != nil } ?? false
      }
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

  /// The keys of the objects that reverting the set deletes again.
  var redeleted: Set<Int64> {
    var keys: Set<Int64> = []
    for change in changes.reversed() {
      switch change {
      case .revived(let object): keys.insert(object._key)
      case .deleted(let object): keys.remove(object._key)
      default: break
      }
    }
    return keys
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
    case .values, .pair, .place: nil
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
    let relinked = changes.relinked.count
    while place < inserted + relinked + changes.changes.count {
      defer { place += 1 }
      if place < inserted { return changes.inserted[place] }
      if place < inserted + relinked { return changes.relinked[place - inserted] }
      if let object = changes.object(of: changes.changes[place - inserted - relinked]) { return object }
    }
    return nil
  }
}

/// One change, with the previous state.
enum RecordedChange {
  /// Values were set. The set has the former ones under this number.
  case values(Int)
  /// A pair in a join table was linked or unlinked.
  indirect case pair(RecordedPair)
  /// A member of an ordered to-many left its position.
  indirect case place(RecordedPlace)
  /// The members of a to-many were reordered.
  indirect case order(RecordedOrder)
  /// The partner of a to-one that exists only in memory changed.
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
  fileprivate mutating func close(_ graph: ObjectGraph, _ setsReferences: inout Bool) -> Bool {
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
    if bits & info.referenceMask.bits != 0 { setsReferences = true }
    return differs
  }

  /// Whether any value differs from the former one.
  var differs: Bool { bits != 0 }

  /// Whether a property differs from the former value.
  func differs(in property: Int) -> Bool {
    bits & ColumnMask.bit(of: property) != 0 && (property < 63 || late?.contains(property) == true)
  }

  /// Calls a closure with masks of exactly the properties that differ.
  ///
  /// - Parameter kept: The numbers of properties that are left out.
  func forEachMask(except kept: [Int], _ body: (ColumnMask) -> Void) {
    let all = kept.reduce(bits) { $1 < 63 ? $0 & ~ColumnMask.bit(of: $1) : $0 }
    guard let late else { return body(ColumnMask(bits: all)) }
    body(ColumnMask(bits: all & ~ColumnMask.bit(of: 63)))
    for property in late where !kept.contains(property) { body(ColumnMask(only: property)) }
  }
}

/// A pair in a join table that was linked or unlinked.
struct RecordedPair {
  let owner: Int64
  let relationship: Relationship
  let member: Int64
  /// Whether it was linked before.
  let wasLinked: Bool
  /// Whether that was as in the store.
  let wasStored: Bool
  /// The number of saves before the change.
  let saves: Int
}

/// The position that a member of an ordered to-many had.
struct RecordedPlace {
  let owner: Int64
  let relationship: Relationship
  let anchor: MemberAnchor
  /// The number of saves before the change.
  let saves: Int
}

/// A to-many whose members were put into another order.
struct RecordedOrder {
  let owner: ManagedObject
  let relationship: Relationship
  /// The order before the change.
  let former: ContiguousArray<Int64>
  /// The order after it.
  let changed: ContiguousArray<Int64>
  /// The members whose position was chosen here before the change.
  let placed: Set<Int64>
  /// The number of saves before the change.
  let saves: Int
}

// MARK: - Lost reference

/// A reference of an object to a target that no longer exists.
struct LostReference {
  let object: ManagedObject
  let relationship: Relationship
}
