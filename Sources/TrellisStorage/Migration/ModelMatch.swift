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
  /// For each stored entity, the stored property of each property of its successor, inherited ones included; nil for a
  /// new property. Empty for an entity that is gone.
  package let properties: [[Int?]]

  /// - Complexity: linear in the number of properties, inherited ones included, and of their former names.
  package init(from stored: Model, to current: Model) {
    self.stored = stored
    self.current = current
    let origins = NameMatch.origins(
      current.description.entities.map { NamedThing($0.name, $0.renamedFrom) },
      stored.description.entities.map { NamedThing($0.name, $0.renamedFrom) })
    var successors = [Int?](repeating: nil, count: stored.entities.count)
    for (entity, origin) in origins.enumerated() { if let origin { successors[origin] = entity } }
    self.origins = origins
    self.successors = successors
    let matching = PropertyMatching(stored: stored, current: current, origins: origins)
    properties = zip(stored.entities, successors).map { origin, successor in
      successor.map { matching.origins(of: current.entities[$0], in: origin) } ?? []
    }
  }

  /// The stored property of a property; nil if it is new.
  package func origin(of property: Int, in entity: Int) -> Property? {
    guard let origin = origins[entity], let number = properties[origin][property] else { return nil }
    return stored.entities[origin].properties[number]
  }

  /// The number of a stored entity's property in the entity's successor; nil if it is gone.
  ///
  /// - Complexity: linear in the number of the successor's properties.
  package func successor(of property: Int, in entity: Int) -> Int? { properties[entity].firstIndex(of: property) }
}

extension ModelMatch {
  /// The struct of the app that an attribute's values are of, if it has another version than the stored ones.
  func otherStruct(of attribute: Attribute, in entity: Int) -> String? {
    guard case .codable(let name) = attribute.type,
      origin(of: attribute.index, in: entity)?.attribute?.type == attribute.type
    else { return nil }
    let (before, now) = (stored.description.codableVersions[name] ?? 1, current.description.codableVersions[name] ?? 1)
    return before == now ? nil : name
  }

  /// Whether stored values are of structs of the app that have another version.
  var hasOtherStructs: Bool {
    stored.description.codableVersions != current.description.codableVersions
      && current.entities.contains { entity in
        entity.properties.contains { $0.attribute.map { otherStruct(of: $0, in: entity.index) != nil } ?? false }
      }
  }
}

// MARK: - Names

/// Something with a name and former names.
private struct NamedThing {
  let name: String
  let formerNames: [String]
  /// What it is stored as; nil if nothing of it is stored. Only things of one kind match.
  let kind: Kind?

  enum Kind { case entity, attribute, presence, relationship }

  init(_ name: String, _ formerNames: [String], _ kind: Kind? = .entity) {
    self.name = name
    self.formerNames = formerNames
    self.kind = kind
  }

  init(_ property: Property) {
    let kind: Kind =
      switch property {
      case .attribute(let attribute): attribute.role == .presence ? .presence : .attribute
      case .relationship: .relationship
      }
    self.init(property.name, property.formerNames, property.isStored ? kind : nil)
  }
}

/// Matches the things of two models by their names.
private struct NameMatch {
  private(set) var origins: [Int?]
  private let current: [NamedThing]
  private let stored: [NamedThing]
  /// The stored things by name.
  private let numbers: [String: Int]
  private var taken: Set<Int> = []

  init(_ current: [NamedThing], _ stored: [NamedThing]) {
    var numbers: [String: Int] = [:]
    for (number, thing) in stored.enumerated() where thing.kind != nil { numbers[thing.name] = number }
    self.numbers = numbers
    self.current = current
    self.stored = stored
    origins = [Int?](repeating: nil, count: current.count)
  }

  /// Renames first: a name that was used again belongs to something new.
  static func origins(_ current: [NamedThing], _ stored: [NamedThing]) -> [Int?] {
    var match = NameMatch(current, stored)
    match.matchFormerNames { _, _ in true }
    match.matchNames()
    return match.origins
  }

  /// - Parameter counts: whether the current thing may be the stored one under another name.
  mutating func matchFormerNames(_ counts: (_ current: Int, _ stored: Int) -> Bool) {
    for (index, thing) in current.enumerated()
    where thing.kind != nil && !thing.formerNames.isEmpty && origins[index] == nil {
      let settled = numbers[thing.name].map { Set(stored[$0].formerNames) } ?? []
      let former = thing.formerNames.filter { !settled.contains($0) }.compactMap { numbers[$0] }
      let origin = former.first { stored[$0].kind == thing.kind && !taken.contains($0) && counts(index, $0) }
      guard let origin else { continue }
      taken.insert(origin)
      origins[index] = origin
    }
  }

  mutating func matchNames() {
    for (index, thing) in current.enumerated() where thing.kind != nil && origins[index] == nil {
      guard let origin = numbers[thing.name], stored[origin].kind == thing.kind, taken.insert(origin).inserted else {
        continue
      }
      origins[index] = origin
    }
  }
}

// MARK: - Property matching

/// Matches the properties of the rows of one stored entity.
///
/// What an entity calls its former names is about its own former properties. It is about those of an entity below it, if
/// the property has moved from there.
private struct PropertyMatching {
  let stored: Model
  let current: Model
  let origins: [Int?]

  func origins(of entity: Entity, in origin: Entity) -> [Int?] {
    var match = NameMatch(entity.properties.map(NamedThing.init), origin.properties.map(NamedThing.init))
    match.matchFormerNames { isOwn(entity.properties[$0], $1, of: origin) }
    let matched = match.origins
    match.matchFormerNames { property, former in
      let (property, former) = (entity.properties[property], origin.properties[former])
      guard !hasOwnPast(property, besides: origin) else { return false }
      // What has the former name now is new, unless the name tells more than the former name.
      guard let named = entity.property(named: former.name), matched[named.index] == nil, isSameKind(named, former)
      else { return true }
      let (fits, namedFits) = (self.fits(former, property), self.fits(former, named))
      return fits == namedFits ? !isGivenUp(former, to: property, beside: origin) : fits
    }
    match.matchNames()
    match.matchFormerNames { _, _ in true }
    return match.origins
  }

  /// Whether the stored property is one of the entity that declares the current one.
  private func isOwn(_ property: Property, _ former: Int, of origin: Entity) -> Bool {
    guard let declaring = origins[property.declaring] else { return false }
    return stored.isEntity(origin.index, within: declaring) && former < stored.entities[declaring].properties.count
  }

  /// Whether the entity that declares a property has stored it, under one of its names.
  ///
  /// - Parameter origin: The stored entity whose properties are being matched.
  private func hasOwnPast(_ property: Property, besides origin: Entity) -> Bool {
    guard let declaring = origins[property.declaring] else { return false }
    if declaring != origin.index {
      // Another property may have taken the name, as when two are swapped.
      return origins(of: current.entities[property.declaring], in: stored.entities[declaring])[property.index] != nil
    }
    let thing = NamedThing(property)
    return ([thing.name] + thing.formerNames).contains { name in
      stored.entities[declaring].property(named: name).map { isSameKind($0, property) } ?? false
    }
  }

  /// Whether the former name tells where the property of another entity is, which has nothing under that name any more.
  private func isGivenUp(_ former: Property, to property: Property, beside origin: Entity) -> Bool {
    current.entities[property.declaring].subtree.contains { entity in
      guard let other = origins[entity], other != origin.index,
        let found = stored.entities[other].property(named: former.name), isSameKind(found, former)
      else { return false }
      return current.entities[entity].property(named: former.name).map { !isSameKind($0, former) } ?? true
    }
  }

  private func isSameKind(_ first: Property, _ second: Property) -> Bool {
    NamedThing(first).kind == NamedThing(second).kind
  }

  /// Whether a property can take any values of a stored one.
  private func fits(_ former: Property, _ property: Property) -> Bool {
    guard let old = former.attribute, let new = property.attribute else { return true }
    return ValueConversion(from: old, in: stored, to: new, in: current).reach != .never
  }
}

extension Property {
  /// Whether a store keeps the property.
  package var isStored: Bool {
    switch self {
    case .attribute(let attribute): attribute.column != nil
    case .relationship(let relationship): !relationship.isTransient
    }
  }

  fileprivate var formerNames: [String] {
    switch self {
    case .attribute(let attribute): attribute.description.renamedFrom
    case .relationship(let relationship): relationship.description.renamedFrom
    }
  }

  /// The entity that declares the property.
  package var declaring: Int {
    switch self {
    case .attribute(let attribute): attribute.entity
    case .relationship(let relationship): relationship.entity
    }
  }
}

// MARK: - Consent

extension ModelMatch {
  /// Whether the model allows that the stored objects of an entity are deleted.
  package func consentsToLosing(_ entity: Entity) -> Bool { current.description.removed.contains(entity.name) }

  /// Whether the current entity or one of its parents allows that stored values of a former property are deleted.
  func consentsToLosing(_ property: String, of entity: Int) -> Bool {
    current.lineage(of: entity).contains { ancestor in
      current.description.entities[ancestor].removed.contains { property == $0 || property.hasPrefix($0 + ".") }
    }
  }

  /// Whether the model allows that values or pairs of a stored property are lost: it is removed, or its name is that of
  /// a property which cannot take them and says so.
  package func consentsToLosing(_ property: Property, of entity: Int) -> Bool {
    if consentsToLosing(property.name, of: entity) { return true }
    switch replacement(of: property, in: entity) {
    case .attribute(let attribute)?: return attribute.description.isLossy
    case .relationship(let relationship)?: return relationship.description.isLossy
    case nil: return false
    }
  }

  /// The stored entity at which the loss of a property is told: the topmost one that loses it as well, and whose children
  /// are still those that lose it.
  func teller(of property: Int, lostBy owner: Int) -> Int {
    guard let successor = successors[owner] else { return owner }
    return stored.lineage(of: owner).last { entity in
      guard property < stored.entities[entity].properties.count, let parent = successors[entity] else { return false }
      return entity == owner || current.isEntity(successor, within: parent) && !isKept(property, of: entity)
    } ?? owner
  }

  private func isKept(_ property: Int, of entity: Int) -> Bool {
    guard let successor = successors[entity], let number = self.successor(of: property, in: entity) else {
      return false
    }
    guard let old = stored.entities[entity].properties[property].attribute,
      let new = current.entities[successor].properties[number].attribute
    else { return true }
    return ValueConversion(from: old, in: stored, to: new, in: current).reach != .never
  }

  /// The current property that a stored one became without its values: by a former name, or by its name if it has no
  /// values of another.
  func replacement(of property: Property, in entity: Int) -> Property? {
    if let origin = origins[entity], let number = successor(of: property.index, in: origin) {
      return current.entities[entity].properties[number]
    }
    guard let named = current.entities[entity].property(named: property.name), named.isStored else { return nil }
    guard let origin = origin(of: named.index, in: entity) else { return named }
    return origin.index == property.index ? named : nil
  }
}

// MARK: - Likely renames

extension ModelMatch {
  /// The new property that is most like a lost one: of the same type or shape, with the nearest name; nil if there is
  /// none, or if another property has the former name already.
  func likelyName(of property: Property, in successor: Int) -> String? {
    if current.entities[successor].properties.contains(where: { $0.formerNames.contains(property.name) }) { return nil }
    let candidates = current.entities[successor].properties.filter { candidate in
      guard origin(of: candidate.index, in: successor) == nil else { return false }
      switch (property, candidate) {
      case (.attribute(let old), .attribute(let new)): return old.type == new.type && new.column != nil
      case (.relationship(let old), .relationship(let new)):
        return old.isToMany == new.isToMany && successors[old.destination] == new.destination && !new.isTransient
      default: return false
      }
    }
    return Self.nearest(to: property.name, candidates.map(\.name))
  }

  /// The new entity that is most like a lost one: with a property of the same name, and the nearest name; nil if there
  /// is none, or if another entity has the former name already.
  func likelyName(of entity: Entity) -> String? {
    if current.description.entities.contains(where: { $0.renamedFrom.contains(entity.name) }) { return nil }
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
