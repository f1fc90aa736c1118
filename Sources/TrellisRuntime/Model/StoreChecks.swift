import TrellisSchema

/// Which of an entity's relationships a save has to look at again inside its transaction. Most entities have none.
struct StoreChecks: Sendable {
  /// To-manys of the entity whose members are counted.
  private(set) var counted: [RelationshipInfo] = []
  /// References in the entity's rows to objects that need them: by a required to-one, or by counted members.
  private(set) var needed: [RelationshipInfo] = []
  /// Relationships of others, in join tables, that must keep a number of members of this entity.
  private(set) var keepers: [RelationshipInfo] = []
  /// Relationships in join tables whose partners forbid a delete, or go too.
  private(set) var denials: [RelationshipInfo] = []

  /// Whether the save of a changed object, or of a deleted one, may have to be looked at again.
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
