import TrellisModel
import TrellisTestSupport

/// Rows and pairs on plain dictionaries, by the identities of a ``PlainModel``.
struct PlainGraph {
  struct Row {
    let key: Int64
    let entity: Int
    let version: Int64
    /// By property; nothing for null.
    var values: [Int: StoredValue]
  }

  let model: PlainModel
  private(set) var rows: [Int64: Row] = [:]
  /// The pairs of each link, by its first end, seen from there.
  private(set) var pairs: [Int: [PlainPair]] = [:]

  func rows(within entity: Int) -> [Int64] {
    let members = Set(model.subtree(entity))
    return rows.values.filter { members.contains($0.entity) }.map(\.key).sorted()
  }

  /// The pairs of a relationship, seen from it.
  func pairs(of end: PlainProperty) -> [PlainPair] {
    let first = model.firstEnd(end)
    let pairs = pairs[first.id] ?? []
    return first.id == end.id ? pairs : pairs.map(\.reversed)
  }

  // MARK: Chance

  /// - Parameters:
  ///   - unique: the properties whose values have to be unique.
  ///   - targets: the types that the values may have to fit into.
  ///   - first: the first key. Unique values are other ones with another key.
  init(
    _ model: PlainModel, unique: Set<Int>, targets: [Int: AttributeType], from first: Int64 = 1,
    _ random: inout SeededGenerator
  ) {
    self.model = model
    var key = first
    var number = Int(first - 1)
    for entity in model.entities where !entity.isAbstract {
      if random.below(100) < 15 { continue }
      for _ in 0..<(1 + random.below(6)) {
        var values: [Int: StoredValue] = [:]
        for property in model.properties(entity.id) {
          guard let attribute = property.attribute, !property.isTransient else { continue }
          if attribute.isOptional && random.below(100) < 25 { continue }
          number += 1
          if unique.contains(property.id), let value = PlainValues.unique(attribute.type, number) {
            values[property.id] = value
          } else {
            values[property.id] = PlainValues.value(
              attribute.type, model.enums, target: targets[property.id], &random)
          }
        }
        rows[key] = Row(key: key, entity: entity.id, version: 1, values: values)
        key += 1 + Int64(random.below(3))
      }
    }
    for end in model.links { pairs[end.id] = makePairs(end, beyond: key, &random) }
  }

  /// What a store holds.
  ///
  /// - Parameter model: the store's model.
  init(_ contents: StoreContents, _ model: PlainModel) {
    self.model = model
    let entities = Dictionary(model.entities.map { ($0.name, $0.id) }) { first, _ in first }
    for (key, found) in contents.rows {
      guard let entity = entities[found.entity] else { continue }
      var values: [Int: StoredValue] = [:]
      for property in model.properties(entity) {
        if let value = found.values[property.name], !value.isNull { values[property.id] = value }
      }
      rows[key] = Row(key: key, entity: entity, version: found.version, values: values)
    }
    for end in model.links {
      guard let owner = model.owner(end.id) else { continue }
      let isSymmetric = end.link?.inverse == end.id
      pairs[end.id] = (contents.links["\(model[owner].name).\(end.name)"] ?? []).map { pair in
        isSymmetric ? PlainPair(pair.owner, pair.partner, place: pair.place) : pair
      }
    }
  }

  private func makePairs(_ end: PlainProperty, beyond: Int64, _ random: inout SeededGenerator) -> [PlainPair] {
    guard let link = end.link, let entity = model.owner(end.id) else { return [] }
    let owners = rows(within: entity)
    let partners = rows(within: link.destination)
    if owners.isEmpty { return [] }
    let other = link.inverse == end.id ? end.link : link.inverse.flatMap { model.property($0)?.link }
    let isSymmetric = link.inverse == end.id
    var found: [PlainPair] = []
    var taken: Set<PlainPair> = []
    var busy: (owners: Set<Int64>, partners: Set<Int64>) = ([], [])
    for _ in 0..<(owners.count * (link.isToMany ? 3 : 2)) {
      let owner = owners[random.below(owners.count)]
      let isDangling = model.isLeftAlone(end) && random.below(100) < 15
      guard isDangling || !partners.isEmpty else { continue }
      let partner = isDangling ? beyond + Int64(random.below(5)) : partners[random.below(partners.count)]
      if !link.isToMany && busy.owners.contains(owner) { continue }
      if let other, !other.isToMany, busy.partners.contains(partner) { continue }
      if isSymmetric && !link.isToMany && (busy.partners.contains(owner) || busy.owners.contains(partner)) { continue }
      guard taken.insert(PlainPair(owner, partner)).inserted else { continue }
      busy.owners.insert(owner)
      busy.partners.insert(partner)
      found.append(PlainPair(owner, partner))
      if isSymmetric && owner != partner && !isDangling {
        taken.insert(PlainPair(partner, owner))
        busy.owners.insert(partner)
        busy.partners.insert(owner)
        found.append(PlainPair(partner, owner))
      }
    }
    found.shuffle(using: &random)
    // Each pair of a relationship that is its own inverse has the place among the members of its first object alone.
    if link.isOrdered { place(&found, \.owner, \.place, &random) }
    if let other, other.isOrdered && !isSymmetric { place(&found, \.partner, \.inverse, &random) }
    return found
  }

  /// Gives places with gaps, now and then the same one twice, or none.
  private func place(
    _ pairs: inout [PlainPair], _ end: KeyPath<PlainPair, Int64>, _ place: WritableKeyPath<PlainPair, Int64?>,
    _ random: inout SeededGenerator
  ) {
    var last: [Int64: Int64] = [:]
    for index in pairs.indices {
      let owner = pairs[index][keyPath: end]
      let next = (last[owner] ?? 0) + Int64([0, 1, 7, 1_024, 1_024, 5_000][random.below(6)])
      last[owner] = next
      pairs[index][keyPath: place] = random.below(100) < 4 ? nil : next
    }
  }
}

/// A pair of keys with the places that each has among the partners of the other.
struct PlainPair: Hashable, CustomStringConvertible {
  var owner: Int64
  var partner: Int64
  /// The place of the partner among those of the owner.
  var place: Int64?
  /// The place of the owner among those of the partner.
  var inverse: Int64?

  init(_ owner: Int64, _ partner: Int64, place: Int64? = nil, inverse: Int64? = nil) {
    (self.owner, self.partner, self.place, self.inverse) = (owner, partner, place, inverse)
  }

  var reversed: PlainPair { PlainPair(partner, owner, place: inverse, inverse: place) }
  var keys: PlainPair { PlainPair(owner, partner) }

  var description: String {
    "\(owner)→\(partner)" + (place.map { " place \($0)" } ?? "") + (inverse.map { " inverse \($0)" } ?? "")
  }

  /// By the owner, then by place, then by partner. No place comes first.
  static func byOwner(_ a: PlainPair, _ b: PlainPair) -> Bool {
    (a.owner, a.place ?? .min, a.partner) < (b.owner, b.place ?? .min, b.partner)
  }

  static func byPartner(_ a: PlainPair, _ b: PlainPair) -> Bool { byOwner(a.reversed, b.reversed) }
}
