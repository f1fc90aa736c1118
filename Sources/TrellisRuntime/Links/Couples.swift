import TrellisModel
import TrellisStorage

/// A disagreement between the two halves of a one-to-one relationship that is its own inverse.
///
/// The reference is stored in the rows of both partners. A merge takes over one row and leaves the other one if that is
/// edited, so the halves may differ until a save, which writes both halves or neither.
struct CoupleAgreement {
  let object: ManagedObject
  let relationship: Relationship
  /// The partner whose half differs, and the object that this half refers to.
  let partner: ManagedObject
  let other: ManagedObject?

  /// All objects whose half may change.
  var objects: [ManagedObject] { [object, partner] + (other.map { [$0] } ?? []) }

  /// Makes both halves agree. If the partner was set to another object here, it keeps that object, and this object's
  /// reference is cleared. Any other partner takes over this object's half.
  func carryOut(_ graph: ObjectGraph) {
    if object._reference(relationship.property) != partner._key {
      graph.unlink(partner, relationship, object._key)
    } else if other != nil && partner.hasOwnReference(relationship) {
      graph.unlink(object, relationship, partner._key)
    } else {
      if let other, other !== partner { graph.unlink(other, relationship, partner._key) }
      graph.setReference(of: partner, relationship, to: object._key)
    }
  }
}

extension ObjectGraph {
  /// Makes both halves of couples agree that are in memory, after others have changed one of them, or one of them has
  /// returned to what it was. A half that was set here decides.
  ///
  /// - Parameter objects: Objects whose rows were read or restored.
  /// - Complexity: linear in the number of changed objects if the model has such a relationship, otherwise constant; linear
  ///   in the number of objects in memory while others have changed a half that was set here.
  func settleCouples(around objects: [ManagedObject] = []) {
    guard runtime.hasCouples, let disagreements = try? coupleDisagreements(loading: false) else { return }
    withoutRecording { for disagreement in disagreements { disagreement.carryOut(self) } }
    if hasConflictOfCouples { map.forEach(releaseHalves) } else { for object in objects { releaseHalves(of: object) } }
  }

  /// Clears the halves of an object that the store has, if their partners were set to other objects here while it was not
  /// in memory, or before others have saved it.
  func releaseHalves(of object: ManagedObject) {
    guard object.isAlive, !object.accessFlags.contains(.fault) else { return }
    for relationship in info(of: object).couples where !object.hasOwnReference(relationship) {
      let key = object._reference(relationship.property)
      guard key > 0, let partner = map[key], partner !== object, partner.isAlive,
        partner.hasOwnReference(relationship), partner._reference(relationship.property) != object._key
      else { continue }
      withoutRecording { unlink(object, relationship, key) }
    }
  }

  private var hasConflictOfCouples: Bool {
    backlog.conflicts.contains { key, properties in
      map[key].map { info(of: $0).couples.contains { properties.contains($0.property) } } == true
    }
  }

  /// The couples that a save would write and whose halves differ.
  ///
  /// - Parameter loads: Whether partners are loaded to be compared.
  /// - Throws: ``StoreError`` if a partner has to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects if the model has such a relationship, otherwise constant.
  func coupleDisagreements(loading loads: Bool = true) throws -> [CoupleAgreement] {
    guard runtime.hasCouples else { return [] }
    var halves: [(object: ManagedObject, relationship: Relationship, former: Int64)] = []
    for object in inserted + changed where object.isAlive && object.changedBits != 0 {
      for relationship in info(of: object).couples where object.hasOwnReference(relationship) {
        halves.append((object, relationship, object.committedRow?.value(relationship.property).key ?? 0))
      }
    }
    // A former partner may have left memory since, or have to be read again because another context has saved it.
    for (entity, some) in loads ? Dictionary(grouping: halves, by: \.relationship.destination).sortedByKey : [] {
      let keys = some.flatMap { [$0.former, $0.object._reference($0.relationship.property)] }.filter { $0 > 0 }
      if keys.contains(where: { map[$0]?.accessFlags.contains(.fault) != false }) {
        try loadForChange(keys.sortedWithoutRepeats, entity: entity)
      }
    }
    return halves.flatMap { half in
      let former = formerPartner(of: half.object, half.relationship, half.former)
      return [former, presentPartner(of: half.object, half.relationship)].compactMap(\.self)
    }
  }

  private func formerPartner(
    of object: ManagedObject, _ relationship: Relationship, _ key: Int64
  ) -> CoupleAgreement? {
    guard key > 0, key != object._reference(relationship.property), let former = map[key], former !== object,
      former.isAlive, !former.accessFlags.contains(.fault), former._reference(relationship.property) == object._key,
      !former.hasOwnReference(relationship)
    else { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: former, other: nil)
  }

  private func presentPartner(of object: ManagedObject, _ relationship: Relationship) -> CoupleAgreement? {
    let key = object._reference(relationship.property)
    guard key > 0, key != object._key, let partner = map[key], partner.isAlive, !partner.accessFlags.contains(.fault)
    else { return nil }
    let other = partner._reference(relationship.property)
    if other == object._key { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: partner, other: map[other])
  }
}
