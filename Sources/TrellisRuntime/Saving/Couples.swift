/// A disagreement between the two halves of a one-to-one relationship that is its own inverse.
///
/// The reference is stored in the rows of both partners. A merge takes over one row and leaves the other one if that is
/// edited, so the halves may differ until a save, which writes both halves or neither.
struct CoupleAgreement {
  let object: ManagedObject
  let relationship: RelationshipInfo
  /// The partner whose half differs, and the object that this half refers to.
  let partner: ManagedObject
  let other: ManagedObject?

  /// All objects whose half may change.
  var objects: [ManagedObject] { [object, partner] + (other.map { [$0] } ?? []) }

  /// Makes both halves agree. If the partner was set to another object here, it keeps that object, and this object's
  /// reference is cleared. Any other partner takes over this object's half.
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
  /// The couples that a save would write and whose halves differ.
  ///
  /// - Throws: ``StoreError`` if a partner has to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects if the model has such a relationship, otherwise constant.
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
