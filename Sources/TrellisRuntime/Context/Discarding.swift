import TrellisStorage

/// Gives up the edits of one object, so that both ends of its relationships still agree.
extension ManagedObjectContext {
  /// - Throws: ``StoreError`` or ``GraphProblem`` when what has to follow cannot be loaded; then nothing is discarded.
  func discardChanges(of object: ManagedObject) throws {
    let relationships = info(of: object).allRelationships
    // What was noted before the object was in memory is an edit of it, too.
    if !waiting.lists.isEmpty {
      for relationship in relationships where relationship.isJoined { _ = list(of: object, relationship) }
    }
    guard object.isNoted else { return }
    var former: [(relationship: RelationshipInfo, partners: [Int64])] = []
    for relationship in relationships where relationship.isColumn || relationship.isJoined {
      guard let partners = try formerPartners(of: object, relationship) else { continue }
      try loadForChange(partners, of: relationship)
      former.append((relationship, partners))
    }
    for (relationship, partners) in former { link(object, relationship, to: partners) }
    restoreValues(of: object)
    for relationship in relationships { forgetOwnChanges(of: object, relationship) }
    if !object.hasChanges {
      object.isNoted = false
      changed.removeAll { $0 === object }
    }
  }

  /// The partners that the store has; nil where nothing was changed.
  private func formerPartners(of object: ManagedObject, _ relationship: RelationshipInfo) throws -> [Int64]? {
    guard relationship.isColumn else {
      guard let list = object.extras?.list(relationship.property), list.hasChanges else { return nil }
      if !list.isLoaded { try loadKeys(of: [object], relationship) }
      return Array(list.committed ?? list.keys)
    }
    guard let committed = object.extras?.committed else { return nil }
    let present = object._reference(relationship.property)
    object._restore(ColumnMask(bits: ColumnMask.bit(of: relationship.property)), from: committed)
    let former = object._reference(relationship.property)
    object._setReference(relationship.property, present)
    return former == present ? nil : former == 0 ? [] : [former]
  }

  /// Makes former partners partners again, as far as they live, and lets go of the others.
  private func link(_ object: ManagedObject, _ relationship: RelationshipInfo, to former: [Int64]) {
    let present = presentPartners(of: object, relationship)
    for key in present where !former.contains(key) { disconnect(object, relationship, key) }
    for key in former where !present.contains(key) {
      if let partner = map[key], partner.phase == .persistent { connect(object, relationship, partner) }
    }
  }

  /// Puts attributes back; references are back already, or lead to nobody any more.
  private func restoreValues(of object: ManagedObject) {
    guard let committed = object.extras?.committed else { return }
    let references = info(of: object).allRelationships.filter(\.isColumn)
      .map { ($0.property, object._reference($0.property)) }
    object._restore(ColumnMask(bits: object._changed), from: committed)
    for (property, key) in references where object._reference(property) != key { object._setReference(property, key) }
    if object.changedNumbers.isEmpty {
      object.extras?.committed = nil
      object._changed = 0
    }
  }

  /// A list in a join table is loaded anew; one that shows what lies in other rows keeps who came and went, without order.
  private func forgetOwnChanges(of object: ManagedObject, _ relationship: RelationshipInfo) {
    guard let list = object.extras?.list(relationship.property) else { return }
    if relationship.home == .inverseColumn, let inverse = runtime.inverse(of: relationship) {
      return list.unload { key in
        guard let member = map[key] else { return false }
        return member.phase == .inserted || member.changedNumbers.contains(inverse.property)
      }
    }
    object.extras?.lists.removeAll { $0.property == relationship.property }
  }
}
