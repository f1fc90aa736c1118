package import TrellisSchema

/// Which rows have to do with the end of rows of an entity, by the rules of the model.
package struct DeleteReach: Sendable {
  /// The entities of rows that may go.
  package private(set) var entities: [Int]
  /// The references, by the entity that declares them, that become nil in rows that stay and grow their versions.
  package private(set) var lettingGo: [RelationshipNumber] = []
  /// Whether somebody has to look at partners that stay: they may forbid it, or must keep a number of members.
  package private(set) var asksPartners = false
  /// Whether nothing but the rows themselves is concerned.
  package private(set) var isAlone = true

  /// - Complexity: linear in the number of properties of the model, for each entity that is reached.
  package init(_ request: StoreRequest, _ model: Model) {
    entities = request.includesSubentities ? model.entities[request.entity].subtree : [request.entity]
    var next = 0
    while next < entities.count {
      let entity = model.entities[entities[next]]
      next += 1
      for case .relationship(let relationship) in entity.properties where relationship.home != .transient {
        add(relationship, model)
      }
      addOneWay(to: entity, model)
    }
  }

  private mutating func add(_ relationship: Relationship, _ model: Model) {
    let inverse = model.inverse(of: relationship)
    let isBeyond = relationship.home == .inverseColumn
    // Pairs go with the row, and members hold a reference to it.
    if relationship.column == nil { isAlone = false }
    switch relationship.deleteRule {
    case .cascade:
      for number in model.entities[relationship.destination].subtree where !entities.contains(number) {
        entities.append(number)
      }
      isAlone = false
      if !isBeyond { asksPartners = true }
    case .deny:
      asksPartners = true
    // The partner's row holds the reference; of a one-to-one that is its own inverse both rows do.
    case .nullify where inverse?.column != nil:
      isAlone = false
      guard let inverse, !inverse.isRequired else { return asksPartners = true }
      let number = RelationshipNumber(entity: inverse.entity, property: inverse.index)
      if !lettingGo.contains(number) { lettingGo.append(number) }
    case .nullify, .noAction: break
    }
    // Who loses a member has a say where it needs one.
    guard !isBeyond, let inverse else { return }
    if inverse.isRequired || inverse.description.minimumCount != nil { asksPartners = true }
  }

  private mutating func addOneWay(to entity: Entity, _ model: Model) {
    let references = model.oneWayColumns(to: entity.index).compactMap(model.relationship)
    let pairs = model.oneWayPairs(to: entity.index)
    if !references.isEmpty || !pairs.isEmpty { isAlone = false }
    if references.contains(where: \.isRequired) { asksPartners = true }
    if pairs.contains(where: { $0.description.minimumCount != nil }) { asksPartners = true }
  }
}
