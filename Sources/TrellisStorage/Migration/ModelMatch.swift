package import TrellisModel

/// Which entities and properties of a stored model became which of the current model.
///
/// Identity is the name, and the former names in `renamedFrom`. A former name counts only if the stored model does not
/// claim it itself: then the rename happened before the store was written. So names can be swapped and used again, and a
/// store of any former version is matched by the same declarations.
package struct ModelMatch: Sendable {
  package let stored: Model
  package let current: Model
  /// The stored entity of each current one; nil for a new entity.
  package let origins: [Int?]
  /// The current entity of each stored one; nil for an entity that is gone.
  package let successors: [Int?]
  /// The stored property of each property of each current entity, inherited ones included; nil for a new property.
  /// Empty for a new entity.
  package let properties: [[Int?]]

  /// - Complexity: linear in the number of properties, inherited ones included, and of their former names.
  package init(from stored: Model, to current: Model) {
    self.stored = stored
    self.current = current
    origins = Self.match(
      current.description.entities.map { NamedThing($0.name, $0.renamedFrom) },
      stored.description.entities.map { NamedThing($0.name, $0.renamedFrom) })
    var successors = [Int?](repeating: nil, count: stored.entities.count)
    for (entity, origin) in origins.enumerated() { if let origin { successors[origin] = entity } }
    self.successors = successors
    properties = zip(current.entities, origins).map { entity, origin in
      guard let origin else { return [] }
      return Self.match(Self.named(entity), Self.named(stored.entities[origin]))
    }
  }

  /// The stored property of a property; nil if it is new.
  package func origin(of property: Int, in entity: Int) -> Property? {
    guard let origin = origins[entity], let number = properties[entity][property] else { return nil }
    return stored.entities[origin].properties[number]
  }

  /// Something with a name and former names.
  private struct NamedThing {
    let name: String
    let formerNames: [String]
    /// Whether anything of it is stored. What is not stored matches nothing.
    var isStored = true

    init(_ name: String, _ formerNames: [String], isStored: Bool = true) {
      self.name = name
      self.formerNames = formerNames
      self.isStored = isStored
    }
  }

  private static func named(_ entity: Entity) -> [NamedThing] {
    entity.properties.map { property in
      switch property {
      case .attribute(let attribute):
        NamedThing(attribute.name, attribute.description.renamedFrom, isStored: attribute.column != nil)
      case .relationship(let relationship):
        NamedThing(relationship.name, relationship.description.renamedFrom, isStored: !relationship.isTransient)
      }
    }
  }

  private static func match(_ current: [NamedThing], _ stored: [NamedThing]) -> [Int?] {
    var numbers: [String: Int] = [:]
    for (number, thing) in stored.enumerated() where thing.isStored { numbers[thing.name] = number }
    var origins = [Int?](repeating: nil, count: current.count)
    var taken: Set<Int> = []
    // Renames first: a name that was used again belongs to something new.
    for (index, thing) in current.enumerated() where thing.isStored {
      let settled = numbers[thing.name].map { Set(stored[$0].formerNames) } ?? []
      let former = thing.formerNames.lazy.filter { !settled.contains($0) }.compactMap { numbers[$0] }
      guard let origin = former.first(where: { !taken.contains($0) }) else { continue }
      taken.insert(origin)
      origins[index] = origin
    }
    for (index, thing) in current.enumerated() where thing.isStored && origins[index] == nil {
      guard let origin = numbers[thing.name], taken.insert(origin).inserted else { continue }
      origins[index] = origin
    }
    return origins
  }
}

// MARK: - Losses

extension ModelMatch {
  /// A stored entity or property that the current model does not have, with nobody's consent to its loss.
  package struct Loss: Hashable, Sendable {
    /// The number of the stored entity.
    package let entity: Int
    /// The number of the property; nil if the whole entity is gone.
    package let property: Int?
    /// The name of the current entity or property that it may have become; nil if none is likely.
    package let likelyName: String?
  }

  /// Every stored entity and property that the current model does not account for: neither by a name, nor by a former
  /// name, nor in `removed`. In the order of the stored model.
  package var losses: [Loss] {
    stored.entities.flatMap { entity -> [Loss] in
      guard let successor = successors[entity.index] else {
        if entity.isAbstract || current.description.removed.contains(entity.name) { return [] }
        return [Loss(entity: entity.index, property: nil, likelyName: likelyName(of: entity))]
      }
      return lostProperties(of: entity, current.entities[successor])
    }
  }

  private func lostProperties(of entity: Entity, _ successor: Entity) -> [Loss] {
    let kept = Set(properties[successor.index].compactMap { $0 })
    let removed = consents(of: successor)
    return entity.properties.filter { property in
      isStored(property) && !kept.contains(property.index) && !removed.contains(property.name)
        // A property that is inherited is told once, where it was declared, unless the parent is gone.
        && (declares(entity, property) || successors[declarer(of: property)] == nil)
    }
    .map { Loss(entity: entity.index, property: $0.index, likelyName: likelyName(of: $0, successor)) }
  }

  /// Whether the current model consents to the loss of a stored property of an entity that it has.
  func isConsented(_ property: Property, of entity: Entity, keeping kept: Set<Int>) -> Bool {
    guard let successor = successors[entity.index], isStored(property), !kept.contains(property.index) else {
      return false
    }
    return consents(of: current.entities[successor]).contains(property.name)
  }

  /// The names whose loss an entity or its parents consent to.
  private func consents(of entity: Entity) -> Set<String> {
    var names: Set<String> = []
    var next: Int? = entity.index
    while let number = next {
      names.formUnion(current.description.entities[number].removed)
      next = current.entities[number].parent
    }
    return names
  }

  private func isStored(_ property: Property) -> Bool {
    switch property {
    case .attribute(let attribute): attribute.column != nil
    case .relationship(let relationship): !relationship.isTransient && !isFarEnd(relationship)
    }
  }

  /// Whether the other end of the relationship stores the links and is kept, so that nothing is lost with this end.
  private func isFarEnd(_ relationship: Relationship) -> Bool {
    guard let inverse = stored.inverse(of: relationship), let successor = successors[inverse.entity] else { return false }
    return properties[successor].contains(inverse.index)
  }

  private func declarer(of property: Property) -> Int {
    switch property {
    case .attribute(let attribute): attribute.entity
    case .relationship(let relationship): relationship.entity
    }
  }

  private func declares(_ entity: Entity, _ property: Property) -> Bool { declarer(of: property) == entity.index }

  // MARK: Likely renames

  /// The new property that is most alike: of the same type or shape, with the nearest name.
  private func likelyName(of property: Property, _ successor: Entity) -> String? {
    let candidates = zip(successor.properties, properties[successor.index]).filter { candidate, origin in
      guard origin == nil else { return false }
      switch (property, candidate) {
      case (.attribute(let old), .attribute(let new)): return old.type == new.type && new.column != nil
      case (.relationship(let old), .relationship(let new)):
        return old.isToMany == new.isToMany && successors[old.destination] == new.destination && !new.isTransient
      default: return false
      }
    }
    return Self.nearest(to: property.name, candidates.map(\.0.name))
  }

  private func likelyName(of entity: Entity) -> String? {
    let names = Set(entity.properties.map(\.name))
    let candidates = current.entities.filter { candidate in
      origins[candidate.index] == nil && candidate.properties.contains { names.contains($0.name) }
    }
    return Self.nearest(to: entity.name, candidates.map(\.name))
  }

  private static func nearest(to name: String, _ candidates: [String]) -> String? {
    candidates.min { (distance(name, $0), $0) < (distance(name, $1), $1) }
  }

  /// The number of single changes between two names, without regard to case.
  private static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.lowercased().utf8), Array(b.lowercased().utf8))
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, right) in b.enumerated() {
        let replaced = diagonal + (left == right ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }
}
