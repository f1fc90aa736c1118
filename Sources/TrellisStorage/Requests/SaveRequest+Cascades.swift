package import TrellisSchema

extension SaveRequest {
  /// A cascade from deleted owners: their members, the members of these, and so on are deleted, including those that
  /// other contexts inserted. The store finds the rows itself, so the caller need not load them.
  ///
  /// The cascade follows relationships with the delete rule `cascade` that are stored in the rows of their members.
  /// Pairs in join tables are deleted with their rows, and one-way references to deleted rows become nil. The caller
  /// guarantees that no other rules apply further down: a reference that would dangle makes the save fail.
  public struct Cascades {
    /// A relationship that is stored in the rows of its members.
    public var relationship: RelationshipNumber
    public var owners: [Int64]

    public init(relationship: RelationshipNumber, owners: [Int64]) {
      self.relationship = relationship
      self.owners = owners
    }
  }
}

/// The effects of a save beyond its request.
public struct SaveOutcome: Hashable, Sendable {
  /// The keys of the rows that cascades deleted.
  public var cascaded: [Int64]

  public init(cascaded: [Int64] = []) { self.cascaded = cascaded }
}

extension Model {
  /// The relationships that continue a cascade from the rows of an entity and its descendants.
  ///
  /// - Complexity: linear in the number of their properties.
  package func furtherCascades(from entity: Int) -> [RelationshipNumber] {
    relationships(below: entity) { $0.deleteRule == .cascade && $0.home == .inverseColumn }
  }

  /// The one-way references that may lead to rows of an entity and its descendants.
  ///
  /// - Complexity: linear in the number of properties of the model.
  package func oneWayColumns(to entity: Int) -> [RelationshipNumber] {
    entities.filter { $0.parent == nil }.flatMap { root in
      relationships(below: root.index) { relationship in
        relationship.inverse == nil && relationship.column != nil
          && entities[relationship.destination].root == entities[entity].root
      }
    }
  }

  /// The one-way relationships in join tables that may lead to rows of an entity.
  ///
  /// - Complexity: linear in the number of properties of the model.
  func oneWayPairs(to entity: Int) -> [Relationship] {
    entities.flatMap { source in
      source.properties.compactMap(\.relationship).filter { relationship in
        relationship.entity == source.index && relationship.inverse == nil && relationship.isJoined
          && entities[relationship.destination].subtree.contains(entity)
      }
    }
  }

  /// The relationship with a number; nil if there is none.
  package func relationship(_ number: RelationshipNumber) -> Relationship? {
    guard entities.indices.contains(number.entity) else { return nil }
    let properties = entities[number.entity].properties
    return properties.indices.contains(number.property) ? properties[number.property].relationship : nil
  }

  private func relationships(below entity: Int, _ isWanted: (Relationship) -> Bool) -> [RelationshipNumber] {
    var found: [RelationshipNumber] = []
    for number in entities[entity].subtree {
      for case .relationship(let relationship) in entities[number].properties where isWanted(relationship) {
        // An inherited relationship is found at its declaring entity, or at the top of the searched subtree.
        guard relationship.entity == number || number == entity else { continue }
        found.append(RelationshipNumber(entity: relationship.entity, property: relationship.index))
      }
    }
    return found
  }
}

extension Relationship {
  /// Whether the relationship is stored in a join table.
  package var isJoined: Bool {
    if case .joinTable = home { true } else { false }
  }
}
