import TrellisModel

/// One relationship as its model declares it, for the reference.
final class Shape: Sendable {
  /// Its place in ``Shapes/all``.
  let index: Int
  let entity: String
  let name: String
  let destination: String
  /// The other end's place in ``Shapes/all``; nil for a one-way relationship.
  let inverse: Int?
  let isToMany: Bool
  let isOrdered: Bool
  let rule: DeleteRule
  let isRequired: Bool
  let isOptional: Bool
  let minimum: Int?
  let maximum: Int?

  init(_ relationship: RelationshipDescription, of entity: String, index: Int, inverse: Int?) {
    self.index = index
    self.entity = entity
    name = relationship.name
    destination = relationship.destination
    self.inverse = inverse
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    rule = relationship.deleteRule
    isRequired = !relationship.isToMany && !relationship.isOptional
    isOptional = relationship.isOptional
    minimum = relationship.minimumCount
    maximum = relationship.maximumCount
  }
}

/// Every relationship of a model by number, read from nothing but the model's declaration.
struct Shapes: Sendable {
  private(set) var all: [Shape] = []
  private(set) var lineages: [String: [String]] = [:]
  private var byEntity: [String: [Shape]] = [:]
  private var demands: [String: [Shape]] = [:]

  init(_ model: ModelDescription) {
    var own: [String: [Int]] = [:]
    let declared = model.entities.flatMap { entity in entity.relationships.map { (entity.name, $0) } }
    for (entity, relationship) in declared {
      let inverse = declared.firstIndex { $0.0 == relationship.destination && $0.1.name == relationship.inverse }
      own[entity, default: []].append(all.count)
      all.append(Shape(relationship, of: entity, index: all.count, inverse: inverse))
    }
    let parents = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.parent) })
    for entity in model.entities {
      var lineage = [entity.name]
      while let parent = lineage.last.flatMap({ parents[$0] ?? nil }) { lineage.append(parent) }
      lineages[entity.name] = lineage
      byEntity[entity.name] = lineage.reversed().flatMap { own[$0] ?? [] }.map { all[$0] }
      demands[entity.name] = byEntity[entity.name]?.filter { $0.isRequired || $0.minimum != nil || $0.maximum != nil }
    }
  }

  /// The relationships of an entity, inherited ones too.
  func shapes(of entity: String) -> [Shape] { byEntity[entity] ?? [] }

  /// Those with something to be checked at a save.
  func demandingShapes(of entity: String) -> [Shape] { demands[entity] ?? [] }

  func inverse(of shape: Shape) -> Shape? { shape.inverse.map { all[$0] } }

  /// Whether objects of an entity are objects of another one, too.
  func isKind(_ entity: String, of other: String) -> Bool { lineages[entity]?.contains(other) == true }

  func shape(_ entity: String, _ name: String) -> Shape? { all.first { $0.entity == entity && $0.name == name } }
}
