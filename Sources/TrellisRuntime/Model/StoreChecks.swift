import TrellisModel

/// The relationships of an entity that a save has to check again inside its transaction. Most entities have none.
struct StoreChecks: Sendable {
  /// To-many relationships of the entity with rules for their number of members.
  private(set) var counted: [RelationshipInfo] = []
  /// References in the entity's rows with a required to-one or a counted to-many relationship as inverse.
  private(set) var needed: [RelationshipInfo] = []
  /// Relationships of other entities, in join tables, that must keep a minimum number of members of this entity.
  private(set) var keepers: [RelationshipInfo] = []
  /// Relationships in join tables with a delete rule of `deny` or `cascade`.
  private(set) var denials: [RelationshipInfo] = []

  /// Whether the save of a changed or deleted object may have to be checked again.
  var concernsChanges: Bool { !counted.isEmpty || !needed.isEmpty }
  var concernsDeletes: Bool { !needed.isEmpty || !keepers.isEmpty || !denials.isEmpty }

  init(
    _ relationships: [RelationshipInfo], oneWay: [EntityInfo.RelationshipNumberedInfo],
    inverse: (RelationshipInfo) -> RelationshipInfo?
  ) {
    for relationship in relationships where !relationship.isTransient {
      if relationship.isToMany && relationship.isCounted { counted.append(relationship) }
      if relationship.isJoined && [.deny, .cascade].contains(relationship.deleteRule) { denials.append(relationship) }
      guard let inverse = inverse(relationship) else { continue }
      if relationship.isColumn && (inverse.isCounted || inverse.isRequired) { needed.append(relationship) }
      if inverse.isJoined && inverse.minimumCount != nil { keepers.append(inverse) }
    }
    for reference in oneWay where reference.relationship.isJoined && reference.relationship.minimumCount != nil {
      keepers.append(reference.relationship)
    }
  }
}

// MARK: - Store cascade

/// The rows that a cascade along one relationship reaches, if the store can perform it. That requires that the members
/// store the reference, and that the reached entities have no delete hooks and no partners that deny a delete, count
/// their members or require the reference.
struct StoreCascade: Sendable {
  /// The entities of rows that may be deleted.
  private(set) var entities: Set<Int> = []
  /// The root entities of their hierarchies, which have the tables that contain the rows.
  private(set) var roots: Set<Int> = []
  /// The references from the deleted rows to their deleted owners.
  private(set) var references: [RelationshipInfo] = []
  /// Relationships of other objects that may refer to such rows.
  private(set) var ties: [RelationshipInfo] = []

  /// Returns nil if the members have to be loaded.
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

  /// - Returns: whether rows of an entity may be deleted without being loaded.
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
