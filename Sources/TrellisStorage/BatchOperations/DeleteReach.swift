package import TrellisSchema

/// The effects of deleting rows of an entity, by the delete rules of the model.
package struct DeleteReach: Sendable {
  /// The entities of rows that may be deleted.
  package private(set) var entities: [Int]
  /// The references, by declaring entity, that become nil in remaining rows and increment their versions.
  package private(set) var unlinking: [RelationshipNumber] = []
  /// Whether remaining partners must be checked, because they may prevent the delete or need a minimum number of
  /// members.
  package private(set) var asksPartners = false
  /// Whether the delete affects no other rows.
  package private(set) var isAlone = true

  /// - Complexity: linear in the number of properties of the model, for each reached entity.
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
    // Pairs are deleted with the row, and members hold a reference to it.
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
    // The partner's row holds the reference; for a one-to-one that is its own inverse, both rows do.
    case .nullify where inverse?.column != nil:
      isAlone = false
      guard let inverse, !inverse.isRequired else { return asksPartners = true }
      let number = RelationshipNumber(entity: inverse.entity, property: inverse.index)
      if !unlinking.contains(number) { unlinking.append(number) }
    case .nullify, .noAction: break
    }
    // An object that loses a member may prevent that, if it needs the member.
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
