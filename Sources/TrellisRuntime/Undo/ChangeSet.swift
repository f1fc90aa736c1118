import TrellisStorage

/// Changes of a graph in the order in which they were made, each with what it takes to take it back.
struct ChangeSet {
  private(set) var changes: [RecordedChange] = []
  /// Objects that were made meanwhile.
  var inserted: [ManagedObject] = []

  var isEmpty: Bool { changes.isEmpty && inserted.isEmpty }

  mutating func append(_ change: RecordedChange) { changes.append(change) }

  /// Finds out which values were set, now that nothing more is recorded; what was set back is no change.
  mutating func close() {
    changes = changes.compactMap { change in
      guard case .values(var values) = change else { return change }
      return values.findDifferences() ? .values(values) : nil
    }
  }

  /// The same without what was done to objects that are of no context any more, as others stand for them.
  func without(_ replaced: [Int64: ManagedObject]) -> ChangeSet {
    var left = self
    left.inserted.removeAll { replaced[$0._key] != nil }
    left.changes.removeAll { change in
      if case .member(let member) = change, replaced[member.trace.key] != nil { return true }
      return change.object.map { replaced[$0._key] != nil } ?? false
    }
    return left
  }

  /// The objects that something was done to.
  var touched: [ManagedObject] { inserted + changes.compactMap(\.object) }
}

/// One change, with what was there before.
enum RecordedChange {
  case values(RecordedValues)
  case member(RecordedMember)
  /// The members of a to-many were put into another order.
  case order(ManagedObject, RelationshipInfo, ContiguousArray<Int64>)
  /// A to-one that lies at the other end got another partner.
  case partner(ManagedObject, RelationshipInfo, Int64)
  case deleted(ManagedObject)
  /// A deleted object was brought back.
  case revived(ManagedObject)

  /// The object that was changed; nil when it is not in memory.
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
  /// The values that were set, among them every transient one, which are compared with nothing.
  private(set) var differences: [Int] = []
  /// What was set already, and in which version of the row.
  private let changedBefore: UInt64
  private let version: Int64

  init(_ object: ManagedObject) {
    self.object = object
    changedBefore = object.changedBits
    version = object.version
    row = object._copyRow()
    transients = object._copyTransients()
  }

  /// - Returns: whether any value is another one now.
  mutating func findDifferences() -> Bool {
    guard let info = object.link.context?.info(of: object) else { return false }
    differences = []
    // While the row is of one version, a value can only differ that has been set, or was set before and has been put back.
    let candidates = object.version == version ? changedBefore | object.changedBits : info.storedMask.bits
    object.collectDifferences(from: row, among: candidates, info, into: &differences)
    if transients != nil { differences += info.transientNumbers }
    return !differences.isEmpty
  }
}

/// A member that came to a to-many, left it, or moved in it.
struct RecordedMember {
  /// The object that has the to-many; nil when it was not in memory.
  let owner: ManagedObject?
  let ownerKey: Int64
  let relationship: RelationshipInfo
  let trace: MemberTrace
}
