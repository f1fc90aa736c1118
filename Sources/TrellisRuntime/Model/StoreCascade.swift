import TrellisSchema

/// What a cascade along one relationship reaches, where the store can carry it out: members hold the reference, and below
/// there are no hooks of deletes, no partners that forbid one, nobody who counts members, and nobody who would have to let go.
struct StoreCascade: Sendable {
  /// The entities of rows that may go.
  private(set) var entities: Set<Int> = []
  /// The tables that they lie in.
  private(set) var roots: Set<Int> = []
  /// The references by which rows belong to what goes.
  private(set) var references: [RelationshipInfo] = []
  /// Relationships of other objects that may lead to such rows.
  private(set) var ties: [RelationshipInfo] = []

  /// Nil when the members have to be loaded.
  init?(_ relationship: RelationshipInfo, in entities: [EntityInfo]) {
    var open = [relationship]
    while let current = open.popLast() {
      guard current.isToMany, current.deleteRule == .cascade, current.home == .inverseColumn,
        let reference = Self.inverse(of: current, in: entities)
      else { return nil }
      if references.contains(where: reference.isSame) { continue }
      references.append(reference)
      for number in entities[current.destination].entity.subtree where self.entities.insert(number).inserted {
        roots.insert(entities[number].root)
        guard add(entities[number], reference, in: entities, &open) else { return nil }
      }
    }
  }

  private static func inverse(of relationship: RelationshipInfo, in entities: [EntityInfo]) -> RelationshipInfo? {
    relationship.inverse.flatMap { entities[relationship.destination].relationships[$0] }
  }

  /// - Returns: whether rows of an entity may go unseen.
  private mutating func add(
    _ entity: EntityInfo, _ reference: RelationshipInfo, in entities: [EntityInfo], _ open: inout [RelationshipInfo]
  ) -> Bool {
    if entity.hooks.contains(.willDelete) || entity.hooks.contains(.validateDelete) { return false }
    for relationship in entity.allRelationships where !relationship.isSame(as: reference) && !relationship.isTransient {
      if relationship.home == .inverseColumn {
        guard relationship.deleteRule == .cascade && relationship.isToMany else { return false }
        open.append(relationship)
        continue
      }
      guard relationship.deleteRule == .nullify || relationship.deleteRule == .noAction else { return false }
      guard let inverse = Self.inverse(of: relationship, in: entities) else { continue }
      if inverse.isCounted || inverse.isRequired { return false }
      ties.append(inverse)
    }
    for oneWay in entity.oneWayReferences {
      if oneWay.relationship.isRequired || oneWay.relationship.isCounted { return false }
      ties.append(oneWay.relationship)
    }
    return true
  }
}
