package import TrellisModel

/// The rows of a request, in its sort order.
struct RowSelection {
  private let snapshot: Snapshot
  private let request: StoreRequest
  private let evaluator: PredicateEvaluator?
  private let order: SortOrder?
  private let entity: Entity
  /// Whether rows of an entity are requested, by entity number.
  private let isWanted: [Bool]

  init(_ request: StoreRequest, _ snapshot: Snapshot) throws {
    let model = snapshot.layout.model
    guard model.entities.indices.contains(request.entity) else { throw StoreError.noSuchEntity }
    try request.checkSortKeys()
    self.snapshot = snapshot
    self.request = request
    entity = model.entities[request.entity]
    evaluator = try StoreError.evaluating { try request.predicate.map { try PredicateEvaluator($0) } }
    order = try StoreError.evaluating { request.sort.isEmpty ? nil : try SortOrder(request.sort) }
    isWanted = model.wanted(entity, withSubentities: request.includesSubentities)
  }

  /// Visits the rows. `body` may throw to stop.
  func forEach(_ body: (MemoryRow) throws -> Void) throws {
    guard let order else { return try stream(body) }
    if let walk { return try stream(body, along: walk) }
    var found: [RowObject] = []
    try matches { row in
      found.append(RowObject(row: row, snapshot: snapshot))
      return true
    }
    for object in try order.sorted(found).dropFirst(max(0, request.offset)).prefix(limit) { try body(object.row) }
  }

  /// Visits rows in the order of keys or of an index. No rows are collected, and the walk ends at the limit.
  private func stream(_ body: (MemoryRow) throws -> Void, along walk: IndexWalk? = nil) throws {
    var toSkip = max(0, request.offset)
    var left = limit
    guard left > 0 else { return }
    try matches(along: walk) { row in
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      try body(row)
      left -= 1
      return left > 0
    }
  }

  /// A walk through an index with the request's sort order. Nil if a few rows are found in another way.
  private var walk: IndexWalk? {
    guard !KeyLookup(snapshot: snapshot, entity: entity).findsFew(request.predicate) else { return nil }
    return IndexWalk(request, snapshot, entity)
  }

  private var limit: Int { max(0, request.limit ?? .max) }

  /// Visits all matching rows, by key or along an index, until `body` returns false.
  private func matches(along walk: IndexWalk? = nil, _ body: (MemoryRow) throws -> Bool) throws {
    func visit(_ row: MemoryRow) throws -> Bool {
      guard isWanted[row.entity], try evaluator?.matches(RowObject(row: row, snapshot: snapshot)) ?? true else {
        return true
      }
      return try body(row)
    }
    if let walk {
      return try walk.forEach { key in try snapshot.state.row(entity.root, key).map(visit) ?? true }
    }
    guard let keys = KeyLookup(snapshot: snapshot, entity: entity).candidates(request.predicate) else {
      let start = KeyLookup.leastKey(request.predicate)
      return try snapshot.state.tables[entity.root].forEach(from: start) { _, row in try visit(row) }
    }
    for key in keys {
      if let row = snapshot.state.row(entity.root, key), try !visit(row) { return }
    }
  }
}

extension Model {
  /// Whether a request for this entity includes rows of each entity.
  func wanted(_ entity: Entity, withSubentities: Bool) -> [Bool] {
    var wanted = entities.map { _ in false }
    for number in withSubentities ? entity.subtree : [entity.index] { wanted[number] = true }
    return wanted
  }
}

extension StoreError {
  static let noSuchEntity = StoreError(
    .internalError, "A request names an entity that the store's model does not have.",
    remedy: "Use a store that was opened with the same model.")
}

// MARK: - Key lookup

/// Finds the few rows that can match a predicate, if it requires a key, a reference or indexed values.
struct KeyLookup {
  let snapshot: Snapshot
  let entity: Entity

  /// The values that a predicate requires.
  private struct Demands {
    var keys: [StoredValue]?
    /// The possible values of each property.
    var values: [Int: [StoredValue]] = [:]
  }

  /// The sorted keys of all rows that can match. Nil if every row can.
  func candidates(_ predicate: QueryPredicate?) -> [Int64]? {
    guard let demands = demands(predicate) else { return nil }
    return (few(demands) ?? byOrder(demands.values)).map { Set($0).sorted() }
  }

  /// Whether a key, a reference or a unique key leads to a few rows. Then testing these is better than walking an
  /// index.
  func findsFew(_ predicate: QueryPredicate?) -> Bool { demands(predicate).flatMap(few) != nil }

  /// The columns for which a predicate requires a single value.
  func singleValues(_ predicate: QueryPredicate?) -> [Int: StoredValue] {
    var single: [Int: StoredValue] = [:]
    for (property, values) in demands(predicate)?.values ?? [:] where values.count == 1 {
      if let column = entity.properties[property].column { single[column] = values[0] }
    }
    return single
  }

  private func demands(_ predicate: QueryPredicate?) -> Demands? {
    guard let predicate else { return nil }
    var demands = Demands()
    for term in Self.terms(predicate) {
      guard let (path, values) = Self.demand(term), path.variable == 0 else { continue }
      if path.count == 0 { demands.keys = values }
      if let property = path.onlyStep, fits(values, property) { demands.values[property] = values }
    }
    return demands
  }

  private func few(_ demands: Demands) -> [Int64]? {
    demands.keys.map(Self.keys) ?? byReference(demands.values) ?? byValues(demands.values)
  }

  /// Uses the ordered index with the most required columns. Several values are looked up for the first column only.
  private func byOrder(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    var byColumn: [Int: [StoredValue]] = [:]
    for (property, values) in demands { byColumn[entity.properties[property].column ?? -1] = values }
    var best: (index: Layout.OrderedIndex, prefixes: [[StoredValue]], length: Int)?
    for index in snapshot.layout.orderedIndexesOf[entity.index] {
      guard let first = byColumn[index.shape.columns[0]] else { continue }
      var prefixes = first.map { [$0] }
      var length = 1
      for column in index.shape.columns.dropFirst() {
        guard let values = byColumn[column], values.count == 1 else { break }
        prefixes = prefixes.map { $0 + values }
        length += 1
      }
      if length > best?.length ?? 0 { best = (index, prefixes, length) }
    }
    guard let best else { return nil }
    var keys: [Int64] = []
    for prefix in best.prefixes {
      snapshot.state.ordered[best.index.index].forEach(from: best.index.shape.bound(prefix, isBehind: false)) {
        entry, _ in
        guard entry.begins(with: prefix) else { return false }
        keys.append(entry.key)
        return true
      }
    }
    return keys
  }

  /// The smallest key that can match, so that paging by key skips the pages before.
  static func leastKey(_ predicate: QueryPredicate?) -> Int64 {
    var least = Int64.min
    for case .comparison(let comparison) in predicate.map(terms) ?? [] {
      guard comparison.relation == .greater, case .path(let path) = comparison.left, path.count == 0,
        path.variable == 0,
        case .value(.integer(let key)) = comparison.right
      else { continue }
      least = max(least, key)
    }
    return least
  }

  /// The terms of a conjunction.
  private static func terms(_ predicate: QueryPredicate) -> [QueryPredicate] {
    guard case .and(let terms) = predicate else { return [predicate] }
    return terms.flatMap { term in if case .and(let inner) = term { inner } else { [term] } }
  }

  /// A path and its possible values, for plain equality with values that are not nil.
  private static func demand(_ term: QueryPredicate) -> (PropertyPath, [StoredValue])? {
    switch term {
    case .comparison(let comparison)
    where comparison.relation == .equal && comparison.options.isEmpty && comparison.kind != .decimal:
      switch (comparison.left, comparison.right) {
      case (.path(let path), .value(let value)), (.value(let value), .path(let path)):
        return value.isNull ? nil : (path, [value])
      default: return nil
      }
    case .isIn(.path(let path), let values, let kind) where kind != .decimal && !values.contains(where: \.isNull):
      return (path, values)
    default: return nil
    }
  }

  private static func keys(_ values: [StoredValue]) -> [Int64] {
    values.compactMap { value in
      switch value {
      case .integer(let key): key
      case .real(let real): Int64(exactly: real)
      default: nil
      }
    }
  }

  /// Whether equal values have equal hashes: true for values of the column's own storage class.
  private func fits(_ values: [StoredValue], _ property: Int) -> Bool {
    guard entity.properties.indices.contains(property), let column = entity.properties[property].column else {
      return false
    }
    return values.allSatisfy { $0.storageClass == entity.columns[column].storageClass }
  }

  private func byReference(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    for (property, values) in demands {
      guard let relationship = entity.properties[property].relationship else { continue }
      guard let reference = snapshot.layout.reference(relationship) else { continue }
      let index = snapshot.state.references[reference.index]
      return Self.keys(values).flatMap { index.targets($0).map(\.key) }
    }
    return nil
  }

  private func byValues(_ demands: [Int: [StoredValue]]) -> [Int64]? {
    var byColumn: [Int: [StoredValue]] = [:]
    for (property, values) in demands { byColumn[entity.properties[property].column ?? -1] = values }
    for index in snapshot.layout.valueIndexesOf[entity.index] {
      let demanded = index.columns.compactMap { byColumn[$0] }
      guard demanded.count == index.columns.count else { continue }
      // Several columns are looked up together only if each has one value.
      guard demanded.count == 1 || demanded.allSatisfy({ $0.count == 1 }) else { continue }
      let tuples = demanded.count == 1 ? demanded[0].map { [$0] } : [demanded.flatMap { $0 }]
      let links = snapshot.state.values[index.index]
      return tuples.compactMap(index.hash(of:)).flatMap { links.targets($0).map(\.key) }
    }
    return nil
  }
}

extension StoredValue {
  /// The storage class of the value. Nil for null.
  var storageClass: StorageClass? {
    switch self {
    case .null: nil
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob, .file: .blob
    }
  }
}

// MARK: - Index walk

/// A walk through an ordered index that visits a request's rows in their sort order, so that no sorting is needed and
/// the walk ends at the limit.
///
/// The predicate must fix values for the index's first columns. The sort keys are all columns after them, either in the
/// index's directions or all reversed.
struct IndexWalk {
  let index: Layout.OrderedIndex
  private let entries: OrderedMap<IndexEntry, Void>
  private let prefix: [StoredValue]
  private let isBackward: Bool

  /// The walk for a request. Nil if there is none.
  init?(_ request: StoreRequest, _ snapshot: Snapshot, _ entity: Entity) {
    guard let sort = Self.columns(of: request.sort, entity), !sort.isEmpty else { return nil }
    let demands = KeyLookup(snapshot: snapshot, entity: entity).singleValues(request.predicate)
    for index in snapshot.layout.orderedIndexesOf[entity.index] {
      let shape = index.shape
      let bound = shape.columns.count - sort.count
      guard bound >= 0, zip(shape.columns[bound...], sort).allSatisfy({ $0 == $1.column }) else { continue }
      let prefix = shape.columns[..<bound].compactMap { demands[$0] }
      let isSame = zip(shape.isDescending[bound...], sort).map { $0 == $1.isDescending }
      guard prefix.count == bound, isSame.allSatisfy({ $0 == isSame[0] }) else { continue }
      self.index = index
      self.prefix = prefix
      isBackward = !isSame[0]
      entries = snapshot.state.ordered[index.index]
      return
    }
    return nil
  }

  /// The columns of the sort keys. Nil if a sort key compares differently than an index.
  private static func columns(of sort: [SortKey], _ entity: Entity) -> [(column: Int, isDescending: Bool)]? {
    var columns: [(column: Int, isDescending: Bool)] = []
    for key in sort {
      guard key.options.isEmpty, key.query == nil, key.language == nil, let path = key.path, path.variable == 0,
        let step = path.onlyStep,
        entity.properties.indices.contains(step), let column = entity.properties[step].column,
        // The index contains the keys of dangling references, which read as nil.
        entity.properties[step].relationship?.isLeftAlone != true,
        key.kind == Layout.kind(of: column, entity)
      else { return nil }
      columns.append((column, key.isDescending))
    }
    return columns
  }

  /// Visits the keys of the rows in order until `body` returns false.
  func forEach(_ body: (Int64) throws -> Bool) rethrows {
    func visit(_ entry: IndexEntry) throws -> Bool { try entry.begins(with: prefix) && body(entry.key) }
    let start = index.shape.bound(prefix, isBehind: isBackward)
    if isBackward {
      try entries.forEachBackward(before: start) { entry, _ in try visit(entry) }
    } else {
      try entries.forEach(from: start) { entry, _ in try visit(entry) }
    }
  }
}

// MARK: - Row object

/// A row as an object for predicates and sort keys.
struct RowObject: QueryObject {
  let row: MemoryRow
  let snapshot: Snapshot

  var queryKey: Int64 { row.key }
  var queryEntityName: String { snapshot.layout.model.entities[row.entity].name }

  func queryValue(_ property: Int) -> StoredValue {
    guard let property = self.property(property) else { return .null }
    let relationship = property.relationship
    if let relationship, relationship.isLeftAlone, let column = relationship.column {
      // A reference to a deleted row reads as nil, so the row has to be looked up.
      return row.reference(column).flatMap { object($0, at: relationship) }.map { .integer($0.queryKey) } ?? .null
    }
    if let column = property.column { return row.value(column) }
    guard let relationship else { return .null }
    // The value of a to-many is the number of its members.
    if relationship.isToMany { return .integer(Int64(count(relationship))) }
    return links(relationship).first.map { .integer($0.key) } ?? .null
  }

  func queryPartner(_ property: Int) -> RowObject? {
    guard let relationship = self.property(property)?.relationship else { return nil }
    if let column = relationship.column {
      return row.reference(column).flatMap { object($0, at: relationship) }
    }
    return links(relationship).first.flatMap { object($0.key, at: relationship) }
  }

  func queryMembers(_ property: Int) -> [RowObject] {
    guard let relationship = self.property(property)?.relationship else { return [] }
    return links(relationship).compactMap { object($0.key, at: relationship) }
  }

  func queryOrderedMembers(_ property: Int) -> [RowObject] {
    guard let relationship = self.property(property)?.relationship else { return [] }
    return Members.inOrder(links(relationship), of: relationship).compactMap { object($0.key, at: relationship) }
  }

  func queryMemberCount(_ property: Int) -> Int {
    self.property(property)?.relationship.map(count) ?? 0
  }

  private func count(_ relationship: Relationship) -> Int { snapshot.membership(of: relationship)?.count(row.key) ?? 0 }

  private func property(_ number: Int) -> Property? {
    let properties = snapshot.layout.model.entities[row.entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  private func links(_ relationship: Relationship) -> [(key: Int64, place: Int64?)] {
    snapshot.membership(of: relationship)?.targets(row.key) ?? []
  }

  private func object(_ key: Int64, at relationship: Relationship) -> RowObject? {
    let root = snapshot.layout.model.entities[relationship.destination].root
    return snapshot.state.row(root, key).map { RowObject(row: $0, snapshot: snapshot) }
  }
}

extension Snapshot {
  /// The index from an owner to its members. Nil for a relationship that is stored in the owner's row or is transient.
  func membership(of relationship: Relationship) -> LinkIndex? {
    switch relationship.home {
    case .joinTable(let table, isFirst: true): state.forward[table]
    case .joinTable(let table, isFirst: false): state.backward[table]
    case .inverseColumn:
      layout.model.inverse(of: relationship).flatMap(layout.reference).map { state.references[$0.index] }
    // Both partners have the reference, so the partner is found like the other end of any one-to-one.
    case .column where relationship.isOwnInverse:
      layout.reference(relationship).map { state.references[$0.index] }
    case .column, .transient: nil
    }
  }
}

// MARK: - Members

/// The members of a relationship, for many owners.
struct Members {
  let snapshot: Snapshot
  let relationship: Relationship
  let index: LinkIndex
  private let root: Int

  init(_ number: RelationshipNumber, _ snapshot: Snapshot) throws {
    let model = snapshot.layout.model
    guard model.entities.indices.contains(number.entity),
      model.entities[number.entity].properties.indices.contains(number.property),
      let relationship = model.entities[number.entity].properties[number.property].relationship,
      let index = snapshot.membership(of: relationship)
    else {
      throw StoreError(
        .internalError, "Members were asked for of a property that has none outside the row.",
        remedy: "Ask for a relationship that lies at its other end or in a join table.")
    }
    self.snapshot = snapshot
    self.relationship = relationship
    self.index = index
    root = model.entities[relationship.destination].root
  }

  /// Visits the members of each owner in their order: by position, then by key.
  func forEach(_ owners: [Int64], _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void) throws {
    var seen: Set<Int64> = []
    for owner in owners where seen.insert(owner).inserted {
      for member in Self.inOrder(index.targets(owner), of: relationship) {
        try body(owner, member.key, member.place ?? 0)
      }
    }
  }

  func row(_ key: Int64) -> MemoryRow? { snapshot.state.row(root, key) }

  static func inOrder(
    _ members: [(key: Int64, place: Int64?)], of relationship: Relationship
  ) -> [(key: Int64, place: Int64?)] {
    guard relationship.isOrdered else { return members.map { ($0.key, nil) } }
    // A member without a position comes first, as null does in every sort.
    return members.sorted { a, b in
      a.place == b.place ? a.key < b.key : (a.place ?? .min) < (b.place ?? .min)
    }
  }
}

// MARK: - External contents

extension MemoryState {
  /// The external contents that rows refer to.
  ///
  /// - Complexity: linear in the number of rows of entities with external storage.
  package func externalContents(_ model: Model) -> Set<ContentDigest> {
    Set(externalReferences(model).lazy.map(\.digest))
  }

  /// The files that rows refer to, each as often as a row does.
  ///
  /// - Complexity: linear in the number of rows of entities with external storage.
  package func externalReferences(_ model: Model) -> [ExternalReference] {
    var references: [ExternalReference] = []
    for entity in model.entities {
      let columns = entity.columns.indices.filter { entity.isExternal(entity.columns[$0]) }
      guard !columns.isEmpty else { continue }
      tables[entity.root].forEach { key, row in
        guard row.entity == entity.index else { return true }
        for column in columns {
          guard case .file(let file) = row.value(column) else { continue }
          references.append(
            ExternalReference(
              digest: file.digest, size: file.size, entity: entity.name, key: key,
              property: entity.columns[column].name))
        }
        return true
      }
    }
    return references
  }
}
