import TrellisModel
import TrellisStorage

/// Counts the members of the to-manys that have a rule for it, since a store of Core Data may break its own.
final class MemberCounts {
  /// The numbers of members, by the key of the owner.
  private var counts: [RelationshipNumber: [Int64: Int]] = [:]

  func add(to owner: Int64, of relationship: RelationshipNumber) {
    counts[relationship, default: [:]][owner, default: 0] += 1
  }

  /// Tells the rows that have too few or too many members.
  ///
  /// - Complexity: linear in the rows of the entities with such a rule.
  func tell(_ plan: CopyPlan) {
    for entity in plan.model.entities {
      for relationship in entity.properties.compactMap(\.relationship)
      where relationship.entity == entity.index && relationship.isToMany && relationship.isCounted
        && !relationship.isTransient
      {
        tell(relationship, of: entity, plan)
      }
    }
  }

  private func tell(_ relationship: Relationship, of entity: Entity, _ plan: CopyPlan) {
    guard let index = plan.rows[entity.root] else { return }
    let counts = counts[relationship.number] ?? [:]
    let name = plan.sourceName(of: relationship)
    for place in 0..<index.count
    where index.isIncluded(place) && plan.model.isEntity(Int(index.entities[place]), within: entity.index) {
      let count = counts[index.keys[place]] ?? 0
      let bound: String
      if let least = relationship.minimumCount, count < least, count > 0 || !relationship.isOptional {
        bound = "must have at least \(least)"
      } else if let most = relationship.maximumCount, count > most {
        bound = "may have at most \(most)"
      } else {
        continue
      }
      plan.findings.note(
        .kept, plan.sourceName(Int(index.entities[place])), name,
        "breaks a rule: it has \(count) members, and \(bound)",
        key: index.primaryKeys[place])
    }
  }
}
