import TrellisStorage

/// Changes of objects in the order in which they were made, each with the state that is needed to revert it.
struct ChangeSet {
  private(set) var changes: [RecordedChange] = []
  /// Objects that were inserted meanwhile.
  var inserted: [ManagedObject] = []

  var isEmpty: Bool { changes.isEmpty && inserted.isEmpty }

  mutating func append(_ change: RecordedChange) { changes.append(change) }

  /// Finds the values that were set, after the last change is recorded; a value that was set back does not count.
  mutating func close() {
    changes = changes.compactMap { change in
      guard case .values(var values) = change else { return change }
      return values.findDifferences() ? .values(values) : nil
    }
  }

  /// The set without the changes of objects that were replaced by other objects and belong to no context any more.
  func without(_ replaced: [Int64: ManagedObject]) -> ChangeSet {
    var left = self
    left.inserted.removeAll { replaced[$0._key] != nil }
    left.changes.removeAll { change in
      if case .member(let member) = change, replaced[member.trace.key] != nil { return true }
      return change.object.map { replaced[$0._key] != nil } ?? false
    }
    return left
  }

  /// The objects that were changed.
  var touched: [ManagedObject] { inserted + changes.compactMap(\.object) }
}

/// One change, with the previous state.
enum RecordedChange {
  case values(RecordedValues)
  case member(RecordedMember)
  /// The members of a to-many were reordered.
  case order(ManagedObject, RelationshipInfo, ContiguousArray<Int64>)
  /// The partner of a to-one that is stored in the partner's row changed.
  case partner(ManagedObject, RelationshipInfo, Int64)
  case deleted(ManagedObject)
  /// A deleted object was restored.
  case revived(ManagedObject)

  /// The object that was changed; nil if it is not in memory.
  var object: ManagedObject? {
    switch self {
    case .values(let values): values.object
    case .member(let member): member.owner
    case .order(let object, _, _), .partner(let object, _, _), .deleted(let object), .revived(let object): object
    }
  }
}

/// The values of an object before the first of them was set.
struct RecordedValues {
  let object: ManagedObject
  let row: RowCopyBase
  let transients: RowCopyBase?
  /// The properties whose values were set. They include all transient ones, which are not compared.
  private(set) var differences: [Int] = []
  /// The values that were changed before, and the row version at that time.
  private let changedBefore: UInt64
  private let version: Int64

  init(_ object: ManagedObject) {
    self.object = object
    changedBefore = object.changedBits
    version = object.version
    row = object._copyRow()
    transients = object._copyTransients()
  }

  /// - Returns: whether any value has changed.
  mutating func findDifferences() -> Bool {
    guard let info = object.link.context?.info(of: object) else { return false }
    differences = []
    // If the row version is the same, only values can differ that were set, or were changed before and set back.
    let candidates = object.version == version ? changedBefore | object.changedBits : info.storedMask.bits
    object.collectDifferences(from: row, among: candidates, info, into: &differences)
    if transients != nil { differences += info.transientNumbers }
    return !differences.isEmpty
  }
}

/// A member that was added to a to-many, removed from it, or moved in it.
struct RecordedMember {
  /// The object that has the to-many; nil if it was not in memory.
  let owner: ManagedObject?
  let ownerKey: Int64
  let relationship: RelationshipInfo
  let trace: MemberTrace
}
