import TrellisModel
import TrellisStorage

/// Two versions of a model, with what became of what, and the changes that matter to others.
struct ModelComparison {
  let old: Model
  let new: Model
  let match: ModelMatch
  private(set) var changes: [ModelChange] = []

  /// - Complexity: n log n in the number of properties, inherited ones included.
  init(_ old: Model, _ new: Model) {
    (self.old, self.new) = (old, new)
    match = ModelMatch(from: old, to: new)
    addSwiftChanges()
    addDocumentChanges()
    addRolloutChanges()
    addStoreChanges()
  }

  mutating func add(
    _ audience: ModelChange.Audience, _ impact: ModelChange.Impact, _ code: String, _ subject: String, _ message: String
  ) {
    let change = ModelChange(audience: audience, impact: impact, code: code, subject: subject, message: message)
    if !changes.contains(change) { changes.append(change) }
  }

  // MARK: Pairs

  /// Each former entity that is still there, with what it became.
  var entities: [(old: Entity, new: Entity)] {
    old.entities.compactMap { entity in match.successors[entity.index].map { (entity, new.entities[$0]) } }
  }

  /// What became of a property of a former entity; nil if it is gone.
  func heir(of property: Property, _ entity: Entity, _ successor: Entity) -> Property? {
    let numbers = match.properties[entity.index]
    if let number = numbers.firstIndex(of: property.index) { return successor.properties[number] }
    // What is not stored has no former names, and what is stored otherwise now keeps its name.
    guard let named = successor.property(named: property.name), numbers[named.index] == nil else { return nil }
    return named
  }

  /// What became of the properties that a former entity declares; nil for those that are gone.
  func properties(_ entity: Entity, _ successor: Entity) -> [(old: Property, new: Property?)] {
    entity.properties.filter { $0.owner == entity.index }.map { ($0, heir(of: $0, entity, successor)) }
  }

  /// The properties that an entity declares and that its former one did not have.
  func additions(_ entity: Entity, _ successor: Entity) -> [Property] {
    let known = Set(entity.properties.compactMap { heir(of: $0, entity, successor)?.index })
    return successor.properties.filter { property in
      property.owner == successor.index && property.attribute?.role != .presence && !known.contains(property.index)
    }
  }
}

extension Property {
  /// The entity that declares the property.
  var owner: Int {
    switch self {
    case .attribute(let attribute): attribute.entity
    case .relationship(let relationship): relationship.entity
    }
  }
}
