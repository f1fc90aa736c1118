package import TrellisSchema

extension SaveRequest {
  /// Owners that go, and with them their members, these ones' members, and so on, whoever has made them: the store finds them
  /// itself, so nobody has to load them.
  ///
  /// It goes on through relationships that cascade and whose members hold the reference. Pairs in join tables go with their
  /// rows, one-way references to them become nil. Whoever asks sees to it that below there are no other rules: a reference
  /// that would lead nowhere refuses the save.
  public struct Cascades {
    /// A relationship whose members hold the reference.
    public var relationship: RelationshipNumber
    public var owners: [Int64]

    public init(relationship: RelationshipNumber, owners: [Int64]) {
      self.relationship = relationship
      self.owners = owners
    }
  }
}

/// What a save did beyond its request.
public struct SaveOutcome: Hashable, Sendable {
  /// The keys of the rows that cascades have taken along.
  public var cascaded: [Int64]

  public init(cascaded: [Int64] = []) { self.cascaded = cascaded }
}

extension Model {
  /// The relationships by which a cascade goes on from rows of an entity and of those below it.
  ///
  /// - Complexity: linear in the number of their properties.
  package func furtherCascades(from entity: Int) -> [RelationshipNumber] {
    relationships(below: entity) { $0.deleteRule == .cascade && $0.home == .inverseColumn }
  }

  /// The one-way references that may lead to rows of an entity and of those below it.
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

  private func relationships(below entity: Int, _ isWanted: (Relationship) -> Bool) -> [RelationshipNumber] {
    var found: [RelationshipNumber] = []
    for number in entities[entity].subtree {
      for case .relationship(let relationship) in entities[number].properties where isWanted(relationship) {
        // An inherited one is found where it is declared, or at the top of what is looked through.
        guard relationship.entity == number || number == entity else { continue }
        found.append(RelationshipNumber(entity: relationship.entity, property: relationship.index))
      }
    }
    return found
  }
}
