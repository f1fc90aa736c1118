/// A one-to-one that is its own inverse lies in the rows of both partners. Merges take over one row and leave the other one, where that
/// is edited, so the two may disagree until a save, which writes both halves or neither.
struct CoupleAgreement {
  let object: ManagedObject
  let relationship: RelationshipInfo
  /// The partner whose half differs, and the one to which that leads.
  let partner: ManagedObject
  let other: ManagedObject?

  /// Every object whose half a change makes different.
  var objects: [ManagedObject] { [object, partner] + (other.map { [$0] } ?? []) }

  /// A partner that was set here keeps that, and the object gives it up; any other partner follows.
  func carryOut(_ context: ManagedObjectContext) {
    if object._reference(relationship.property) != partner._key {
      context.unlink(partner, relationship, object._key)
    } else if other != nil && partner.hasOwnReference(relationship) {
      context.unlink(object, relationship, partner._key)
    } else {
      if let other, other !== partner { context.unlink(other, relationship, partner._key) }
      context.take(partner, relationship, object._key)
    }
  }
}

extension ManagedObjectContext {
  /// The couples that a save would write and whose halves disagree.
  ///
  /// - Throws: ``StoreError`` when a partner has to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects, where the model has such a relationship.
  func coupleDisagreements() throws -> [CoupleAgreement] {
    guard runtime.hasCouples else { return [] }
    var found: [CoupleAgreement] = []
    for object in inserted + changed where object.isAlive && object.changedBits != 0 {
      for relationship in info(of: object).couples where object.hasOwnReference(relationship) {
        found += formerPartner(of: object, relationship).map { [$0] } ?? []
        found += try presentPartner(of: object, relationship).map { [$0] } ?? []
      }
    }
    return found
  }

  private func formerPartner(of object: ManagedObject, _ relationship: RelationshipInfo) -> CoupleAgreement? {
    guard case .integer(let key)? = object.extras?.committed?.value(relationship.property),
      key != object._reference(relationship.property), let former = map[key], former !== object, former.isAlive,
      !former.accessFlags.contains(.fault), former._reference(relationship.property) == object._key,
      !former.hasOwnReference(relationship)
    else { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: former, other: nil)
  }

  private func presentPartner(
    of object: ManagedObject, _ relationship: RelationshipInfo
  ) throws -> CoupleAgreement? {
    let key = object._reference(relationship.property)
    guard key > 0, key != object._key else { return nil }
    if map[key]?.accessFlags.contains(.fault) != false { try loadForChange([key], of: relationship) }
    guard let partner = map[key], partner.isAlive else { return nil }
    let other = partner._reference(relationship.property)
    if other == object._key { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: partner, other: map[other])
  }
}
