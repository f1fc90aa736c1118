import TrellisModel

/// What a migration must bring, computed from identities and plain dictionaries.
struct Expectation {
  enum Value: Equatable {
    case exactly(StoredValue)
    /// The time of the migration.
    case now
    case newUUID
  }

  struct Row {
    let entity: String
    let version: Int64
    var values: [String: Value] = [:]
  }

  struct Link {
    let name: String
    var pairs: [PlainPair]
    /// How the partners of each owner, and the owners of each partner, are ordered.
    var order: Order
    var inverseOrder: Order
    var isKnown = true
  }

  enum Order {
    /// There is none.
    case none
    /// Every place stays.
    case kept
    /// The places are new, and the order is that of the pairs.
    case renewed
  }

  private(set) var rows: [Int64: Row] = [:]
  private(set) var links: [Link] = []
  /// What is lost although the model does not consent.
  private(set) var unconsented: [String] = []
  /// Required values that the model does not tell.
  private(set) var unanswered: [String] = []
  /// Required values that have to go, and nothing tells what comes in their place.
  private(set) var unfilled: [String] = []
  /// Unique keys that rows violate.
  private(set) var duplicates: [String] = []
  /// Whether anything is lost, with or without consent.
  private(set) var losesAnything = false

  private let graph: PlainGraph
  private let current: PlainModel
  private var stored: PlainModel { graph.model }
  /// The rows that stay, with their current entities.
  private var kept: [Int64: Int] = [:]

  init(_ graph: PlainGraph, _ current: PlainModel) {
    self.graph = graph
    self.current = current
    for row in graph.rows.values.sorted(by: { $0.key < $1.key }) { keep(row) }
    for row in graph.rows.values.sorted(by: { $0.key < $1.key }) where kept[row.key] != nil { expectValues(of: row) }
    var found = LinkFindings()
    for end in current.links { links.append(expect(end, &found)) }
    for end in stored.links { findLostPairs(end, found) }
    for entity in current.entities { for key in entity.uniqueKeys { findDuplicates(of: key, in: entity) } }
  }

  private mutating func findDuplicates(of key: [Int], in entity: PlainEntity) {
    let names = key.compactMap { current.property($0)?.name }
    var known: Set<[StoredValue]> = []
    for row in rows.sorted(by: { $0.key < $1.key }) {
      guard let id = kept[row.key], current.isEntity(id, within: entity.id) else { continue }
      let values: [StoredValue] = names.map { name in
        switch row.value.values[name] {
        case .exactly(let value)?: value
        case .now?: .text("now")
        // Each is another one.
        case .newUUID?, nil: .null
        }
      }
      if values.contains(where: \.isNull) { continue }
      if !known.insert(values).inserted { duplicates.append("\(entity.name).\(names) of \(row.key)") }
    }
  }

  private mutating func lose(_ what: String, isConsented: Bool) {
    losesAnything = true
    if !isConsented { unconsented.append(what) }
  }

  // MARK: Rows

  private mutating func keep(_ row: PlainGraph.Row) {
    let name = stored[row.entity].name
    guard current.contains(row.entity), !current[row.entity].isAbstract else {
      return lose("\(name)/\(row.key)", isConsented: current.removed.contains(name))
    }
    kept[row.key] = row.entity
    rows[row.key] = Row(entity: current[row.entity].name, version: row.version)
  }

  private mutating func expectValues(of row: PlainGraph.Row) {
    let before = stored.properties(row.entity).filter { $0.attribute != nil && !$0.isTransient }
    let after = current.properties(row.entity).filter { $0.attribute != nil && !$0.isTransient }
    for property in after {
      let old = before.first { property.origins.contains($0.id) }
      let value = value(of: property, from: old, row)
      rows[row.key]?.values[property.name] = value
    }
    for old in before where row.values[old.id] != nil {
      if after.contains(where: { $0.origins.contains(old.id) }) { continue }
      lose("\(row.key).\(old.name)", isConsented: consents(to: old, of: row.entity))
    }
  }

  private func consents(to property: PlainProperty, of entity: Int) -> Bool {
    if current.lineage(entity).contains(where: { current[$0].removed.contains(property.name) }) { return true }
    // Something else has the name now, and says that it may go.
    let known = Set(stored.properties(entity).map(\.id))
    return current.properties(entity).contains {
      $0.name == property.name && $0.isLossy && !$0.isTransient && known.isDisjoint(with: $0.origins)
    }
  }

  private mutating func value(of property: PlainProperty, from old: PlainProperty?, _ row: PlainGraph.Row) -> Value {
    guard let attribute = property.attribute else { return .exactly(.null) }
    guard let old, let type = old.attribute?.type else {
      return filling(property, row, "\(row.key).\(property.name) is new")
    }
    guard let value = row.values[old.id] else {
      if attribute.isOptional { return .exactly(.null) }
      return filling(property, row, "\(row.key).\(property.name) is missing")
    }
    if let value = converted(value, type, attribute.type) { return .exactly(value) }
    lose("\(row.key).\(property.name) \(value)", isConsented: property.isLossy)
    return filling(property, row, "\(row.key).\(property.name) does not fit", isLoss: true)
  }

  private func converted(_ value: StoredValue, _ type: AttributeType, _ target: AttributeType) -> StoredValue? {
    if case .enumeration(let old) = type, case .enumeration(let new) = target,
      let stored = stored.enums.first(where: { $0.name == old }),
      let description = current.enums.first(where: { $0.name == new })
    {
      return PlainValues.converted(value, stored, description, current.caseOrigins[new] ?? [:])
    }
    return PlainValues.converted(value, type, target)
  }

  private mutating func filling(
    _ property: PlainProperty, _ row: PlainGraph.Row, _ what: String, isLoss: Bool = false
  ) -> Value {
    if let name = property.expression, let target = property.attribute,
      let source = stored.properties(row.entity).first(where: { $0.name == name && !$0.isTransient }),
      let type = source.attribute?.type
    {
      if let value = row.values[source.id].flatMap({ converted($0, type, target.type) }) { return .exactly(value) }
      if !target.isOptional { unanswered.append(what + ", and nothing is computed") }
      return .exactly(.null)
    }
    switch property.filling {
    case .now?: return .now
    case .new?: return .newUUID
    case .value(let value)?: return .exactly(value)
    case .list(let values)?:
      let texts = values.map { if case .integer(let number) = $0 { String(number) } else { "" } }
      return .exactly(.text("[\(texts.joined(separator: ","))]"))
    case nil:
      if property.attribute?.isOptional != true {
        if isLoss { unfilled.append(what) } else { unanswered.append(what) }
      }
      return .exactly(.null)
    }
  }

  // MARK: Links

  /// The stored pairs that the current links show, by the first ends of the stored links.
  private struct LinkFindings {
    /// Those that are in a current link.
    var present: [Int: Set<PlainPair>] = [:]
    /// The stored links of which a current link says that they may lose pairs.
    var lossy: Set<Int> = []
  }

  /// A stored pair, as a current link sees it.
  private struct Candidate {
    var pair: PlainPair
    let origin: Int
    let isReversed: Bool
  }

  private mutating func expect(_ first: PlainProperty, _ found: inout LinkFindings) -> Link {
    let (kept, current) = (kept, current)
    let entity = current.owner(first.id) ?? 0
    let name = "\(current[entity].name).\(first.name)"
    guard let link = first.link else { return Link(name: name, pairs: [], order: .none, inverseOrder: .none) }
    let isSymmetric = link.inverse == first.id
    let second = isSymmetric ? first : link.inverse.flatMap { current.property($0) }
    var candidates = stored(first, isSecond: false)
    let isUnion: Bool
    if candidates.isEmpty, first.origins.isEmpty, let second, !isSymmetric {
      candidates = stored(second, isSecond: true)
      isUnion = second.origins.count > 1
    } else {
      isUnion = first.origins.count > 1
    }
    let isOwner = { (key: Int64) in kept[key].map { current.isEntity($0, within: entity) } ?? false }
    let isPartner = { (key: Int64) in
      kept[key].map { current.isEntity($0, within: link.destination) } ?? current.isLeftAlone(first)
    }
    let isLossy = first.isLossy || second?.isLossy ?? false
    if isLossy {
      for origin in first.origins + (second?.origins ?? []) {
        if let old = stored.property(origin), old.link != nil { found.lossy.insert(stored.firstEnd(old).id) }
      }
    }
    candidates.removeAll { !isOwner($0.pair.owner) || !isPartner($0.pair.partner) }
    let possible = candidates
    if isSymmetric {
      let known = Set(candidates.map(\.pair.keys))
      // Both objects of a pair see each other from then on.
      for candidate in possible where !known.contains(candidate.pair.reversed.keys) {
        var reversed = candidate
        reversed.pair = candidate.pair.reversed
        if isOwner(reversed.pair.owner), isPartner(reversed.pair.partner) { candidates.append(reversed) }
      }
    }
    reduce(&candidates, link, second?.link, isSymmetric)
    let remaining = Set(candidates.map(\.pair.keys))
    for candidate in possible {
      if remaining.contains(candidate.pair.keys) {
        found.present[candidate.origin, default: []].insert(storedKeys(candidate))
      } else if kept[candidate.pair.partner] != nil {
        lose("\(name) \(candidate.pair)", isConsented: isLossy)
        found.present[candidate.origin, default: []].insert(storedKeys(candidate))
      }
    }
    let ordered = orders(candidates, isUnion, isSymmetric)
    return Link(
      name: name, pairs: candidates.map(\.pair), order: link.isOrdered ? ordered.order : .none,
      inverseOrder: second?.link?.isOrdered == true ? ordered.inverse : .none,
      // Which members come first is not said if only some of them had a place.
      isKnown: !(isSymmetric && possible.count != candidates.count))
  }

  private func storedKeys(_ candidate: Candidate) -> PlainPair {
    candidate.isReversed ? candidate.pair.reversed.keys : candidate.pair.keys
  }

  /// The stored pairs of all that a relationship continues, seen from the first end.
  private func stored(_ end: PlainProperty, isSecond: Bool) -> [Candidate] {
    var candidates: [Candidate] = []
    for origin in end.origins {
      guard let old = stored.property(origin), !old.isTransient, old.link != nil else { continue }
      let first = stored.firstEnd(old)
      var pairs = graph.pairs(of: old)
      if old.link?.inverse == old.id {
        // The place among the members of the other object is with the pair in the other direction.
        let places = Dictionary(pairs.map { ($0.keys, $0.place) }) { first, _ in first }
        for index in pairs.indices { pairs[index].inverse = places[pairs[index].reversed.keys] ?? nil }
      }
      for pair in pairs {
        candidates.append(
          Candidate(
            pair: isSecond ? pair.reversed : pair, origin: first.id, isReversed: (first.id != old.id) != isSecond))
      }
    }
    return candidates
  }

  private func reduce(
    _ candidates: inout [Candidate], _ link: PlainLink, _ other: PlainLink?, _ isSymmetric: Bool
  ) {
    candidates.sort { PlainPair.byOwner($0.pair, $1.pair) }
    if isSymmetric {
      if link.isToMany { return }
      var partners: [Int64: Int64] = [:]
      candidates.removeAll { candidate in
        let (owner, partner) = (candidate.pair.owner, candidate.pair.partner)
        if let known = partners[owner] { return known != partner }
        if partners[partner] != nil { return true }
        partners[owner] = partner
        partners[partner] = owner
        return false
      }
      return
    }
    if !link.isToMany {
      var owners: Set<Int64> = []
      candidates.removeAll { !owners.insert($0.pair.owner).inserted }
    }
    if let other, !other.isToMany {
      candidates.sort { PlainPair.byPartner($0.pair, $1.pair) }
      var partners: Set<Int64> = []
      candidates.removeAll { !partners.insert($0.pair.partner).inserted }
    }
  }

  /// Places stay if the pairs come from one relationship that was ordered at this end.
  private func orders(
    _ candidates: [Candidate], _ isUnion: Bool, _ isSymmetric: Bool
  ) -> (order: Order, inverse: Order) {
    if isUnion { return (.renewed, .renewed) }
    guard let candidate = candidates.first, let old = stored.property(candidate.origin), let link = old.link else {
      return (.none, .none)
    }
    if isSymmetric && link.inverse != old.id { return (.renewed, .none) }
    let inverse = link.inverse == old.id ? old : link.inverse.flatMap { stored.property($0) }
    let (first, second) = (link.isOrdered, inverse?.link?.isOrdered ?? false)
    let (own, other) = candidate.isReversed ? (second, first) : (first, second)
    return (own ? .kept : .renewed, isSymmetric ? .none : other ? .kept : .renewed)
  }

  private mutating func findLostPairs(_ end: PlainProperty, _ found: LinkFindings) {
    guard let link = end.link else { return }
    for pair in graph.pairs[end.id] ?? [] {
      guard let owner = kept[pair.owner], let partner = kept[pair.partner] else { continue }
      if found.present[end.id]?.contains(pair.keys) == true { continue }
      if link.inverse == end.id, found.present[end.id]?.contains(pair.reversed.keys) == true { continue }
      let inverse = link.inverse.flatMap { stored.property($0) }
      lose(
        "\(end.name) \(pair)",
        isConsented: consents(to: end, of: owner) || inverse.map { consents(to: $0, of: partner) } ?? false
          || found.lossy.contains(end.id))
    }
  }
}

// MARK: - Differences

extension Expectation {
  /// What a store has otherwise than expected.
  ///
  /// - Parameter except: links, as `Entry.tags`, that are not compared.
  func differences(_ contents: StoreContents, except: Set<String> = []) -> [String] {
    var found: [String] = []
    var new: (uuids: Set<StoredValue>, count: Int, times: Set<StoredValue>) = ([], 0, [])
    for key in Set(rows.keys).union(contents.rows.keys).sorted() {
      guard let expected = rows[key], let row = contents.rows[key] else {
        found.append("row \(key) is \(rows[key] == nil ? "there" : "gone")")
        continue
      }
      if row.entity != expected.entity { found.append("row \(key) is a \(row.entity), not a \(expected.entity)") }
      if row.version != expected.version { found.append("row \(key) has the version \(row.version)") }
      for name in Set(row.values.keys).union(expected.values.keys).sorted() {
        guard let wanted = expected.values[name], let value = row.values[name] else {
          found.append("row \(key).\(name) is \(row.values[name] == nil ? "missing" : "too much")")
          continue
        }
        if !wanted.allows(value) { found.append("row \(key).\(name) is \(value), not \(wanted)") }
        if wanted == .now { new.times.insert(value) }
        if wanted == .newUUID {
          new.uuids.insert(value)
          new.count += 1
        }
      }
    }
    if new.uuids.count < new.count { found.append("rows have the same new UUID") }
    if new.times.count > 1 { found.append("the time is not the same for all rows") }
    for link in links where !except.contains(link.name) { found += link.differences(contents.links[link.name]) }
    let names = Set(links.map(\.name))
    found += contents.links.keys.filter { !names.contains($0) }.sorted().map { "link \($0) is too much" }
    return found
  }
}

extension Expectation.Value {
  func allows(_ value: StoredValue) -> Bool {
    switch (self, value) {
    case (.exactly(let wanted), _): wanted == value
    case (.now, .integer(let number)): number > 1_600_000_000_000_000
    case (.newUUID, .blob(let bytes)): bytes.count == 16
    default: false
    }
  }
}

extension Expectation.Link {
  func differences(_ found: Set<PlainPair>?) -> [String] {
    guard let found else { return ["link \(name) is missing"] }
    let (wanted, present) = (Set(pairs.map(\.keys)), Set(found.map(\.keys)))
    guard wanted == present else {
      let lost = wanted.subtracting(present).map(\.description).sorted()
      let new = present.subtracting(wanted).map(\.description).sorted()
      return ["link \(name) lacks \(lost) and has \(new) in addition"]
    }
    if !isKnown { return [] }
    return differences(order, Array(found), \.place, PlainPair.byOwner, \.owner, "members")
      + differences(inverseOrder, Array(found), \.inverse, PlainPair.byPartner, \.partner, "inverse members")
  }

  private func differences(
    _ order: Expectation.Order, _ found: [PlainPair], _ place: KeyPath<PlainPair, Int64?>,
    _ isBefore: (PlainPair, PlainPair) -> Bool, _ end: KeyPath<PlainPair, Int64>, _ what: String
  ) -> [String] {
    let wanted = pairs.sorted(by: isBefore)
    let found = found.sorted(by: isBefore)
    switch order {
    case .none:
      return found.allSatisfy { $0[keyPath: place] == nil } ? [] : ["link \(name) has places of \(what)"]
    case .kept:
      let isSame = wanted.map { $0[keyPath: place] } == found.map { $0[keyPath: place] }
      guard isSame, wanted.map(\.keys) == found.map(\.keys) else {
        return ["link \(name) has the \(what) \(found), not \(wanted)"]
      }
    case .renewed:
      guard wanted.map(\.keys) == found.map(\.keys) else {
        return ["link \(name) has the \(what) in the order \(found), not \(wanted)"]
      }
      let hasPlaces = found.allSatisfy { $0[keyPath: place] != nil }
      let places = Dictionary(grouping: found) { $0[keyPath: end] }.values.map { $0.map { $0[keyPath: place] } }
      guard hasPlaces, places.allSatisfy({ Set($0).count == $0.count }) else {
        return ["link \(name) has \(what) without places of their own: \(found)"]
      }
    }
    return []
  }
}
