import TrellisSchema

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
