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

  /// The relationship of a number; nil when there is none.
  package func relationship(_ number: RelationshipNumber) -> Relationship? {
    guard entities.indices.contains(number.entity) else { return nil }
    let properties = entities[number.entity].properties
    return properties.indices.contains(number.property) ? properties[number.property].relationship : nil
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

extension Relationship {
  /// Whether pairs in a table of their own hold it.
  package var isJoined: Bool {
    if case .joinTable = home { true } else { false }
  }
}
