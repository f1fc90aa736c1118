import TrellisStorage

/// A partner of a one-to-one relationship that several objects refer to: one in this context, and another one that
/// another context has assigned it to since.
struct PartnerClash {
  /// The object that refers to the partner in this context. Its row holds the reference.
  let object: ManagedObject
  let relationship: RelationshipInfo
  let inverse: RelationshipInfo
  let partner: Int64
  /// The other object, which still refers to the partner after the save.
  let holder: ManagedObject
  /// Whether the other object refers to the partner in the store. If not, the save writes both objects.
  let isStored: Bool
}

/// Finds the partners of one-to-one relationships that a save assigns to an object while another object refers to them.
///
/// It runs only after the store has refused a save because of a key, so other saves have no cost.
struct OneToOneConflictFinder {
  fileprivate struct Wanted {
    let relationship: RelationshipInfo
    let inverse: RelationshipInfo
    /// The objects that refer to a partner, by the partner's key.
    var objects: [Int64: [ManagedObject]] = [:]
  }

  private let context: ManagedObjectContext
  private var wanted: [RelationshipNumber: Wanted] = [:]
  /// The written properties of each saved object.
  private var written: [Int64: ColumnMask] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Adds the partners of an object's references, if the references are among the written properties.
  mutating func add(_ object: ManagedObject, _ mask: ColumnMask) {
    if object.phase == .persistent { written[object._key] = mask }
    for relationship in context.info(of: object).allRelationships where mask.contains(relationship.property) {
      guard relationship.isColumn, let inverse = context.runtime.inverse(of: relationship), !inverse.isToMany,
        object._reference(relationship.property) > 0
      else { continue }
      let number = context.number(of: inverse)
      wanted[number, default: Wanted(relationship: relationship, inverse: inverse)]
        .objects[object._reference(relationship.property), default: []].append(object)
    }
  }

  /// Finds the conflicts.
  ///
  /// - Complexity: one search in the store for each relationship.
  func clashes() throws -> [PartnerClash] {
    var found: [PartnerClash] = []
    for (number, wanted) in wanted.sorted(by: { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }) {
      var takers: [Int64: ManagedObject] = [:]
      for (partner, objects) in wanted.objects.sorted(by: { $0.key < $1.key }) {
        let taker = taker(of: partner, among: objects, wanted.inverse)
        takers[partner] = taker
        for other in objects where other !== taker {
          found.append(wanted.clash(taker, partner, other, isStored: false))
        }
      }
      try context.connection().members(of: number, owners: takers.keys.sorted()) { partner, row in
        let holder = try context.object(of: row, batch: 0)
        guard let object = takers[partner], holder !== object, keeps(holder, wanted.relationship) else { return }
        found.append(wanted.clash(object, partner, holder, isStored: true))
      }
    }
    return found
  }

  /// The object that the partner itself refers to, among several objects.
  private func taker(of partner: Int64, among objects: [ManagedObject], _ inverse: RelationshipInfo) -> ManagedObject {
    let known = context.map[partner].map { context.presentPartners(of: $0, inverse) } ?? []
    return objects.first { known.contains($0._key) } ?? objects[0]
  }

  /// Whether an object in the store keeps its partner after the save.
  private func keeps(_ holder: ManagedObject, _ relationship: RelationshipInfo) -> Bool {
    holder.phase == .persistent && written[holder._key]?.contains(relationship.property) != true
  }
}

extension OneToOneConflictFinder.Wanted {
  fileprivate func clash(
    _ object: ManagedObject, _ partner: Int64, _ holder: ManagedObject, isStored: Bool
  ) -> PartnerClash {
    PartnerClash(
      object: object, relationship: relationship, inverse: inverse, partner: partner, holder: holder, isStored: isStored
    )
  }
}

extension PartnerClash {
  /// The conflict under a policy that does not settle it: both sides have assigned another object to the partner.
  func conflict(_ context: ManagedObjectContext) throws -> SaveConflict.Row {
    let shared = try context.object(partner, entity: relationship.destination)
    guard let shared else {
      return SaveConflict.Row(entity: relationship.destination, key: partner)
    }
    if shared.accessFlags.contains(.fault) { try context.refreshRows([shared]) }
    return ConflictedRow(shared, context).partnerTakenByBoth(inverse)
  }

  /// Keeps the partner here. The other object loses it.
  func insist(_ context: ManagedObjectContext) throws {
    guard context.isReady(toDisconnect: holder, relationship, partner) else { return }
    guard isStored else { return context.unlink(holder, relationship, partner) }
    context.disconnect(holder, relationship, partner)
    if let shared = context.map[partner], shared.isAlive { context.take(shared, inverse, object._key) }
  }

  /// Removes the partner from the object and restores the partner that was read.
  func yield(_ context: ManagedObjectContext, isWhole: Bool) throws {
    if object.phase == .inserted {
      context.disconnect(object, relationship, partner)
    } else if isWhole {
      try context.discardChanges(of: object)
    } else {
      try context.rollback(object, [relationship.property])
    }
    if let shared = context.map[partner], shared.isAlive { context.take(shared, inverse, holder._key) }
  }
}
