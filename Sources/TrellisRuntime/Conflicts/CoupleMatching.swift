import TrellisSchema
import TrellisStorage

/// Makes the partners of one-to-one relationships that are their own inverse agree after rows were merged one by one.
///
/// Such a reference is stored in the rows of both partners. A merge may have changed only one of the two rows, or each
/// for a different reason. A save writes both halves of a couple, or neither.
struct CoupleMatching {
  fileprivate struct Half {
    let object: ManagedObject
    let relationship: RelationshipInfo
    /// The partner in the store, and the partner here before the merge.
    let theirs: Int64
    let former: Int64
    /// Whether the partner was set in this context.
    let isMine: Bool
  }

  private let context: ManagedObjectContext
  private var halves: [Half] = []
  /// The partners whose own halves were set in this context, by relationship.
  private var setHere: Set<SetHalf> = []

  private struct SetHalf: Hashable {
    let object: Int64
    let relationship: RelationshipNumber
  }

  /// Notes the halves before the merge.
  init(_ objects: [ManagedObject], _ stored: [Int64: StoredVersion], _ context: ManagedObjectContext) {
    self.context = context
    for object in objects {
      guard let row = stored[object._key]?.row else { continue }
      for relationship in context.info(of: object).allRelationships where relationship.isOwnInverse {
        guard relationship.isColumn else { continue }
        halves.append(
          Half(
            object: object, relationship: relationship, theirs: row.value(relationship.property).key,
            former: object._reference(relationship.property),
            isMine: object.changedNumbers.contains(relationship.property)))
        let stored = row.value(relationship.property).key
        if let partner = context.map[stored], partner.changedNumbers.contains(relationship.property) {
          setHere.insert(SetHalf(object: stored, relationship: context.number(of: relationship)))
        }
      }
    }
  }

  /// Makes the halves agree. Merged halves win; partners that are unchanged since they were read follow them.
  func match() throws {
    let halves = halves.filter { $0.object.phase == .persistent }
    for half in halves { try context.bringUpToDate([half.theirs, half.former, half.present], half.relationship) }
    for half in halves where half.theirs != half.present { unlink(half.theirs, of: half.object, half.relationship) }
    for half in halves { try agree(half) }
    try context.throwPendingFailure()
  }

  private func agree(_ half: Half) throws {
    let (object, relationship) = (half.object, half.relationship)
    guard let partner = context.map[half.present], partner.isAlive,
      partner._reference(relationship.property) != object._key
    else { return }
    let isSetHere = partner.changedNumbers.contains(relationship.property)
    let wasSetHere = setHere.contains(
      SetHalf(object: partner._key, relationship: context.number(of: relationship)))
    if half.present == half.theirs, isSetHere, !wasSetHere {
      // Rolling back the object's half has changed the partner's half, which must equal the stored one.
      context.take(partner, relationship, object._key)
      return
    }
    if half.present == half.theirs || (isSetHere && !half.isMine) {
      // A partner whose half was set here keeps it. Otherwise its row in the store has changed since, and the rows are
      // merged again.
      if isSetHere { context.unlink(object, relationship, half.present) }
      return
    }
    let other = partner._reference(relationship.property)
    try context.bringUpToDate([other], relationship)
    unlink(other, of: partner, relationship)
    context.take(partner, relationship, object._key)
  }

  /// Clears a reference to a partner in the object with a key.
  private func unlink(_ key: Int64, of partner: ManagedObject, _ relationship: RelationshipInfo) {
    guard key > 0, let object = context.map[key], object !== partner, object.isAlive else { return }
    context.unlink(object, relationship, partner._key)
  }
}

extension ManagedObjectContext {
  /// Loads objects. Objects that are in memory and not edited take over their rows in the store.
  func bringUpToDate(_ keys: Set<Int64>, _ relationship: RelationshipInfo) throws {
    let wanted = keys.filter { key in
      guard let object = map[key] else { return key > 0 }
      return object.phase == .persistent && !object.isEdited
    }
    if wanted.isEmpty { return }
    let found = Set(try loadObjects(wanted.sorted(), entity: relationship.destination).map(\._key))
    for key in wanted.subtracting(found) {
      if let object = map[key], !object.hasChanges { markDeletedInStore(object) }
    }
  }
}

extension CoupleMatching.Half {
  fileprivate var present: Int64 { object._reference(relationship.property) }
}
